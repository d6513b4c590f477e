//! How much one launch measures of a benchmark.
//!
//! Many short launches tell more than one long one: a part of the variance lies between processes, where sampling
//! inside one cannot see it.

use std::time::Duration;

use crate::harness::{Effort, Measurement};

use super::Method;
use super::estimate::time_per_iteration;

/// What a launch measures of each benchmark on each side, unless launching is expensive.
const TIME: Duration = Duration::from_millis(40);

/// The first launch is to show how long an iteration takes, and how much of the core others take.
const FIRST_TIME: Duration = Duration::from_millis(20);

/// And however expensive it is: what varies between processes is not measured better by longer ones, and on a busy
/// machine all launches are expensive.
const LONGEST_TIME: Duration = Duration::from_millis(200);

/// Where launching costs more than that, a launch measures longer: so many times what launching costs, over
/// all benchmarks.
const COST_FACTOR: u32 = 4;

/// A sample of a quick benchmark. Sides in step take turns with each.
const QUICK_SAMPLE: Duration = Duration::from_micros(400);

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

    /// What the next launch measures of each of so many benchmarks, where launching one side costs so much and
    /// processes have this share of their core.
    pub fn effort(self, launch_cost: Duration, benchmarks: usize, share: Share) -> Effort {
        let worth = launch_cost.saturating_mul(COST_FACTOR).div_f64(benchmarks.max(1) as f64);
        let time = match self {
            Self::Unknown => FIRST_TIME,
            Self::Slow | Self::Quick => worth.clamp(TIME, LONGEST_TIME),
        };
        let time = time.mul_f64(share.of_the_core());
        let samples = match self {
            Self::Unknown => 20,
            Self::Slow => 10,
            Self::Quick => time.div_duration_f64(QUICK_SAMPLE).round() as u32,
        };
        Effort { samples, time }
    }
}

/// The share of their core that processes in step have had; the rest other programs took. What those took is
/// not measured, so that a launch would take as much longer: it measures less instead.
#[derive(Debug, Clone, Copy, Default)]
pub struct Share {
    taken: Duration,
    measuring: Duration,
}

impl Share {
    /// A tenth of the core is not to make launches ten times shorter: they would hardly measure anything.
    const LEAST: f64 = 0.25;

    /// Others have taken so much of the time that a launch spent on benchmarks. What was before counts half.
    pub fn take_in(&mut self, taken: Duration, measuring: Duration) {
        self.taken = self.taken / 2 + taken;
        self.measuring = self.measuring / 2 + measuring;
    }

    /// From 0.25 to 1: all of it, as long as nobody knows.
    fn of_the_core(self) -> f64 {
        let taken = self.taken.div_duration_f64(self.measuring.max(Duration::from_nanos(1)));
        (1.0 - taken).clamp(Self::LEAST, 1.0)
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
        Measurement::new("b", unit, vec![sample; 4])
    }

    #[test]
    fn many_samples_are_taken_where_all_sides_are_quick_by_the_clock() {
        let pace = |measurements: &[Measurement]| Pace::of(measurements.iter());
        let (quick, slow) = (measurement("ns", 300_000.0), measurement("ns", 500_000.0));
        assert_eq!(pace(&[quick.clone(), quick.clone()]), Pace::Quick);
        assert_eq!(pace(&[quick.clone(), slow]), Pace::Slow);
        assert_eq!(pace(&[quick, measurement("cycles", 5.0)]), Pace::Slow);
        let samples = |pace: Pace| pace.effort(Duration::ZERO, 1, Share::default()).samples;
        assert_eq!([Pace::Quick, Pace::Unknown, Pace::Slow].map(samples), [100, 20, 10]);
    }

    #[test]
    fn a_launch_measures_longer_only_where_launching_is_expensive() {
        let milliseconds = Duration::from_millis;
        let effort =
            |cost, benchmarks| Pace::Quick.effort(milliseconds(cost), benchmarks, Share::default());
        assert_eq!(effort(5, 1).time, milliseconds(40));
        assert_eq!(effort(30, 1), Effort { samples: 300, time: milliseconds(120) });
        assert_eq!(effort(30, 3).time, milliseconds(40));
        assert_eq!(effort(400, 10).time, milliseconds(160));
        assert_eq!(effort(60_000, 10).time, milliseconds(200));
        assert_eq!(effort(60_000, 0).time, milliseconds(200));
    }

    #[test]
    fn a_launch_measures_less_where_other_programs_take_the_core() {
        let milliseconds = Duration::from_millis;
        let mut share = Share::default();
        let effort = |share| Pace::Quick.effort(Duration::ZERO, 1, share);
        share.take_in(milliseconds(50), milliseconds(100));
        assert_eq!(effort(share), Effort { samples: 50, time: milliseconds(20) });
        // They are gone. It is believed by and by.
        share.take_in(milliseconds(0), milliseconds(50));
        assert_eq!(effort(share).time, milliseconds(30));
        for _ in 0..20 {
            share.take_in(milliseconds(0), milliseconds(40));
        }
        assert_eq!(effort(share).samples, 100);
        share.take_in(milliseconds(9_000), milliseconds(9_001));
        assert_eq!(effort(share).time, milliseconds(10));
    }
}
