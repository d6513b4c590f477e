//! When a comparison has been measured enough: looks at the log-ratios while they come in.
//!
//! In: the log-ratios of one comparison so far, and the margin. Out: stop, and why, or go on, and until when about.
//! Looking at data and stopping when it pleases gives false positives (a look after every pair until p < .05: 24 %).
//! So there are four looks, and each rule is one that cannot, or may as much as is set aside for it:
//!
//! - *efficacy*: the difference is beyond doubt. The thresholds spend .0005 in all, in proportion to the third power of the
//!   pairs measured (K. Lan, D. DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70 (1983)).
//! - *precision*: the estimate is precise enough for the margin. It looks at |d| only; if nothing changed, the signs are
//!   independent of that, and so the test, which is about the signs, is as exact as ever.
//! - *equivalence*: a wide confidence interval lies within the margin.
//! - *budget*: the last look.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Interval, WalshAverages, median, signed_rank_test};
use crate::model::Percent;

/// A planned look at the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// After so many launch pairs.
    pub pairs: usize,
    /// A difference is beyond doubt if its p-value is below this.
    pub efficacy: f64,
    /// The interval of this level must lie within the margin for equivalence.
    pub equivalence_level: f64,
}

/// All looks. Before the first not even `***` could be reached.
pub const LOOKS: [Look; 4] = [
    Look { pairs: 12, efficacy: 1.35e-5, equivalence_level: 0.99 },
    Look { pairs: 18, efficacy: 3.54e-5, equivalence_level: 0.99 },
    Look { pairs: 27, efficacy: 1.20e-4, equivalence_level: 0.99 },
    Look { pairs: 40, efficacy: 3.93e-4, equivalence_level: 0.95 },
];

/// The most pairs that are measured without being asked for.
pub const BUDGET: usize = LOOKS[LOOKS.len() - 1].pairs;

/// Why a comparison was measured no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StoppedBy {
    /// There is a difference beyond doubt.
    Efficacy,
    /// The estimate is precise enough for the margin.
    Precision,
    /// A wide confidence interval lies within the margin.
    Equivalence,
    /// All pairs that are measured without being asked for were measured.
    Budget,
    /// The number of pairs that was asked for was measured.
    Runs,
    /// The time was up.
    TimeLimit,
}

/// What follows from the pairs so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It takes more; as it looks now, so many pairs in all.
    GoOn {
        /// The pairs of the look at which it will probably be decided.
        until: usize,
    },
    /// It is enough.
    Stop(StoppedBy),
}

/// Decides after each pair. It is only at a [look](LOOKS) that it can be decided.
pub fn decide(log_ratios: &[f64], margin: Percent) -> Decision {
    let Some(look) = LOOKS.iter().find(|look| look.pairs == log_ratios.len()) else {
        return match log_ratios.len() {
            more if more > BUDGET => Decision::Stop(StoppedBy::Budget),
            _ => Decision::GoOn { until: forecast(log_ratios, margin) },
        };
    };
    if signed_rank_test(log_ratios).p_value < look.efficacy {
        return Decision::Stop(StoppedBy::Efficacy);
    }
    if imprecision(log_ratios).is_some_and(|i| i <= margin.to_log_ratio().abs() / 2.0) {
        return Decision::Stop(StoppedBy::Precision);
    }
    let interval = WalshAverages::of(log_ratios).interval(look.equivalence_level);
    if interval.is_some_and(|interval| is_within(interval, margin)) {
        return Decision::Stop(StoppedBy::Equivalence);
    }
    if look.pairs == BUDGET {
        return Decision::Stop(StoppedBy::Budget);
    }
    Decision::GoOn { until: forecast(log_ratios, margin) }
}

/// Whether a difference was beyond doubt at one of the looks. It stays so if measuring went on for another's sake.
pub fn was_efficacious(log_ratios: &[f64]) -> bool {
    let taken = LOOKS.iter().filter_map(|look| Some((look, log_ratios.get(..look.pairs)?)));
    taken.into_iter().any(|(look, pairs)| signed_rank_test(pairs).p_value < look.efficacy)
}

