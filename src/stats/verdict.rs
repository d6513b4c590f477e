//! From log-ratios to what a reader is told: stars, improvement, accuracy, verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::stopping::was_efficacious;
use super::{Interval, LEVELS, WalshAverages, stratified_signed_rank_test};
use crate::model::Percent;

/// The stars of a comparison.
///
/// `*` p <= .0495, `**` p <= .0095, `***` p <= .0005: a little below .05, .01 and .001, which leaves
/// room for looking at the data while it comes in.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Confidence {
    /// No star: no difference was shown.
    #[serde(rename = "")]
    None,
    /// `*`: below .05.
    #[serde(rename = "*")]
    One,
    /// `**`: below .01.
    #[serde(rename = "**")]
    Two,
    /// `***`: below .001.
    #[serde(rename = "***")]
    Three,
}

impl Confidence {
    /// The largest p-value of each level, weakest first.
    pub const THRESHOLDS: [(Self, f64); 3] =
        [(Self::One, 0.0495), (Self::Two, 0.0095), (Self::Three, 0.0005)];

    /// The stars that a p-value earns.
    pub fn from_p_value(p: f64) -> Self {
        let earned = Self::THRESHOLDS.iter().rev().find(|(_, threshold)| p <= *threshold);
        earned.map_or(Self::None, |(stars, _)| *stars)
    }

    /// As printed: an empty string or up to three stars.
    pub fn stars(self) -> &'static str {
        match self {
            Self::None => "",
            Self::One => "*",
            Self::Two => "**",
            Self::Three => "***",
        }
    }
}

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Head is faster, with at least one star.
    Improved,
    /// Head is slower, with at least one star.
    Regressed,
    /// No star, and the 95 % interval lies within the margin.
    Equivalent,
    /// Neither a difference nor equivalence was shown.
    Inconclusive,
    /// Both sides' executables are the same code; nothing was measured.
    IdenticalCode,
}

/// Confidence intervals of the improvement at 95, 99 and 99.9 %; `None` where there are too few pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intervals(pub [Option<Interval>; 3]);

impl Intervals {
    /// Half the width of each interval, in percent: the *accuracy* of the improvement.
    pub fn accuracies(&self) -> [Option<Percent>; 3] {
        self.0.map(|interval| interval.map(|i| Percent::new((i.high - i.low) / 2.0)))
    }
}

/// Everything that is derived from the log-ratios of one comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Exact two-sided p-value of "no difference".
    pub p_value: f64,
    /// The stars for it.
    pub confidence: Confidence,
    /// Estimate of base time / head time - 1, from the Hodges-Lehmann estimate of the log-ratio.
    pub improvement: Percent,
    /// Intervals of the improvement, in percent.
    pub intervals: Intervals,
    /// The answer.
    pub verdict: Verdict,
    /// Whether the 95 % interval lies within the margin; beside a star it means "changed, but less
    /// than the margin".
    pub within_margin: bool,
    /// For an inconclusive comparison: about how many pairs would decide it.
    pub pairs_to_decide: Option<u64>,
}

/// Judges the log-ratios of one comparison whose number was settled beforehand. `None` if there are none.
pub fn judge(log_ratios: &[f64], margin: Percent) -> Option<Judgement> {
    judge_at_least(Confidence::None, &[log_ratios], margin)
}

/// Judges the log-ratios that several machines or runs have measured of one comparison, each a stratum of its own:
/// what they have in common is tested and estimated. `None` if there are none.
pub fn judge_strata(strata: &[&[f64]], margin: Percent) -> Option<Judgement> {
    judge_at_least(Confidence::None, strata, margin)
}

/// Judges the log-ratios of one comparison that was [looked at](super::LOOKS) while they came in: a difference that
/// was beyond doubt then has `***`. `None` if there are none.
pub fn judge_with_looks(log_ratios: &[f64], margin: Percent) -> Option<Judgement> {
    let earned = if was_efficacious(log_ratios) { Confidence::Three } else { Confidence::None };
    judge_at_least(earned, &[log_ratios], margin)
}

fn judge_at_least(earned: Confidence, strata: &[&[f64]], margin: Percent) -> Option<Judgement> {
    let walsh = WalshAverages::of_strata(strata);
    let center = walsh.hodges_lehmann()?;
    let p_value = stratified_signed_rank_test(strata).p_value;
    let confidence = Confidence::from_p_value(p_value).max(earned);
    let log_intervals = LEVELS.map(|level| walsh.interval(level));
    let intervals = Intervals(log_intervals.map(|interval| interval.map(improvement_interval)));
    let within_margin =
        intervals.0[0].is_some_and(|i| i.low > -margin.value() && i.high < margin.value());
    let verdict = match (confidence, within_margin) {
        (Confidence::None, true) => Verdict::Equivalent,
        (Confidence::None, false) => Verdict::Inconclusive,
        _ if center < 0.0 => Verdict::Improved,
        _ => Verdict::Regressed,
    };
    let pairs = strata.iter().map(|stratum| stratum.len()).sum();
    let pairs_to_decide = (verdict == Verdict::Inconclusive)
        .then(|| pairs_to_decide(pairs, center, log_intervals[0], margin))
        .flatten();
    Some(Judgement {
        p_value,
        confidence,
        improvement: Percent::improvement_from_log_ratio(center),
        intervals,
        verdict,
        within_margin,
        pairs_to_decide,
    })
}

