//! Benchmarks whose own code says for how long they are measured, whatever they are asked for.
//!
//! In step, a process sees clocks of ours. Where it is bent on ten seconds, they go so much faster that these pass
//! in the time that it was asked to take. How much that has to be, it announces itself.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::Extent;
use super::protocol::Incoming;

/// What takes so many times longer than it was asked to does so on purpose: criterion's own estimates, and its
/// ways to divide the time into samples, may make it twice as long.
const ON_PURPOSE: f64 = 4.0;

/// The greatest speed. A sample must remain long against what the clock can tell.
const FASTEST: f64 = 10_000.0;

/// By id, how many times longer than asked benchmarks take that do so on purpose. Known to all sessions of an
/// executable.
#[derive(Debug, Clone, Default)]
pub struct OwnTimes(Rc<RefCell<HashMap<String, f64>>>);

impl OwnTimes {
    /// How fast clocks have to go so that none of these benchmarks takes longer than it was asked to, but none is
    /// measured for less either.
    pub fn speed(&self, ids: &[String]) -> u32 {
        let known = self.0.borrow();
        let fewest = ids.iter().filter_map(|id| known.get(id)).copied().reduce(f64::min);
        fewest.map_or(1, |times| times.clamp(1.0, FASTEST).round() as u32)
    }

    /// Takes what a benchmark announces, in a process that was asked for an extent by clocks of a speed. True if
    /// it is news that it will take far longer.
    pub fn hear(&self, id: &str, message: &Incoming, asked: &Extent, speed: u32) -> bool {
        let Some(times) = times_longer(message, asked).filter(|times| *times > ON_PURPOSE) else {
            return false;
        };
        let times = times * f64::from(speed);
        let mut known = self.0.borrow_mut();
        let before = known.get(id).copied();
        known.insert(id.to_owned(), before.map_or(times, |before| before.max(times)));
        before.is_none()
    }
}

/// How many times longer than asked it takes what the message announces, as far as it could be shorter.
fn times_longer(message: &Incoming, asked: &Extent) -> Option<f64> {
    match message {
        Incoming::Warmup { nanos } => Some(nanos / 1e9 / asked.warm_up),
        Incoming::MeasurementStart { estimate_ns, sample_count, iter_count } => {
            // One iteration for each sample is the least that can be.
            let least = estimate_ns / *iter_count as f64 * *sample_count as f64;
            let times = estimate_ns / 1e9 / asked.measurement;
            (*estimate_ns > ON_PURPOSE * least).then_some(times)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Extent = Extent { samples: 100, warm_up: 0.01, measurement: 0.04 };

    fn measurement(seconds: f64, sample_count: u64, iter_count: u64) -> Incoming {
        Incoming::MeasurementStart { estimate_ns: seconds * 1e9, sample_count, iter_count }
    }

    fn ids(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn clocks_go_as_much_faster_as_the_time_is_longer() {
        let times = OwnTimes::default();
        assert_eq!(times.speed(&ids(&["a"])), 1);
        assert!(times.hear("a", &measurement(10.0, 100, 1_000_000), &ASKED, 1));
        assert_eq!(times.speed(&ids(&["a", "other"])), 250);
        // Nobody is measured for less than was asked for.
        assert!(times.hear("b", &Incoming::Warmup { nanos: 0.5e9 }, &ASKED, 1));
        assert_eq!(times.speed(&ids(&["a", "b"])), 50);
        assert_eq!(times.speed(&ids(&["other"])), 1);
    }

    #[test]
    fn what_it_announces_by_fast_clocks_is_longer_by_their_speed_and_news_only_once() {
        let times = OwnTimes::default();
        let asked = Extent { samples: 100, warm_up: 0.25, measurement: 1.0 };
        let message = measurement(10.0, 100, 1_000_000);
        assert!(times.hear("a", &message, &asked, 25));
        assert_eq!(times.speed(&ids(&["a"])), 250);
        assert!(!times.hear("a", &message, &asked, 25));
        assert!(!times.hear("a", &Incoming::Warmup { nanos: 10e9 }, &asked, 25), "known as slow");
        assert_eq!(times.speed(&ids(&["a"])), 1000);
    }

    #[test]
    fn slow_iterations_and_criterions_own_ways_are_no_purpose() {
        let times = OwnTimes::default();
        // One iteration for each of ten samples, and 55 for ten where each has one more than the one before.
        for (samples, iterations) in [(10, 10), (10, 39)] {
            assert!(!times.hear("a", &measurement(30.0, samples, iterations), &ASKED, 1));
        }
        assert!(!times.hear("a", &measurement(0.08, 100, 5050), &ASKED, 1));
        assert!(!times.hear("a", &Incoming::Warmup { nanos: 1e7 }, &ASKED, 1));
        assert_eq!(times.speed(&ids(&["a"])), 1);
    }
}
