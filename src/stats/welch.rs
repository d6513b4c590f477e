//! Welch's t-test on rates, as Node.js's `benchmark/compare.R` uses it.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::LEVELS;
use crate::model::Percent;

/// Welch's two-sample t-test of new rates against old ones (operations per second: more is better).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WelchTest {
    /// (mean of new - mean of old) / standard error.
    pub t: f64,
    /// The degrees of freedom, by Welch and Satterthwaite.
    pub degrees_of_freedom: f64,
    /// The two-sided p-value of "the means are equal".
    pub p_value: f64,
    /// Half the width of the confidence interval of the difference in percent of the old mean, at 95, 99
    /// and 99.9 %.
    pub accuracies: [Percent; 3],
}

/// Why there is no test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoTest {
    /// A side has fewer than two rates.
    TooFew,
    /// The rates do not vary, so there is nothing to judge a difference by.
    Constant,
    /// The old mean is zero, so nothing can be said in percent of it.
    OldMeanIsZero,
}

/// The improvement of the mean rate in percent of the old one. `None` if a side has no rates, or if the old
/// mean is zero.
pub fn improvement_of_rates(old: &[f64], new: &[f64]) -> Option<Percent> {
    let (old, new) = (mean(old)?, mean(new)?);
    (old != 0.0).then(|| Percent::new((new - old) / old * 100.0))
}

/// Tests whether two samples of rates have the same mean. The invariant: p < alpha if and only if the
/// improvement is larger than the accuracy at 1 - alpha.
///
/// Source: B. Welch, "The generalization of 'Student's' problem when several different population variances
/// are involved", Biometrika 34 (1947). The values are those of R's `t.test`.
pub fn welch_test(old: &[f64], new: &[f64]) -> Result<WelchTest, NoTest> {
    if old.len() < 2 || new.len() < 2 {
        return Err(NoTest::TooFew);
    }
    let (old_mean, new_mean) = (mean(old).unwrap_or(0.0), mean(new).unwrap_or(0.0));
    if old_mean == 0.0 {
        return Err(NoTest::OldMeanIsZero);
    }
    let square_error = |rates: &[f64], mean: f64| {
        let n = rates.len() as f64;
        rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (n - 1.0) / n
    };
    let (old_error, new_error) = (square_error(old, old_mean), square_error(new, new_mean));
    let standard_error = (old_error + new_error).sqrt();
    // R's own limit for "data are essentially constant".
    if standard_error < 10.0 * f64::EPSILON * old_mean.abs().max(new_mean.abs()) {
        return Err(NoTest::Constant);
    }
    let t = (new_mean - old_mean) / standard_error;
    let degrees_of_freedom = (old_error + new_error).powi(2)
        / (old_error.powi(2) / (old.len() as f64 - 1.0)
            + new_error.powi(2) / (new.len() as f64 - 1.0));
    let student = StudentsT::new(0.0, 1.0, degrees_of_freedom).map_err(|_| NoTest::Constant)?;
    let accuracies = LEVELS.map(|level| {
        let quantile = student.inverse_cdf(1.0 - (1.0 - level) / 2.0);
        Percent::new(quantile * standard_error / old_mean.abs() * 100.0)
    });
    Ok(WelchTest { t, degrees_of_freedom, p_value: 2.0 * student.sf(t.abs()), accuracies })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
