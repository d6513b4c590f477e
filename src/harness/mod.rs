//! Bench harnesses: one adapter each, behind two traits.
//!
//! In: one bench executable and how cargo would start it. Out: the ids of its benchmarks, and samples.
//! Knows nothing of sides, schedules or statistics.

mod adapter;
mod bencher;
mod criterion;
mod custom;
mod detect;
mod divan;
#[cfg(fuzzing)]
pub mod fuzzing;
mod gungraun;
mod libtest;
pub(crate) mod lines;
mod output;
mod patience;
mod process_each;
mod run;
mod whole;

pub use adapter::{Benchmarks, Effort, Failure, ProcessResult, Session, Step, Wanted};
pub use detect::Harness;
pub(crate) use run::{Ended, Run};

use adapter::crate_name;
