//! How long benchmarks may be silent.

use std::time::Duration;

use crate::model::Ids;

/// How long a bench process may go on without any sign of progress, beyond what it announced.
#[derive(Debug, Clone)]
pub struct TimeLimits {
    general: Duration,
    /// `None` stands for all ids. The first that fits counts.
    own: Vec<(Option<Ids>, Duration)>,
}

impl TimeLimits {
    /// One for all benchmarks, but for those that have their own.
    pub fn new(general: Duration, own: Vec<(Option<Ids>, Duration)>) -> Self {
        Self { general, own }
    }

    /// Where it is not known which benchmark runs, if any.
    pub fn general(&self) -> Duration {
        self.general
    }

    /// For one benchmark.
    pub fn of(&self, id: &str) -> Duration {
        let fits = |ids: &Option<Ids>| ids.as_ref().is_none_or(|ids| ids.contains(id));
        let own = self.own.iter().find(|(ids, _)| fits(ids));
        own.map_or(self.general, |(_, limit)| *limit)
    }

    /// For a process that runs all of them without saying which.
    pub fn longest(&self) -> Duration {
        self.own.iter().map(|(_, limit)| *limit).fold(self.general, Duration::max)
    }
}

/// The same for all.
impl From<Duration> for TimeLimits {
    fn from(general: Duration) -> Self {
        Self::new(general, Vec::new())
    }
}
