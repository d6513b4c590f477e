//! Statistics: pure functions on slices of numbers.
//!
//! In: log-ratios d = ln(head time per iteration / base time per iteration), one per launch pair.
//! Out: p-values, estimates, confidence intervals, stars and verdicts.
//! Touches nothing else: no files, no processes, no clock, no randomness.

mod heterogeneity;
mod multiple;
mod signed_rank;
mod stopping;
mod summary;
mod verdict;
mod welch;

pub use heterogeneity::heterogeneity;
pub use multiple::{benjamini_hochberg, holm};
pub use signed_rank::{
    Interval, SignedRankTest, WalshAverages, signed_rank_test, stratified_signed_rank_test,
};
pub use stopping::{BUDGET, Decision, LOOKS, Look, StoppedBy, decide};
pub use summary::{median, quantile, robust_standard_deviation, trimmed_mean};
pub use verdict::{
    Confidence, Intervals, Judgement, Verdict, fewest_pairs_for, judge, judge_strata,
    judge_with_looks,
};

pub use welch::{NoTest, WelchTest, improvement_of_rates, welch_test};

/// The three confidence levels of every table: 95, 99 and 99.9 %, as probabilities.
pub const LEVELS: [f64; 3] = [0.95, 0.99, 0.999];
