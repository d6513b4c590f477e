//! What lock-step tells of a benchmark: how long turns took, and why it is not fit.

use std::time::Duration;

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