/// Whether a log-ratio's interval lies within the margin: that of its improvement lies between -margin and margin.
pub(super) fn is_within(log_ratio: Interval, margin: Percent) -> bool {
    let improvement = |d| Percent::improvement_from_log_ratio(d).value();
    improvement(log_ratio.high) > -margin.value() && improvement(log_ratio.low) < margin.value()
}

/// About half the width of the 95 % interval if nothing changed: 2.02 standard errors of the mean about zero, of
/// log-ratios of which no magnitude counts for more than three robust standard deviations.
fn imprecision(log_ratios: &[f64]) -> Option<f64> {
    let magnitudes: Vec<f64> = log_ratios.iter().map(|d| d.abs()).collect();
    let most = 3.0 * 1.4826 * median(&magnitudes)?;
    let squares: f64 = magnitudes.iter().map(|d| d.min(most).powi(2)).sum();
    let n = magnitudes.len() as f64;
    Some(2.02 * (squares / n / n).sqrt())
}

/// The pairs of the look at which it will probably be decided, if what comes is like what was.
fn forecast(log_ratios: &[f64], margin: Percent) -> usize {
    let pairs = log_ratios.len();
    let next = LOOKS.iter().map(|look| look.pairs).find(|look| *look > pairs).unwrap_or(BUDGET);
    // Of fewer pairs there is no interval worth the name.
    if pairs < 6 {
        return next;
    }
    let walsh = WalshAverages::of(log_ratios);
    let (Some(center), Some(interval)) = (walsh.hodges_lehmann(), walsh.interval(0.95)) else {
        return next;
    };
    let margin = margin.to_log_ratio().abs();
    let half_width = (interval.high - interval.low) / 2.0;
    // What shrinks with the square root of the pairs is small enough after so many.
    let shrunk = |now: f64, wanted: f64| match wanted > 0.0 {
        true => pairs as f64 * (now / wanted).powi(2),
        false => f64::INFINITY,
    };
    let wanted = [
        // An interval at 99.95 % is nearly twice as wide as one at 95 %, one at 99 % a third wider.
        shrunk(1.8 * half_width, center.abs()).max(LOOKS[1].pairs as f64),
        shrunk(1.3 * half_width, margin - center.abs()),
        imprecision(log_ratios).map_or(f64::INFINITY, |now| shrunk(now, margin / 2.0)),
    ];
    let wanted = wanted.into_iter().fold(f64::INFINITY, f64::min);
    LOOKS
        .iter()
        .map(|look| look.pairs)
        .find(|look| *look > pairs && *look as f64 >= wanted)
        .unwrap_or(BUDGET)
}

#[cfg(test)]
mod tests {
    use super::super::{Confidence, judge_with_looks};
    use super::*;
    use proptest::prelude::*;

    const MARGIN: Percent = Percent::new(2.0);

    /// So many log-ratios about `center`, evenly spread over `center` +- `spread` in no order, and no two alike in
    /// magnitude.
    fn spread(pairs: usize, center: f64, spread: f64) -> Vec<f64> {
        let step = |i: usize| ((i * 7 + 3) % pairs) as f64;
        (0..pairs)
            .map(|i| center + spread * (2.0 * (step(i) + 0.45) / pairs as f64 - 1.0))
            .collect()
    }

    fn stopped(log_ratios: &[f64]) -> Option<StoppedBy> {
        match decide(log_ratios, MARGIN) {
            Decision::Stop(why) => Some(why),
            Decision::GoOn { .. } => None,
        }
    }

    #[test]
    fn there_are_no_looks_but_the_planned_ones() {
        for pairs in 0..=BUDGET {
            let is_look = LOOKS.iter().any(|look| look.pairs == pairs);
            assert_eq!(stopped(&vec![0.0; pairs]).is_some(), is_look, "{pairs}");
        }
        assert_eq!(stopped(&spread(41, 0.0, 1.0)), Some(StoppedBy::Budget));
    }

