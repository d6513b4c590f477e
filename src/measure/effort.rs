//! How much one launch measures of a benchmark.
//!
//! Many short launches tell more than one long one: a part of the variance lies between processes, where sampling
//! inside one cannot see it.

use std::time::Duration;

use crate::harness::{Effort, Measurement};

use super::Method;
use super::estimate::time_per_iteration;

/// What a launch measures of each benchmark on each side.
const TIME: Duration = Duration::from_millis(40);

/// How long an iteration of a benchmark takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// Nobody knows yet.
    #[default]
    Unknown,
    /// Many samples take longer than a launch should.
    Slow,
    /// Many samples take no longer than few.
    Quick,
}

impl Pace {
    /// Of a benchmark that was measured so on all its sides.
    pub fn of<'a>(mut measurements: impl Iterator<Item = &'a Measurement>) -> Self {
        if measurements.all(is_quick) { Self::Quick } else { Self::Slow }
    }

    /// What the next launch measures.
    pub fn effort(self) -> Effort {
        let samples = match self {
            Self::Unknown => 20,
            Self::Slow => 10,
            // Samples of less than half a millisecond: sides in step take turns with each.
            Self::Quick => 100,
        };
        Effort { samples, time: TIME }
    }
}

fn is_quick(measurement: &Measurement) -> bool {
    let time = time_per_iteration(&measurement.samples, Method::Process);
    measurement.unit == "ns" && time.is_some_and(|nanoseconds| nanoseconds < 400_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Sample;

    fn measurement(unit: &str, nanoseconds: f64) -> Measurement {
        let sample = Sample { iterations: 2.0, total: 2.0 * nanoseconds };
        Measurement { benchmark: "b".to_owned(), unit: unit.to_owned(), samples: vec![sample; 4] }
    }

    #[test]
    fn many_samples_are_taken_where_all_sides_are_quick_by_the_clock() {
        let pace = |measurements: &[Measurement]| Pace::of(measurements.iter());
        let (quick, slow) = (measurement("ns", 300_000.0), measurement("ns", 500_000.0));
        assert_eq!(pace(&[quick.clone(), quick.clone()]), Pace::Quick);
        assert_eq!(pace(&[quick.clone(), slow]), Pace::Slow);
        assert_eq!(pace(&[quick, measurement("cycles", 5.0)]), Pace::Slow);
        assert!(Pace::Quick.effort().samples > Pace::Unknown.effort().samples);
        assert!(Pace::Unknown.effort().samples > Pace::Slow.effort().samples);
    }
}
