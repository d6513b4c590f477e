//! From what was measured to comparisons. Pure.

use crate::model::{Percent, Side};
use crate::stats::{
    Confidence, Judgement, LOOKS, StoppedBy, Verdict, benjamini_hochberg, holm, judge_strata,
    judge_with_looks, median,
};

use super::schema::{Accuracy, Comparison, Gate, Measured, Method, Results, SideTime};

/// The gate lets through a regression at random in at most this share of all runs.
const GATE_LEVEL: f64 = 0.05;

/// A benchmark was measured in step if every launch of it was.
fn method(measured: &Measured, identical: bool) -> Method {
    if identical || measured.launches.is_empty() {
        Method::None
    } else if measured.is_counted() {
        Method::Count
    } else if measured.launches.iter().all(|launch| launch.method == Method::Lockstep) {
        Method::Lockstep
    } else {
        Method::Process
    }
}

impl Results {
    /// Makes `comparisons` anew from `measured`, `revisions` and `margin_percent`. Benchmarks that failed
    /// on either side are left out.
    pub fn derive_comparisons(&mut self) {
        let mut comparisons: Vec<Comparison> = Vec::new();
        for measured in &self.measured {
            let reference = measured.reference;
            let others = (reference + 1..self.revisions.len())
                .filter(|position| !self.has_failed(measured, &[reference, *position]));
            comparisons.extend(others.filter_map(|position| self.compare(measured, position)));
        }
        let tested: Vec<usize> =
            (0..comparisons.len()).filter(|i| comparisons[*i].p_value.is_some()).collect();
        let p_values: Vec<f64> = tested.iter().filter_map(|i| comparisons[*i].p_value).collect();
        let for_many = benjamini_hochberg(&p_values).into_iter().zip(holm(&p_values));
        for (index, (q_value, adjusted)) in tested.into_iter().zip(for_many) {
            let comparison = &mut comparisons[index];
            comparison.q_value = Some(q_value);
            comparison.adjusted_p_value = Some(adjusted);
            let is_beyond_margin = comparison
                .interval_percent
                .is_some_and(|[_, high]| high < -comparison.margin_percent.value());
            comparison.trips_gate =
                self.gate == Gate::Regression && adjusted <= GATE_LEVEL && is_beyond_margin;
        }
        self.comparisons = comparisons;
    }

    /// Whether the run fails by its own [`Gate`].
    pub fn trips_gate(&self) -> bool {
        self.comparisons.iter().any(|comparison| comparison.trips_gate)
    }

    /// The margin of a benchmark: its own, or the file's.
    pub fn margin_of(&self, measured: &Measured) -> Percent {
        measured.margin_percent.unwrap_or(self.margin_percent)
    }

    fn has_failed(&self, measured: &Measured, positions: &[usize]) -> bool {
        let sides: Vec<String> = Side::first(self.revisions.len())
            .enumerate()
            .filter(|(position, _)| positions.contains(position))
            .map(|(_, side)| side.to_string())
            .collect();
        self.failed.iter().any(|failure| {
            sides.contains(&failure.side)
                && failure.package == measured.package
                && failure.target == measured.target
                && failure.benchmark.as_ref().is_none_or(|id| {
                    measured.counted_beside.as_ref().unwrap_or(&measured.benchmark) == id
                })
        })
    }

