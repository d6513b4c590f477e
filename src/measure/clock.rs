//! The only clock of the measuring, behind a trait, so that schedules are tested with one that is set by hand.

use std::time::{Duration, Instant};

/// Tells the time since a moment that does not change.
pub trait Clock {
    /// That time, now.
    fn now(&self) -> Duration;
}

/// The time since it was made.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Begins now.
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Stopwatch {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}
