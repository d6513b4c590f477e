//! What every stage needs of the system: errors, processes, interrupts, the machine.
//!
//! Knows nothing of benchmarks.

mod error;
mod git_environment;
pub mod interrupt;
pub mod machine;
mod observer;
mod paths;
pub mod process;
mod suggestion;

pub use error::{Error, ErrorKind, Result};
pub use git_environment::untie;
pub use observer::{Observer, Progress, Unobserved};
pub use paths::normalize;
pub use suggestion::{nearest, nearest_or_all, with_suggestion};
