//! Lock-step: live processes that take turns of about a millisecond, on one core.
//!
//! In: processes that are started with an [`Attachment`]. Out: a [`Baton`] that tells which of them runs. A
//! library of our own is preloaded into them (`preload.rs`); it shares a page with this module and hands the
//! baton on where the process reads the clock. Knows nothing of harnesses, and decides no schedule.
//!
//! A benchmark is measured in step like this: every side in turn runs until its first clock reading and stops
//! there ([`Baton::expect`], [`Baton::has_arrived`]); then all run, one at a time ([`Baton::begin`]); a side whose
//! benchmark is done is set free ([`Baton::set_free`]). Between benchmarks sides run without regard to the baton.

use std::time::Duration;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod cores;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod linux;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod unsupported;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub use linux::{Attachment, Baton, Preload};
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub use unsupported::{Attachment, Baton, Preload};

/// What the turns of all sides took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turns {
    /// By the clock on the wall.
    pub total: Duration,
    /// For so long of it other programs had the core.
    pub taken: Duration,
}

/// Why a process is not fit for lock-step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// It started a thread, which would run while other sides have the baton.
    Threads,
    /// It forked; the copy would run while other sides have the baton.
    Forks,
    /// It sleeps or waits with a time limit, so that it does not take the time that it measures.
    Sleeps,
    /// The library was not loaded into it: a static executable, or the system forbids it.
    NotLoaded,
    /// The user has configured a runner, which stands between it and this program.
    Runner,
    /// Its harness measures in whole processes.
    Whole,
    /// The configuration says so.
    Configured,
}

/// In words, to be put after "it".
impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Threads => "starts threads",
            Self::Forks => "forks: it starts copies of its own process",
            Self::Sleeps => "sleeps or waits with a time limit",
            Self::NotLoaded => "does not load the library that keeps processes in step",
            Self::Runner => "is started by a runner that is configured",
            Self::Whole => "measures in whole processes",
            Self::Configured => "is configured so",
        })
    }
}
