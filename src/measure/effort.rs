//! How much one launch measures of a benchmark.
//!
//! Many short launches tell more than one long one: a part of the variance lies between processes, where sampling
//! inside one cannot see it.

use std::time::Duration;

use crate::harness::Effort;
use crate::lockstep::Turns;
use crate::model::Measurement;

use super::Method;
use super::estimate::time_per_iteration;

/// What a launch measures of each benchmark on each side, unless launching is expensive. With twice as much, a launch
/// takes almost twice as long, and the variance is smaller by a twentieth (docs/performance.md).
const TIME: Duration = Duration::from_millis(20);

/// The first launch is to show how long an iteration takes, and how much of the core others take.
const FIRST_TIME: Duration = Duration::from_millis(10);

/// However expensive launching is: on a busy machine all launches are expensive.
const LONGEST_TIME: Duration = Duration::from_millis(200);

/// About this part of the variance between launches of that time lies within them.
const WITHIN: f64 = 0.1;

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
    ///
    /// The time is the one at which the variance of the mean of all launches is smallest for what they cost
    /// altogether: the root of the cost times the ratio of the variances within launches and between them
    /// (Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, 2013).
    pub fn effort(self, launch_cost: Duration, benchmarks: usize, share: Share) -> Effort {
        let cost = launch_cost.as_secs_f64() / benchmarks.max(1) as f64;
        let optimum = (WITHIN * cost * TIME.as_secs_f64()).sqrt();
        let time = match self {
            Self::Unknown => FIRST_TIME,
            Self::Slow | Self::Quick => Duration::from_secs_f64(optimum).clamp(TIME, LONGEST_TIME),
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
pub struct Share(Turns);

impl Share {
    /// However little of the core is left, less than that would hardly measure anything.
    const LEAST: f64 = 0.25;

    /// What the turns of another launch group took. What was before counts half.
    pub fn take_in(&mut self, turns: Turns) {
        let before = self.0;
        self.0.total = before.total / 2 + turns.total;
        self.0.taken = before.taken / 2 + turns.taken;
    }

    /// From 0.25 to 1: all of it, as long as nobody knows.
    fn of_the_core(self) -> f64 {
        let Turns { total, taken } = self.0;
        let taken = taken.div_duration_f64(total.max(Duration::from_nanos(1)));
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
    use crate::model::Sample;

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
        assert_eq!([Pace::Quick, Pace::Unknown, Pace::Slow].map(samples), [50, 20, 10]);
    }

    #[test]
    fn a_launch_measures_longer_only_where_launching_is_expensive() {
        let seconds = Duration::from_secs_f64;
        let effort =
            |cost, benchmarks| Pace::Quick.effort(seconds(cost), benchmarks, Share::default());
        assert_eq!(effort(0.005, 1).time, seconds(0.02));
        assert_eq!(effort(1.25, 1), Effort { samples: 125, time: seconds(0.05) });
        assert_eq!(effort(1.25, 10).time, seconds(0.02));
        assert_eq!(effort(12.5, 10).time, seconds(0.05));
        assert_eq!(effort(60.0, 1).time, seconds(0.2));
        assert_eq!(effort(60.0, 0).time, seconds(0.2));
    }

    #[test]
    fn a_launch_measures_less_where_other_programs_take_the_core() {
        let milliseconds = Duration::from_millis;
        let turns = |taken, total| Turns { total: milliseconds(total), taken: milliseconds(taken) };
        let mut share = Share::default();
        let effort = |share| Pace::Quick.effort(Duration::ZERO, 1, share);
        share.take_in(turns(50, 100));
        assert_eq!(effort(share), Effort { samples: 25, time: milliseconds(10) });
        // They are gone. It is believed by and by.
        share.take_in(turns(0, 50));
        assert_eq!(effort(share).time, milliseconds(15));
        for _ in 0..20 {
            share.take_in(turns(0, 40));
        }
        assert_eq!(effort(share).samples, 50);
        share.take_in(turns(9_000, 9_001));
        assert_eq!(effort(share).time, milliseconds(5));
    }
}
