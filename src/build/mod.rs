//! From checkouts to bench executables that provably came from their own side's sources.
//!
//! In: one [`Checkout`](crate::revision::Checkout) per side and cargo's own selection options. Out: for each side the bench
//! executables, each with the launch that cargo itself would give it. Knows nothing of bench harnesses.
//!
//! Honest and fast: every side has a target directory of its own, at a path that stays the same from run
//! to run. Artifacts of dependencies are taken over from the other sides (and from the user's own target
//! directory); those of path crates never are, and their sources get new time stamps unless they are
//! exactly those that were built there last. If cargo then still takes a path crate as fresh, the run
//! stops: two worktrees otherwise look the same to cargo, and it would give base's program for head.

mod attempt;
mod builder;
mod cargo;
mod dependencies;
#[cfg(fuzzing)]
pub mod fuzzing;
mod launch;
mod lockfile;
mod overlay;
mod relink;
mod sections;
mod selection;
mod sources;

pub use builder::{BenchExecutable, Builder, FailedTarget, SideBuild, with_time_stamps_of_its_own};
pub use launch::{Launch, RECORD_SUBCOMMAND, record_launch};
pub use relink::{Layouts, Link, Relinkable, stand_in_for_another};
pub use sections::{CodeComparison, compare_code};
pub use selection::{CARGO_HEADING, Selection};

use builder::Workspace;
