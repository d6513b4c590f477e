//! From what was measured to comparisons. Pure.

use crate::side::Side;
use crate::stats::{Confidence, Judgement, Verdict, benjamini_hochberg, judge, median};

use super::schema::{Accuracy, Comparison, Measured, Method, Results, SideTime};

/// A benchmark was measured in step if every launch of it was.
fn method(measured: &Measured, identical: bool) -> Method {
    if identical {
        Method::None
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
            let others = (1..self.revisions.len())
                .filter(|position| !self.has_failed(measured, &[0, *position]));
            comparisons.extend(others.filter_map(|position| self.compare(measured, position)));
        }
        let tested: Vec<usize> =
            (0..comparisons.len()).filter(|i| comparisons[*i].p_value.is_some()).collect();
        let p_values: Vec<f64> = tested.iter().filter_map(|i| comparisons[*i].p_value).collect();
        for (index, q_value) in tested.into_iter().zip(benjamini_hochberg(&p_values)) {
            comparisons[index].q_value = Some(q_value);
        }
        self.comparisons = comparisons;
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
                && failure.benchmark.as_ref().is_none_or(|id| *id == measured.benchmark)
        })
    }

    fn compare(&self, measured: &Measured, position: usize) -> Option<Comparison> {
        let identical = measured.identical.contains(&position);
        let pairs: Vec<(f64, f64)> = measured
            .launches
            .iter()
            .filter_map(|launch| {
                Some(((*launch.values.first()?)?, (*launch.values.get(position)?)?))
            })
            .collect();
        let log_ratios: Vec<f64> = pairs.iter().map(|(base, head)| (head / base).ln()).collect();
        let judgement = judge(&log_ratios, self.margin_percent);
        if !identical && judgement.is_none() {
            return None;
        }
        let time = |position: usize, values: Vec<f64>| SideTime {
            label: self.revisions[position].label.clone(),
            nanoseconds: median(&values),
        };
        let accuracies = judgement.as_ref().map_or([None; 3], |j| j.intervals.accuracies());
        let interval = judgement.as_ref().and_then(|j| j.intervals.0[0]);
        let get = |of: fn(&Judgement) -> f64| judgement.as_ref().map(of);
        Some(Comparison {
            package: measured.package.clone(),
            target: measured.target.clone(),
            benchmark: measured.benchmark.clone(),
            base: time(0, pairs.iter().map(|(base, _)| *base).collect()),
            head: time(position, pairs.iter().map(|(_, head)| *head).collect()),
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
            verdict: judgement.as_ref().map_or(Verdict::IdenticalCode, |j| j.verdict),
            within_margin: judgement.as_ref().is_none_or(|j| j.within_margin),
            pairs_to_decide: judgement.as_ref().and_then(|j| j.pairs_to_decide),
            pairs: log_ratios.len(),
            method: method(measured, identical),
            notes: measured.notes.clone(),
            log_ratios,
        })
    }
}