    #[test]
    fn a_difference_beyond_doubt_stops_at_the_second_look_and_not_before() {
        // The smallest p-values: 2 / 2^12 is not below the first threshold, 2 / 2^18 is below the second.
        assert_eq!(stopped(&spread(12, 0.2, 0.05)), None);
        assert_eq!(stopped(&spread(18, 0.2, 0.05)), Some(StoppedBy::Efficacy));
        assert_eq!(stopped(&spread(18, -0.2, 0.05)), Some(StoppedBy::Efficacy));
    }

    #[test]
    fn efficacy_is_a_p_value_below_the_threshold_of_its_look() {
        for look in LOOKS {
            // Only the smallest so many of the magnitudes have the other sign, so that p grows with their number.
            let p_and_stop = |negative: usize| {
                let sign = |i: usize| if i < negative { -1.0 } else { 1.0 };
                let d: Vec<f64> = (0..look.pairs).map(|i| sign(i) * (1.0 + i as f64)).collect();
                (signed_rank_test(&d).p_value, stopped(&d) == Some(StoppedBy::Efficacy))
            };
            let all: Vec<(f64, bool)> = (0..look.pairs / 2).map(p_and_stop).collect();
            assert!(all.iter().all(|(p, stop)| *stop == (*p < look.efficacy)), "{look:?} {all:?}");
            assert!(all.iter().any(|(_, stop)| !stop));
            assert_eq!(all.iter().any(|(_, stop)| *stop), look.pairs > 12);
        }
    }

    #[test]
    fn precise_log_ratios_stop_whether_there_is_a_difference_or_not() {
        // 2.02 * 0.016 / sqrt(12) = 0.0093 is below half the margin, 2.02 * 0.018 / sqrt(12) = 0.0105 is not.
        // The intervals end at the largest magnitudes here, the margin is 0.0198.
        let alternating =
            |by: f64| -> Vec<f64> { (0..12).map(|i| if i % 2 == 0 { by } else { -by }).collect() };
        assert_eq!(stopped(&alternating(0.016)), Some(StoppedBy::Precision));
        assert_eq!(stopped(&alternating(0.018)), Some(StoppedBy::Equivalence));
        assert_eq!(stopped(&alternating(0.022)), None);
        assert_eq!(stopped(&[0.016; 12]), Some(StoppedBy::Precision));
        assert_eq!(stopped(&[0.018; 12]), Some(StoppedBy::Equivalence));
    }

    #[test]
    fn one_outlier_does_not_hide_precision() {
        let mut d = [0.002; 12];
        d[5] = 3.0;
        assert_eq!(stopped(&d), Some(StoppedBy::Precision));
    }

    #[test]
    fn equivalence_takes_the_wide_interval_except_at_the_last_look() {
        // Ends of the intervals at 95 and 99 %, as multiples of the spread.
        for look in LOOKS {
            let d = spread(look.pairs, 0.0, 1.0);
            let walsh = WalshAverages::of(&d);
            let half = |level| {
                let interval = walsh.interval(level).unwrap();
                interval.high.max(-interval.low)
            };
            let margin = Percent::new(2.0).to_log_ratio().abs();
            let scaled = |level: f64| -> Vec<f64> {
                d.iter().map(|x| x * margin * 0.97 / half(level)).collect()
            };
            assert_eq!(stopped(&scaled(0.99)), Some(StoppedBy::Equivalence), "{look:?}");
            let narrow = stopped(&scaled(0.95));
            let last = look.pairs == BUDGET;
            assert_eq!(narrow, last.then_some(StoppedBy::Equivalence), "{look:?}");
        }
    }

    #[test]
    fn noise_goes_on_to_the_last_look() {
        for look in LOOKS {
            let last = look.pairs == BUDGET;
            assert_eq!(stopped(&spread(look.pairs, 0.0, 0.5)), last.then_some(StoppedBy::Budget));
        }
    }

