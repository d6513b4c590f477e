//! The adapter for gungraun, formerly iai-callgrind: instructions counted by valgrind.
//!
//! Its executables do nothing without a runner of their own version, and that nothing without valgrind. The same
//! code gives the same counts, so they run once, and there is nothing to test.

mod benchmarks;
mod runner;
pub(super) mod summary;

pub use benchmarks::GungraunBenchmarks;

use benchmarks::without_crate;
