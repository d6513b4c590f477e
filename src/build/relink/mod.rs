//! Executables linked once more: how cargo linked them, and the same link with another order of functions.
//!
//! In: a target directory that cargo builds into. Out: for every launch an executable with a code layout of its own.
//! Changes nothing of what cargo builds.

mod capture;
mod layouts;
mod link;

pub use capture::{Capture, IS_SUPPORTED, stand_in_for_another};
#[cfg(fuzzing)]
pub use capture::{bench_executable, read_response_file};
pub use layouts::{Layouts, Relinkable};
#[cfg(fuzzing)]
pub use link::response_file;
pub use link::{Link, remove_left_overs};
