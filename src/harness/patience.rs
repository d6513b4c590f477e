//! How long a process may go on without a sign of progress.

use std::time::{Duration, Instant};

use crate::model::TimeLimits;

/// How long a process may still be silent.
#[derive(Debug)]
pub struct Patience {
    limits: TimeLimits,
    /// The limit that holds now.
    timeout: Duration,
    /// What the process has said it will take, on top of that.
    announced: Duration,
    used: Duration,
    looked_at: Instant,
}

impl Patience {
    /// For a process that begins now.
    pub fn new(limits: TimeLimits) -> Self {
        Self {
            timeout: limits.general(),
            limits,
            announced: Duration::ZERO,
            used: Duration::ZERO,
            looked_at: Instant::now(),
        }
    }

    /// From now on it is this benchmark that runs.
    pub fn begin(&mut self, id: &str) {
        self.timeout = self.limits.of(id);
    }

    /// How long it may be silent without having announced anything.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The process gave a sign, and said how long the next one will take. That is believed within reason:
    /// where a benchmark takes no time by its own clock, criterion expects thousands of years.
    pub fn renew(&mut self, announced: Duration) {
        self.announced = announced.min(20 * self.timeout);
        self.used = Duration::ZERO;
        self.looked_at = Instant::now();
    }

    /// Whether it is at an end. Time in which the process could not run does not count.
    pub fn is_exhausted(&mut self, could_run: bool) -> bool {
        let now = Instant::now();
        if could_run {
            self.used += now - self.looked_at;
        }
        self.looked_at = now;
        self.used >= self.timeout + self.announced
    }
}

/// `60s`
pub fn seconds(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}