    fn compare(&self, measured: &Measured, position: usize) -> Option<Comparison> {
        let reference = measured.reference;
        let (base, head) = (measured.measured_as(reference), measured.measured_as(position));
        let identical = base == head;
        if !identical
            && let Some(comparison) = self.compare_counts(measured, (base, head), position)
        {
            return comparison;
        }
        if identical && measured.counted_beside.is_some() {
            return None;
        }
        // Of code with itself there are no pairs.
        let strata = if identical { Vec::new() } else { measured.strata(base, head) };
        let log_ratios: Vec<Vec<f64>> = strata.iter().map(|pairs| log_ratios(pairs)).collect();
        let margin_percent = self.margin_of(measured);
        let judgement = match (&log_ratios[..], self.runs) {
            ([only], None) => judge_with_looks(only, margin_percent),
            (strata, _) => {
                let strata: Vec<&[f64]> = strata.iter().map(Vec::as_slice).collect();
                judge_strata(&strata, margin_percent)
            }
        };
        let stopped_by = measured.stopped_by.get(head).copied().flatten();
        // There may have been no time for a single pair.
        let was_left_out = stopped_by == Some(StoppedBy::TimeLimit);
        if !identical && judgement.is_none() && !was_left_out {
            return None;
        }
        let nothing = match identical {
            true => (Verdict::IdenticalCode, true, None),
            false => (Verdict::Inconclusive, false, Some(LOOKS[0].pairs as u64)),
        };
        let (verdict, within_margin, pairs_to_decide) =
            judgement.as_ref().map_or(nothing, |j| (j.verdict, j.within_margin, j.pairs_to_decide));
        let time = |position: usize, value: fn(&(f64, f64)) -> f64| SideTime {
            label: self.revisions[position].label.clone(),
            nanoseconds: typical(&strata, value),
        };
        let accuracies = judgement.as_ref().map_or([None; 3], |j| j.intervals.accuracies());
        let interval = judgement.as_ref().and_then(|j| j.intervals.0[0]);
        let get = |of: fn(&Judgement) -> f64| judgement.as_ref().map(of);
        Some(Comparison {
            package: measured.package.clone(),
            target: measured.target.clone(),
            benchmark: measured.benchmark.clone(),
            base: time(reference, |(base, _)| *base),
            head: time(position, |(_, head)| *head),
            unit: measured.unit.clone(),
            improvement_percent: judgement.as_ref().map(|j| j.improvement),
            accuracy_percent: Accuracy {
                at_95: accuracies[0],
                at_99: accuracies[1],
                at_999: accuracies[2],
            },
            interval_percent: interval.map(|interval| [interval.low, interval.high]),
            confidence: judgement.as_ref().map_or(Confidence::None, |j| j.confidence),
            p_value: get(|j| j.p_value),
            q_value: None,
            adjusted_p_value: None,
            trips_gate: false,
            stopped_by,
            verdict,
            margin_percent,
            within_margin,
            pairs_to_decide,
            pairs: log_ratios.iter().map(Vec::len).sum(),
            method: method(measured, identical),
            notes: measured.notes.clone(),
            throughput: measured.throughput.clone(),
            strata: match log_ratios.len() {
                0 | 1 => Vec::new(),
                _ => log_ratios.iter().map(Vec::len).collect(),
            },
            log_ratios: log_ratios.concat(),
        })
    }
}

fn log_ratios(pairs: &[(f64, f64)]) -> Vec<f64> {
    pairs.iter().map(|(base, head)| (head / base).ln()).collect()
}

