//! The adapter for criterion: over its socket where it has one (0.3.3 and later), else by its files.

mod extent;
mod files;
mod own_time;
pub(super) mod protocol;
mod socket;

pub use files::FileBenchmarks;
pub use socket::SocketBenchmarks;

use extent::{Extent, filter};