    #[test]
    fn a_difference_that_was_beyond_doubt_stays_so() {
        let mut d = spread(18, 0.2, 0.05);
        assert!(was_efficacious(&d));
        d.extend(spread(22, -0.2, 0.05));
        assert!(signed_rank_test(&d).p_value > 0.05);
        assert!(was_efficacious(&d));
        assert!(!was_efficacious(&d[1..]), "at another place it is not");
        assert!(!was_efficacious(&spread(17, 0.2, 0.05)));
    }

    #[test]
    fn the_forecast_is_the_next_look_for_what_is_nearly_decided_and_the_last_for_noise() {
        let until = |d: &[f64]| match decide(d, MARGIN) {
            Decision::GoOn { until } => until,
            Decision::Stop(why) => panic!("{why:?}"),
        };
        assert_eq!(until(&[]), 12);
        assert_eq!(until(&spread(8, 0.0, 0.001)), 12);
        assert_eq!(until(&spread(8, 0.2, 0.01)), 18, "12 pairs are not enough for that");
        assert_eq!(until(&spread(12, 0.2, 0.05)), 18);
        assert_eq!(until(&spread(12, 0.0, 0.5)), 40);
        assert_eq!(until(&spread(30, 0.0, 0.04)), 40);
    }

    /// `examples/simulate` on a small scale. The bounds are four standard deviations off what is wanted.
    #[test]
    fn stopping_early_gives_no_more_false_stars_than_they_say() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut normal = move || {
            let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
            radius * (std::f64::consts::TAU * random.f64()).cos()
        };
        let (mut starred, mut beyond_doubt, mut covered, mut pairs) = (0, 0, 0, 0);
        for number in 0..2000 {
            let spread = [0.003, 0.01, 0.02, 0.05][number % 4];
            let d: Vec<f64> = (0..BUDGET).map(|_| spread * normal()).collect();
            let look = LOOKS.iter().find(|look| stopped(&d[..look.pairs]).is_some()).unwrap();
            let judgement = judge_with_looks(&d[..look.pairs], MARGIN).unwrap();
            pairs += look.pairs;
            starred += usize::from(judgement.confidence >= Confidence::One);
            beyond_doubt += usize::from(judgement.confidence == Confidence::Three);
            let interval = judgement.intervals.0[0].unwrap();
            covered += usize::from(interval.low <= 0.0 && interval.high >= 0.0);
        }
        assert!((60..=139).contains(&starred), "{starred}");
        assert!(beyond_doubt <= 8, "{beyond_doubt}");
        assert!((1861..=1945).contains(&covered), "{covered}");
        assert!(pairs < 2000 * 30, "{pairs}");
    }

    proptest! {
        #[test]
        fn precision_and_p_do_not_know_of_each_other(
            magnitudes in proptest::collection::vec(0.0001..0.05f64, 12),
            signs in proptest::collection::vec(any::<bool>(), 12),
        ) {
            let signed: Vec<f64> =
                magnitudes.iter().zip(&signs).map(|(m, s)| if *s { *m } else { -m }).collect();
            prop_assert_eq!(imprecision(&signed), imprecision(&magnitudes));
        }

        #[test]
        fn base_and_head_may_change_places(
            d in proptest::collection::vec(-0.1..0.1f64, 0..45),
        ) {
            // The margin in percent is not quite symmetric in logarithms, so equivalence may differ at its edge.
            let swapped: Vec<f64> = d.iter().map(|d| -d).collect();
            let margin = Percent::new(1e-6);
            prop_assert_eq!(decide(&d, margin), decide(&swapped, margin));
            prop_assert_eq!(was_efficacious(&d), was_efficacious(&swapped));
        }

        #[test]
        fn a_forecast_is_a_look_that_is_still_to_come(
            d in proptest::collection::vec(-0.1..0.1f64, 0..40),
        ) {
            if let Decision::GoOn { until } = decide(&d, MARGIN) {
                prop_assert!(until > d.len());
                prop_assert!(LOOKS.iter().any(|look| look.pairs == until));
            }
        }
    }
}
