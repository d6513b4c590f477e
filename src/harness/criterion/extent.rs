//! How much criterion measures, as its options say it.

use super::super::{Effort, Wanted};

/// The effort in criterion's terms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) samples: u32,
    /// In seconds.
    pub(super) warm_up: f64,
    /// In seconds; more if that many iterations take longer.
    pub(super) measurement: f64,
}

impl Extent {
    /// Criterion refuses fewer samples.
    const FEWEST_SAMPLES: u32 = 10;

    pub(super) fn of(effort: Effort) -> Self {
        let measurement = effort.time.as_secs_f64();
        Self {
            samples: effort.samples.max(Self::FEWEST_SAMPLES),
            // It also shows criterion how long an iteration takes.
            warm_up: (measurement / 4.0).clamp(0.001, 0.03),
            measurement: measurement.max(0.001),
        }
    }

    /// The same for a process whose clocks go so many times faster.
    pub(super) fn at_speed(self, speed: u32) -> Self {
        let times = f64::from(speed);
        Self { warm_up: times * self.warm_up, measurement: times * self.measurement, ..self }
    }

    /// How fast clocks have to go so that a second is no longer than what is to be measured.
    pub(super) fn speed_for_seconds(self) -> u32 {
        (1.0 / self.measurement).ceil() as u32
    }

    /// criterion 0.3 accepts whole seconds only.
    pub(super) fn in_whole_seconds(self) -> Self {
        Self { warm_up: self.warm_up.ceil(), measurement: self.measurement.ceil(), ..self }
    }

    pub(super) fn arguments(&self) -> Vec<String> {
        [
            ("--sample-size", self.samples.to_string()),
            ("--warm-up-time", self.warm_up.to_string()),
            ("--measurement-time", self.measurement.to_string()),
        ]
        .into_iter()
        .flat_map(|(name, value)| [name.to_owned(), value])
        .collect()
    }
}

/// A regular expression that matches exactly the wanted ids, or `None` to run everything: an argument
/// has at most 128 KiB on Linux, and what is not wanted can be ignored.
pub(super) fn filter(wanted: Wanted<'_>) -> Option<String> {
    let Wanted::Only(benchmarks) = wanted else { return None };
    // What looks like a second occurrence may as well be an id of its own.
    let mut ids: Vec<String> = benchmarks
        .iter()
        .flat_map(|id| [id.as_str(), without_occurrence(id)])
        .map(regex::escape)
        .collect();
    ids.dedup();
    Some(format!("^(?:{})$", ids.join("|"))).filter(|regex| regex.len() < 100_000)
}

/// The id that criterion knows. Ids may occur twice in an executable; from the second occurrence on we
/// add ` #2`, as criterion does in its titles.
fn without_occurrence(id: &str) -> &str {
    match id.rsplit_once(" #") {
        Some((id, number)) if number.parse::<usize>().is_ok_and(|number| number >= 2) => id,
        _ => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn second_occurrences_are_filtered_by_the_id_that_criterion_knows() {
        assert_eq!(without_occurrence("sort/100 #2"), "sort/100");
        assert_eq!(without_occurrence("issue #1"), "issue #1");
        assert_eq!(without_occurrence("C #"), "C #");
    }

    proptest! {
        #[test]
        fn the_filter_matches_its_own_ids_and_no_others(
            ids in proptest::collection::vec("\\PC{1,20}", 1..5),
            other in "\\PC{1,20}",
        ) {
            let text = filter(Wanted::Only(&ids)).unwrap();
            let regex = regex::Regex::new(&text).unwrap();
            for id in &ids {
                prop_assert!(regex.is_match(id));
                prop_assert!(regex.is_match(without_occurrence(id)));
            }
            let known = ids.iter().any(|id| *id == other || without_occurrence(id) == other);
            prop_assert_eq!(regex.is_match(&other), known);
        }
    }
}
