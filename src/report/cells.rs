//! What stands in the cells of a table, whatever the table is drawn with.

use crate::model::Percent;
use crate::results::{Comparison, Method};
use crate::stats::Verdict;

use super::text::one_line;
use super::units::format_quantity;

/// The titles of the columns between name and verdict.
pub const TITLES: [&str; 7] =
    ["confidence", "improvement", "accuracy (*)", "(**)", "(***)", "base", "head"];

/// The texts of one comparison. Nothing in them comes from elsewhere, but units of `base` and `head`.
#[derive(Debug, Clone)]
pub struct Cells {
    /// Stars.
    pub confidence: String,
    /// `-16.67 %`; empty if nothing was measured.
    pub improvement: String,
    /// `±0.15%` at 95, 99 and 99.9 %; `-` where there are too few pairs.
    pub accuracies: [String; 3],
    /// `1.234 µs`; empty if nothing was measured.
    pub base: String,
    /// As `base`.
    pub head: String,
    /// What follows, in words.
    pub verdict: String,
}

impl Cells {
    /// Of one comparison.
    pub fn of(comparison: &Comparison) -> Self {
        let measured = comparison.method != Method::None;
        let accuracy = |accuracy: Option<Percent>| match accuracy {
            Some(percent) => format!("±{:.2}%", percent.value()),
            None if measured => "-".to_owned(),
            None => String::new(),
        };
        let time = |nanoseconds: Option<f64>| {
            nanoseconds
                .map(|value| one_line(&format_quantity(value, &comparison.unit)))
                .unwrap_or_default()
        };
        let improvement = comparison.improvement_percent;
        let at = &comparison.accuracy_percent;
        Self {
            confidence: comparison.confidence.stars().to_owned(),
            improvement: improvement.map(rounded).unwrap_or_default(),
            accuracies: [at.at_95, at.at_99, at.at_999].map(accuracy),
            base: time(comparison.base.nanoseconds),
            head: time(comparison.head.nanoseconds),
            verdict: verdict(comparison),
        }
    }

    /// In the order of [`TITLES`].
    pub fn numbers(self) -> [String; 7] {
        let [at_95, at_99, at_999] = self.accuracies;
        [self.confidence, self.improvement, at_95, at_99, at_999, self.base, self.head]
    }
}

/// `-16.67 %`. What rounds to zero has no sign.
fn rounded(percent: Percent) -> String {
    let hundredths = (100.0 * percent.value()).round();
    format!("{:.2} %", if hundredths == 0.0 { 0.0 } else { percent.value() })
}

/// What a comparison says, in words.
pub fn verdict(comparison: &Comparison) -> String {
    let margin = comparison.margin_percent;
    let within =
        if comparison.within_margin { format!(", by less than {margin}") } else { String::new() };
    match comparison.verdict {
        Verdict::Improved => format!("improved{within}"),
        Verdict::Regressed => format!("regressed{within}"),
        Verdict::Equivalent if comparison.method == Method::Count => "the same count".to_owned(),
        Verdict::Equivalent => format!("equivalent within {margin}"),
        Verdict::Inconclusive => match comparison.pairs_to_decide {
            Some(pairs) => format!("inconclusive; about {pairs} pairs would decide"),
            None => "inconclusive".to_owned(),
        },
        Verdict::IdenticalCode => "identical code".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounds_to_zero_has_no_sign() {
        let texts = [-0.0, -0.0049, 0.004, -0.006, 12.345].map(|p| rounded(Percent::new(p)));
        assert_eq!(texts, ["0.00 %", "0.00 %", "0.00 %", "-0.01 %", "12.35 %"]);
    }
}