/// The fewest pairs with which a star of that level can be reached at all: the smallest n with
/// 2 / 2^n <= threshold.
pub fn fewest_pairs_for(confidence: Confidence) -> u32 {
    let threshold = Confidence::THRESHOLDS.iter().find(|(level, _)| *level == confidence);
    threshold.map_or(0, |(_, p)| (2.0 / p).log2().ceil() as u32)
}

/// A longer time means a smaller improvement, so the ends change places.
fn improvement_interval(log_ratio: Interval) -> Interval {
    Interval {
        low: Percent::improvement_from_log_ratio(log_ratio.high).value(),
        high: Percent::improvement_from_log_ratio(log_ratio.low).value(),
    }
}

/// Half the width of an interval shrinks with the square root of the number of pairs. A comparison is
/// decided when that half width is below |centre| (a star) or below margin - |centre| (equivalence),
/// whichever comes first.
fn pairs_to_decide(
    pairs: usize,
    center: f64,
    interval: Option<Interval>,
    margin: Percent,
) -> Option<u64> {
    let Some(interval) = interval else {
        return Some(u64::from(fewest_pairs_for(Confidence::One)));
    };
    let half_width = (interval.high - interval.low) / 2.0;
    let enough = center.abs().max(margin.to_log_ratio().abs() - center.abs());
    let wanted = (pairs as f64 * (half_width / enough).powi(2)).ceil();
    (wanted.is_finite() && wanted < 1e9).then_some((wanted as u64).max(pairs as u64 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARGIN: Percent = Percent::new(2.0);

    #[test]
    fn stars_are_given_at_the_thresholds_and_not_above() {
        for (p, stars) in [
            (0.05, ""),
            (0.0495, "*"),
            (0.0096, "*"),
            (0.0095, "**"),
            (0.00051, "**"),
            (0.0005, "***"),
        ] {
            assert_eq!(Confidence::from_p_value(p).stars(), stars, "{p}");
        }
    }

    #[test]
    fn six_eight_and_twelve_pairs_are_the_fewest() {
        assert_eq!(fewest_pairs_for(Confidence::One), 6);
        assert_eq!(fewest_pairs_for(Confidence::Two), 8);
        assert_eq!(fewest_pairs_for(Confidence::Three), 12);
        let slower = |n: usize| (0..n).map(|i| 0.2 + i as f64 * 1e-4).collect::<Vec<_>>();
        for (n, confidence) in [(5, ""), (6, "*"), (7, "*"), (8, "**"), (11, "**"), (12, "***")] {
            assert_eq!(judge(&slower(n), MARGIN).unwrap().confidence.stars(), confidence, "{n}");
        }
    }

    #[test]
    fn a_difference_that_was_beyond_doubt_at_a_look_has_three_stars_whatever_came_after() {
        let mut d: Vec<f64> = (0..18).map(|i| 0.1 + f64::from(i) * 1e-3).collect();
        d.extend((0..10).map(|i| -0.2 - f64::from(i) * 1e-3));
        assert_eq!(judge(&d, MARGIN).unwrap().confidence, Confidence::None);
        assert_eq!(judge_with_looks(&d, MARGIN).unwrap().confidence, Confidence::Three);
        d[0] = -0.3;
        assert_eq!(judge_with_looks(&d, MARGIN), judge(&d, MARGIN));
    }

    #[test]
    fn a_head_that_takes_longer_is_a_regression() {
        let d: Vec<f64> = (0..12).map(|i| 1.2f64.ln() + f64::from(i - 6) * 1e-3).collect();
        let slower = judge(&d, MARGIN).unwrap();
        assert_eq!(slower.verdict, Verdict::Regressed);
        assert_eq!(slower.confidence, Confidence::Three);
        assert!((slower.improvement.value() - -16.63).abs() < 0.1, "{:?}", slower.improvement);
        let faster = judge(&d.iter().map(|d| -d).collect::<Vec<_>>(), MARGIN).unwrap();
        assert_eq!(faster.verdict, Verdict::Improved);
        assert!(faster.improvement.value() > 0.0);
    }

    #[test]
    fn small_differences_on_both_sides_are_equivalent_and_large_ones_inconclusive() {
        let d: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.4).collect();
        let scaled = |by: f64| d.iter().map(|d| d * by).collect::<Vec<_>>();
        assert_eq!(judge(&scaled(0.001), MARGIN).unwrap().verdict, Verdict::Equivalent);
        let noisy = judge(&scaled(0.05), MARGIN).unwrap();
        assert_eq!(noisy.verdict, Verdict::Inconclusive);
        assert!(noisy.pairs_to_decide.unwrap() > 100, "{:?}", noisy.pairs_to_decide);
    }

    #[test]
    fn a_sure_change_below_the_margin_is_a_change_within_it() {
        let d: Vec<f64> = (0..12).map(|i| 0.01 + f64::from(i) * 1e-4).collect();
        let judgement = judge(&d, MARGIN).unwrap();
        assert_eq!(judgement.verdict, Verdict::Regressed);
        assert!(judgement.within_margin);
    }

    #[test]
    fn equal_times_throughout_are_equivalent() {
        let judgement = judge(&[0.0; 12], MARGIN).unwrap();
        assert_eq!(judgement.p_value, 1.0);
        assert_eq!(judgement.verdict, Verdict::Equivalent);
    }

    #[test]
    fn nothing_measured_is_no_judgement_and_one_pair_is_inconclusive() {
        assert!(judge(&[], MARGIN).is_none());
        let one = judge(&[0.5], MARGIN).unwrap();
        assert_eq!(one.verdict, Verdict::Inconclusive);
        assert_eq!(one.intervals.accuracies(), [None; 3]);
        assert_eq!(one.pairs_to_decide, Some(6));
    }
}
