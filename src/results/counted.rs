//! Comparisons of what was counted, not timed: the same code gives the same number, so there is nothing to test.
//! Pure.

use crate::model::Percent;
use crate::stats::{Confidence, Verdict};

use super::schema::{Accuracy, Comparison, Gate, Measured, Method, Results, SideTime};

impl Measured {
    /// Whether all of it was counted.
    pub fn is_counted(&self) -> bool {
        !self.launches.is_empty()
            && self.launches.iter().all(|launch| launch.method == Method::Count)
    }

    /// The counts of two revisions, if each was the same in every launch.
    fn counts(&self, base: usize, head: usize) -> Option<(f64, f64)> {
        let pairs = self.pairs(base, head);
        let first = *pairs.first()?;
        (self.is_counted() && pairs.iter().all(|pair| *pair == first)).then_some(first)
    }
}

impl Results {
    /// Compares two revisions' counts. The inner `None` is for one beside another benchmark that did not change:
    /// it is not worth a line. The outer one if it was not counted, or not the same number at every launch.
    pub(super) fn compare_counts(
        &self,
        measured: &Measured,
        (base, head): (usize, usize),
        position: usize,
    ) -> Option<Option<Comparison>> {
        let (before, after) = measured.counts(base, head)?;
        if before == after && measured.counted_beside.is_some() {
            return Some(None);
        }
        let margin_percent = self.margin_of(measured);
        // As a benchmark of times: positive is better. Of nothing there is no percentage.
        let improvement = if before == after { 0.0 } else { 100.0 * (before / after - 1.0) };
        let improvement = Some(improvement).filter(|percent| percent.is_finite());
        let verdict = match after.total_cmp(&before) {
            std::cmp::Ordering::Less => Verdict::Improved,
            std::cmp::Ordering::Equal => Verdict::Equivalent,
            std::cmp::Ordering::Greater => Verdict::Regressed,
        };
        let changed = verdict != Verdict::Equivalent;
        let is_beyond_margin = improvement.is_none_or(|i| i.abs() > margin_percent.value());
        let side = |position: usize, count: f64| SideTime {
            label: self.revisions[position].label.clone(),
            nanoseconds: Some(count),
        };
        let exact = improvement.map(|_| Percent::new(0.0));
        let pairs = measured.pairs(base, head);
        Some(Some(Comparison {
            package: measured.package.clone(),
            target: measured.target.clone(),
            benchmark: measured.benchmark.clone(),
            base: side(measured.reference, before),
            head: side(position, after),
            unit: measured.unit.clone(),
            improvement_percent: improvement.map(Percent::new),
            accuracy_percent: Accuracy { at_95: exact, at_99: exact, at_999: exact },
            interval_percent: improvement.map(|percent| [percent, percent]),
            confidence: if changed { Confidence::Three } else { Confidence::None },
            p_value: None,
            q_value: None,
            adjusted_p_value: None,
            trips_gate: self.gate == Gate::Regression
                && verdict == Verdict::Regressed
                && is_beyond_margin,
            stopped_by: None,
            verdict,
            margin_percent,
            within_margin: !is_beyond_margin,
            pairs_to_decide: None,
            pairs: pairs.len(),
            method: Method::Count,
            notes: measured.notes.clone(),
            throughput: measured.throughput.clone(),
            log_ratios: Vec::new(),
            strata: Vec::new(),
        }))
    }
}