/// The median over the launches; of several runs the geometric mean of their medians, because machines differ by
/// factors. `None` if there are no launches.
fn typical(strata: &[Vec<(f64, f64)>], value: fn(&(f64, f64)) -> f64) -> Option<f64> {
    let medians: Vec<f64> = strata
        .iter()
        .filter_map(|pairs| median(&pairs.iter().map(value).collect::<Vec<_>>()))
        .collect();
    match medians[..] {
        [] => None,
        [only] => Some(only),
        _ => Some((medians.iter().map(|m| m.ln()).sum::<f64>() / medians.len() as f64).exp()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Results of three revisions with these benchmarks: an id, and the values of each launch.
    fn results(measured: &[(&str, &[[Option<f64>; 3]])]) -> Results {
        let revision = |label| json!({"label": label, "commit": "c", "dirty": false, "rustc": "r"});
        let measured: Vec<_> = measured
            .iter()
            .map(|(id, launches)| {
                let launch = |values| json!({"group": 1, "order": [0, 1, 2], "values": values});
                let launches: Vec<_> = launches.iter().map(launch).collect();
                json!({"package": "p", "target": "t", "benchmark": id, "unit": "ns",
                    "identical": [], "launches": launches})
            })
            .collect();
        let file = json!({
            "schema_version": 1, "generator": "", "command": "", "complete": true, "seed": 0, "runs": 1,
            "margin_percent": 2.0, "revisions": [revision("a"), revision("b"), revision("c")],
            "environment": {"system": ""}, "comparisons": [], "added": [], "removed": [],
            "failed": [], "notes": [], "measured": measured,
        });
        Results::from_json(&file.to_string()).unwrap()
    }

    fn fail(results: &mut Results, side: &str, benchmark: Option<&str>) {
        results.failed.push(crate::results::Failure {
            side: side.to_owned(),
            revision: String::new(),
            package: "p".to_owned(),
            target: "t".to_owned(),
            benchmark: benchmark.map(str::to_owned),
            error: String::new(),
        });
        results.derive_comparisons();
    }

    fn compared(results: &Results) -> Vec<(&str, &str)> {
        let comparisons = results.comparisons.iter();
        comparisons.map(|c| (c.benchmark.as_str(), c.head.label.as_str())).collect()
    }

    #[test]
    fn times_are_medians_over_the_launches_that_both_sides_have() {
        let launches = [
            [Some(10.0), Some(30.0), None],
            [Some(20.0), None, None],
            [Some(11.0), Some(31.0), None],
            [Some(90.0), Some(33.0), None],
        ];
        let results = results(&[("x", &launches)]);
        let [only] = &results.comparisons[..] else { panic!("{:?}", results.comparisons) };
        assert_eq!((only.pairs, only.head.label.as_str()), (3, "b"));
        assert_eq!(only.base.nanoseconds, Some(11.0));
        assert_eq!(only.head.nanoseconds, Some(31.0));
        assert_eq!(only.log_ratios[0], 3f64.ln());
    }

    #[test]
    fn q_values_are_over_all_comparisons() {
        let launches = |factor: f64, count: usize| -> Vec<[Option<f64>; 3]> {
            let value = |i: usize| Some(factor * (100.0 + i as f64 / 10.0));
            (0..count).map(|i| [Some(100.0), value(i), Some(100.0)]).collect()
        };
        let results = results(&[("x", &launches(2.0, 8)), ("y", &launches(0.5, 6))]);
        let p: Vec<f64> = results.comparisons.iter().map(|c| c.p_value.unwrap()).collect();
        assert_eq!(p, [2.0 / 256.0, 1.0, 2.0 / 64.0, 1.0]);
        let q: Vec<f64> = results.comparisons.iter().map(|c| c.q_value.unwrap()).collect();
        assert_eq!(q, [4.0 * 2.0 / 256.0, 1.0, 2.0 * 2.0 / 64.0, 1.0]);
    }

    /// Results of benchmarks whose head takes so many times as long as base, about.
    fn slower(factors: &[f64]) -> Results {
        let launches = |factor: f64| -> Vec<[Option<f64>; 3]> {
            let value = |i: usize| Some(factor * (100.0 + i as f64 / 100.0));
            (0..12).map(|i| [Some(100.0), value(i), None]).collect()
        };
        let launches: Vec<Vec<_>> = factors.iter().map(|factor| launches(*factor)).collect();
        let measured: Vec<(&str, &[_])> = launches.iter().map(|l| ("x", &l[..])).collect();
        let mut results = results(&measured);
        results.gate = Gate::Regression;
        results.derive_comparisons();
        results
    }

    #[test]
    fn the_gate_is_tripped_by_a_regression_beyond_the_margin_and_by_nothing_else() {
        let trips = |factor: f64| slower(&[factor]).trips_gate();
        assert!(trips(1.1));
        assert!(!trips(1.01), "a regression within the margin");
        assert!(!trips(0.8), "an improvement");
        let mut results = slower(&[1.1]);
        results.margin_percent = Percent::new(15.0);
        results.derive_comparisons();
        assert!(!results.trips_gate(), "another margin");
        results.measured[0].margin_percent = Some(Percent::new(5.0));
        results.derive_comparisons();
        assert!(results.trips_gate(), "a margin of its own");
        results.gate = Gate::None;
        results.derive_comparisons();
        assert!(!results.trips_gate());
    }

    #[test]
    fn among_many_comparisons_the_gate_asks_for_more() {
        // The p-value is 2 / 2^12, and Holm multiplies that of one difference by the number of comparisons.
        let with_others = |others: usize| {
            let mut factors = vec![1.0; others];
            factors.push(1.1);
            let mut results = slower(&factors);
            // So that the others are no differences at all.
            for measured in &mut results.measured[..others] {
                for launch in &mut measured.launches {
                    launch.values[1] = launch.values[0];
                }
            }
            results.derive_comparisons();
            results
        };
        assert!(with_others(100).trips_gate());
        let results = with_others(102);
        assert!(!results.trips_gate());
        let last = results.comparisons.last().unwrap();
        assert_eq!(last.adjusted_p_value, Some(103.0 * 2.0 / 4096.0));
        assert_eq!((last.confidence, last.verdict), (Confidence::Three, Verdict::Regressed));
    }

    #[test]
    fn a_failure_leaves_out_what_its_side_takes_part_in_and_nothing_else() {
        let launch = [[Some(1.0), Some(2.0), Some(3.0)]];
        let both: &[(&str, &[_])] = &[("x", &launch), ("y", &launch)];
        let mut results = results(both);
        assert_eq!(compared(&results), [("x", "b"), ("x", "c"), ("y", "b"), ("y", "c")]);
        fail(&mut results, "variant 2", Some("x"));
        assert_eq!(compared(&results), [("x", "b"), ("y", "b"), ("y", "c")]);
        fail(&mut results, "head", None);
        assert_eq!(compared(&results), [("y", "c")]);
        fail(&mut results, "base", Some("y"));
        assert!(compared(&results).is_empty());
    }
}
