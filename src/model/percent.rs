//! Percentages, as a type of their own.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A quantity in percent: `Percent::new(2.0)` is 2 %, not a factor of two.
///
/// As an *improvement* it is base time / head time - 1: positive means that head is faster.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Percent(f64);

impl Percent {
    /// Makes a value of so many percent.
    pub const fn new(percent: f64) -> Self {
        Self(percent)
    }

    /// The improvement that belongs to a log-ratio d = ln(head time / base time): 100 (e^-d - 1).
    pub fn improvement_from_log_ratio(d: f64) -> Self {
        Self(100.0 * (-d).exp_m1())
    }

    /// The log-ratio whose improvement is `self`: the inverse of
    /// [`improvement_from_log_ratio`](Self::improvement_from_log_ratio).
    pub fn to_log_ratio(self) -> f64 {
        -(self.0 / 100.0).ln_1p()
    }

    /// The number of percent.
    pub const fn value(self) -> f64 {
        self.0
    }

    /// Without its sign.
    pub fn abs(self) -> Self {
        Self(self.0.abs())
    }
}

/// As in `2 %` or `0.5 %`: no more digits than needed.
impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

/// Accepts `2`, `2%`, `2 %` and `0.5%`.
impl std::str::FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.trim().trim_end_matches('%').trim_end();
        match number.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Self(value)),
            _ => Err(format!("`{text}` is not a percentage; write it like `2%`")),
        }
    }
}

/// Whether a percentage can be the margin of a comparison.
pub fn is_margin(percent: Percent) -> bool {
    percent.value() > 0.0 && percent.value() < 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn improvement_and_log_ratio_are_inverse() {
        // A head that takes half the time is 100 % faster, one that takes twice the time -50 %.
        assert!((Percent::improvement_from_log_ratio(0.5f64.ln()).value() - 100.0).abs() < 1e-12);
        assert!((Percent::improvement_from_log_ratio(2f64.ln()).value() + 50.0).abs() < 1e-12);
        let back = Percent::improvement_from_log_ratio(Percent::new(-13.15).to_log_ratio());
        assert!((back.value() + 13.15).abs() < 1e-12);
    }

    #[test]
    fn reads_and_writes_percentages() {
        for text in ["2", "2%", "2 %", " 2% "] {
            assert_eq!(text.parse(), Ok(Percent::new(2.0)), "{text:?}");
        }
        assert!("two".parse::<Percent>().is_err());
        assert!("inf%".parse::<Percent>().is_err());
        assert_eq!(Percent::new(0.5).to_string(), "0.5 %");
    }
}
