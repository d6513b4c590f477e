//! The exact Wilcoxon signed-rank test and what belongs to it: the Hodges-Lehmann estimate and
//! exact confidence intervals.
//!
//! Sources: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945);
//! J. Hodges, E. Lehmann, "Estimates of location based on rank tests", Ann. Math. Stat. 34 (1963);
//! M. Hollander, D. Wolfe, "Nonparametric Statistical Methods", chapter 3. Without ties every value
//! is that of R's `wilcox.test(d, exact = TRUE, conf.int = TRUE)`.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{median, robust_standard_deviation};

/// What the signed-rank test says of a sample of differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRankTest {
    /// V, the sum of the ranks of the positive differences (mid-ranks for ties).
    pub statistic: f64,
    /// The exact two-sided p-value of "the differences are symmetric about zero".
    pub p_value: f64,
}

/// Tests whether the differences are symmetric about zero, exactly for every sample size.
///
/// Zeros are dropped, tied magnitudes get their mid-rank, and the p-value comes from the permutation
/// distribution of those ranks (by dynamic programming). With no difference other than zero: p = 1.
pub fn signed_rank_test(differences: &[f64]) -> SignedRankTest {
    stratified_signed_rank_test(&[differences])
}

/// The same for differences that come in *strata*, such as machines: they are ranked within each stratum, and the
/// rank sums are added with weights that depend on sizes and magnitudes. However much the strata differ,
/// the p-value is exact: under the hypothesis every sign is as likely as the other, whatever the magnitudes.
///
/// With thousands of differences it comes from the normal approximation of that distribution.
pub fn stratified_signed_rank_test(strata: &[&[f64]]) -> SignedRankTest {
    let ranked: Vec<_> = strata.iter().map(|stratum| doubled_signed_ranks(stratum)).collect();
    let sizes: Vec<usize> = ranked.iter().map(Vec::len).collect();
    let magnitude = |stratum: &&[f64]| {
        median(&stratum.iter().map(|d| d.abs()).filter(|d| *d > 0.0).collect::<Vec<_>>())
    };
    let magnitudes: Vec<Option<f64>> = strata.iter().map(magnitude).collect();
    let ranks: Vec<(bool, usize)> = ranked
        .iter()
        .zip(weights(&sizes, &magnitudes))
        .flat_map(|(ranks, weight)| ranks.iter().map(move |(positive, r)| (*positive, r * weight)))
        .collect();
    let sum: usize = ranks.iter().map(|(_, rank)| rank).sum();
    let doubled_statistic: usize =
        ranks.iter().filter(|(positive, _)| *positive).map(|(_, rank)| rank).sum();
    let p_value = if sum.saturating_mul(ranks.len()) <= MOST_WORK {
        let distribution = distribution_of_sum(ranks.iter().map(|(_, rank)| *rank));
        let at_most: f64 = distribution[..=doubled_statistic].iter().sum();
        let at_least: f64 = distribution[doubled_statistic..].iter().sum();
        2.0 * at_most.min(at_least)
    } else {
        let variance: f64 = ranks.iter().map(|(_, rank)| (*rank as f64).powi(2) / 4.0).sum();
        let off = (doubled_statistic as f64 - sum as f64 / 2.0).abs();
        // Half a step towards the middle, as is usual for a discrete distribution.
        2.0 * Normal::standard().sf((off - 1.0).max(0.0) / variance.sqrt())
    };
    SignedRankTest { statistic: doubled_statistic as f64 / 2.0, p_value: p_value.min(1.0) }
}

/// The most additions for which a distribution is computed exactly.
const MOST_WORK: usize = 2_000_000_000;

/// The largest weight of a stratum, and how far scales may draw weights apart.
const LARGEST_WEIGHT: f64 = 16.0;

/// With fewer values in any stratum their scale is not known well enough to weigh strata by it.
const FEWEST_FOR_SCALE: usize = 6;

/// Whole numbers in proportion to 1 / ((n + 1) scale), for strata of n differences of that scale each: for one shift
/// in all strata this combination of rank sums is the most powerful one. Rounded, because the exact distribution is
/// one of whole numbers.
///
/// Source: P. van Elteren, "On the combination of independent two-sample tests of Wilcoxon", Bull. Int. Stat.
/// Inst. 37 (1960), for two samples: 1 / (n + 1) if the shift is the same in units of each stratum's scale. Here
/// it is the same shift, which weighs more where the scale is smaller.
fn weights(sizes: &[usize], scales: &[Option<f64>]) -> Vec<usize> {
    let largest = scales.iter().flatten().copied().fold(0.0, f64::max);
    let counts = sizes.iter().all(|size| *size >= FEWEST_FOR_SCALE) && largest > 0.0;
    let each = sizes.iter().zip(scales).map(|(size, scale)| {
        let scale = scale.unwrap_or(largest).max(largest / LARGEST_WEIGHT);
        1.0 / ((*size + 1) as f64 * if counts { scale } else { 1.0 })
    });
    let each: Vec<f64> = each.collect();
    let most = each.iter().copied().fold(0.0, f64::max);
    let whole: Vec<usize> =
        each.iter().map(|w| (LARGEST_WEIGHT * w / most).round().max(1.0) as usize).collect();
    let common = whole.iter().copied().fold(0, greatest_common_divisor).max(1);
    whole.iter().map(|weight| weight / common).collect()
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The sign and twice the mid-rank of each non-zero difference. Doubled, mid-ranks are whole numbers.
fn doubled_signed_ranks(differences: &[f64]) -> Vec<(bool, usize)> {
    let mut nonzero: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    nonzero.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let mut ranks = Vec::with_capacity(nonzero.len());
    let mut before = 0;
    for tied in nonzero.chunk_by(|a, b| a.abs() == b.abs()) {
        let doubled_mid_rank = 2 * before + tied.len() + 1;
        ranks.extend(tied.iter().map(|d| (*d > 0.0, doubled_mid_rank)));
        before += tied.len();
    }
    ranks
}

/// P(S = s) for the sum S of a random subset of the weights, in which each is taken with
/// probability 1/2.
fn distribution_of_sum(weights: impl Iterator<Item = usize>) -> Vec<f64> {
    let mut probability = vec![1.0];
    for weight in weights {
        let mut next = vec![0.0; probability.len() + weight];
        for (sum, p) in probability.iter().enumerate() {
            next[sum] += p / 2.0;
            next[sum + weight] += p / 2.0;
        }
        probability = next;
    }
    probability
}

/// A closed interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The ordered averages (d_i + d_j) / 2, i <= j, of a sample: what estimate and intervals are read
/// from. In strata, the averages within each, with the weight of the stratum.
#[derive(Debug, Clone)]
pub struct WalshAverages {
    strata: Vec<Vec<f64>>,
    /// Of the strata.
    weights: Vec<usize>,
    /// The averages, and the stratum of each.
    ordered: Vec<(f64, usize)>,
}

/// So often an end of an interval is read anew with the weights that belong to it. By then it stays, or is between the
/// last two.
const MOST_READINGS: usize = 3;

impl WalshAverages {
    /// All n (n + 1) / 2 averages of the sample.
    pub fn of(sample: &[f64]) -> Self {
        Self::of_strata(&[sample])
    }

    /// All averages of two values of the same stratum. Strata are weighed by their sizes and by how far their
    /// values spread, which no shift changes.
    pub fn of_strata(strata: &[&[f64]]) -> Self {
        let spreads: Vec<Option<f64>> =
            strata.iter().map(|stratum| robust_standard_deviation(stratum)).collect();
        let sizes: Vec<usize> = strata.iter().map(|stratum| stratum.len()).collect();
        let averages = |(number, sample): (usize, &&[f64])| -> Vec<(f64, usize)> {
            let pairs = sample.iter().enumerate();
            pairs
                .flat_map(|(i, a)| sample[i..].iter().map(move |b| ((a + b) / 2.0, number)))
                .collect()
        };
        let mut ordered: Vec<(f64, usize)> = strata.iter().enumerate().flat_map(averages).collect();
        ordered.sort_by(|a, b| a.0.total_cmp(&b.0));
        let strata = strata.iter().map(|stratum| stratum.to_vec()).collect();
        Self { strata, weights: weights(&sizes, &spreads), ordered }
    }

    /// The Hodges-Lehmann estimate of the centre: their (weighted) median. `None` for an empty sample.
    pub fn hodges_lehmann(&self) -> Option<f64> {
        let total = self.total_weight(&self.weights);
        let lower = at_weight(self.ordered.iter(), &self.weights, total.div_ceil(2))?;
        let upper = at_weight(self.ordered.iter(), &self.weights, total / 2 + 1)?;
        Some((lower + upper) / 2.0)
    }

    /// The exact confidence interval of the centre at `level` (0.95, say): from the k-th smallest to
    /// the k-th largest average, k the `(1 - level) / 2` quantile of the signed-rank distribution. In strata, an
    /// average counts as many times as it weighs, and each end is read with the weights that the test has of the
    /// differences from that end: those of the spreads alone would make the interval too narrow.
    ///
    /// `None` if the sample is too small for any interval of that level.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let first = self.interval_weighed(level, &self.weights)?;
        Some(Interval {
            low: self.end(level, first.low, |interval| interval.low, f64::min)?,
            high: self.end(level, first.high, |interval| interval.high, f64::max)?,
        })
    }

    /// An end of the interval, from where it is with the weights of the spreads.
    fn end(
        &self,
        level: f64,
        first: f64,
        of: fn(Interval) -> f64,
        outer: fn(f64, f64) -> f64,
    ) -> Option<f64> {
        let (mut before, mut now) = (first, first);
        let mut weights = self.weights.clone();
        for _ in 0..MOST_READINGS {
            let next = self.weights_about(now);
            if next == weights {
                return Some(now);
            }
            before = now;
            now = of(self.interval_weighed(level, &next)?);
            weights = next;
        }
        Some(outer(before, now))
    }

    /// The weights that the test has of differences from a centre.
    fn weights_about(&self, center: f64) -> Vec<usize> {
        let magnitude = |stratum: &Vec<f64>| {
            median(&stratum.iter().map(|d| (d - center).abs()).collect::<Vec<_>>())
        };
        let magnitudes: Vec<Option<f64>> = self.strata.iter().map(magnitude).collect();
        weights(&self.strata.iter().map(Vec::len).collect::<Vec<_>>(), &magnitudes)
    }

    fn interval_weighed(&self, level: f64, weights: &[usize]) -> Option<Interval> {
        let tail = (1.0 - level) / 2.0;
        // 1 - level is not exact in binary; the slack is the one that R's qsignrank allows.
        let slack = 10.0 * f64::EPSILON;
        let total = self.total_weight(weights);
        let count: usize = self.strata.iter().map(Vec::len).sum();
        let quantile = if total.saturating_mul(count) <= MOST_WORK {
            let distribution = distribution_of_sum(self.ranks(weights));
            if distribution[0] > tail + slack || self.ordered.is_empty() {
                return None;
            }
            let mut cumulative = 0.0;
            distribution.iter().position(|p| {
                cumulative += p;
                cumulative >= tail - slack
            })?
        } else {
            let variance: f64 = self.ranks(weights).map(|rank| (rank as f64).powi(2) / 4.0).sum();
            let below = total as f64 / 2.0 + Normal::standard().inverse_cdf(tail) * variance.sqrt();
            below.max(0.0) as usize
        };
        Some(Interval {
            low: at_weight(self.ordered.iter(), weights, quantile.max(1))?,
            high: at_weight(self.ordered.iter().rev(), weights, quantile.max(1))?,
        })
    }

    /// The weighted ranks of differences without ties.
    fn ranks(&self, weights: &[usize]) -> impl Iterator<Item = usize> {
        let each = self.strata.iter().zip(weights);
        each.flat_map(|(stratum, weight)| (1..=stratum.len()).map(move |rank| rank * weight))
    }

    fn total_weight(&self, weights: &[usize]) -> usize {
        self.ordered.iter().map(|(_, stratum)| weights[*stratum]).sum()
    }
}

/// The first average with which those so far weigh as much as wanted.
fn at_weight<'a>(
    averages: impl Iterator<Item = &'a (f64, usize)>,
    weights: &[usize],
    wanted: usize,
) -> Option<f64> {
    let mut weight = 0;
    for (average, stratum) in averages {
        weight += weights[*stratum];
        if weight >= wanted {
            return Some(*average);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refs(strata: &[Vec<f64>]) -> Vec<&[f64]> {
        strata.iter().map(Vec::as_slice).collect()
    }

    /// The p-value by going through all signs.
    fn enumerated(strata: &[Vec<f64>]) -> f64 {
        let count: u32 = strata.iter().map(|stratum| stratum.len() as u32).sum();
        let test = |signs: u32| {
            let mut bit = 0;
            let flipped: Vec<Vec<f64>> = strata
                .iter()
                .map(|stratum| {
                    let flip = |d: &f64| {
                        bit += 1;
                        if signs >> (bit - 1) & 1 == 1 { d.abs() } else { -d.abs() }
                    };
                    stratum.iter().map(flip).collect()
                })
                .collect();
            stratified_signed_rank_test(&refs(&flipped)).statistic
        };
        let seen = stratified_signed_rank_test(&refs(strata)).statistic;
        let all: Vec<f64> = (0..1 << count).map(test).collect();
        let share = |is: &dyn Fn(f64) -> bool| {
            all.iter().filter(|s| is(**s)).count() as f64 / all.len() as f64
        };
        (2.0 * share(&|s| s <= seen).min(share(&|s| s >= seen))).min(1.0)
    }

    #[test]
    fn strata_count_each_for_itself() {
        // On the one machine everything takes 1 % longer, on the other, noisy one too. As one sample that is lost.
        let quiet: Vec<f64> = (0..8).map(|i| 0.01 + f64::from(i) * 1e-4).collect();
        let noisy: Vec<f64> = (0..8).map(|i| 0.01 + (f64::from(i) - 3.4) * 0.05).collect();
        let apart = stratified_signed_rank_test(&[&quiet, &noisy]).p_value;
        let pooled = signed_rank_test(&[quiet, noisy].concat()).p_value;
        assert!(apart < 0.015 && pooled > 0.1, "{apart} {pooled}");
    }

    #[test]
    fn large_samples_are_approximated() {
        let sample: Vec<f64> = (0..1300).map(|i| f64::from(i * 7919 % 1300) - 620.0).collect();
        let (one, other) = sample.split_at(650);
        let both = stratified_signed_rank_test(&[one, other, one, other, one]).p_value;
        assert!((0.0..1.0).contains(&both), "{both}");
        let interval = WalshAverages::of_strata(&[one, other, one, other, one]).interval(0.95);
        assert!(interval.is_some_and(|interval| interval.low < interval.high));
    }

    #[test]
    fn machines_of_unequal_noise_give_no_more_false_stars_than_one_and_share_their_power() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let mut share = |shift: f64| {
            let found = (0..600).filter(|_| {
                let mut machine = |noise: f64| -> Vec<f64> {
                    (0..12).map(|_| shift + noise * normal()).collect()
                };
                let machines = [machine(0.01), machine(0.03)];
                stratified_signed_rank_test(&refs(&machines)).p_value <= 0.05
            });
            found.count() as f64 / 600.0
        };
        // 99.9 % of what chance does with a rate of .05 lies below .08.
        assert!(share(0.0) < 0.08);
        assert!(share(0.01) > 0.85);
    }

    #[test]
    fn the_ends_of_intervals_are_where_the_test_begins_to_reject() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let mut rejected = 0;
        for _ in 0..60 {
            let strata: Vec<Vec<f64>> =
                (0..2).map(|_| (0..8).map(|_| normal()).collect()).collect();
            let interval = WalshAverages::of_strata(&refs(&strata)).interval(0.95).unwrap();
            for end in [interval.low - 1e-9, interval.high + 1e-9] {
                let shifted: Vec<Vec<f64>> =
                    strata.iter().map(|s| s.iter().map(|d| d - end).collect()).collect();
                let p = stratified_signed_rank_test(&refs(&shifted)).p_value;
                rejected += usize::from(p <= 0.05 + 1e-9);
            }
        }
        // With the weights of the spreads alone it was 61 of 120.
        assert!(rejected >= 114, "{rejected} of 120");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

        #[test]
        fn the_p_value_is_exact(
            strata in proptest::collection::vec(
                proptest::collection::vec(-5..=5i8, 1..5), 1..4).prop_filter("small",
                |strata| strata.iter().flatten().all(|d| *d != 0)),
        ) {
            let strata: Vec<Vec<f64>> =
                strata.iter().map(|s| s.iter().map(|d| f64::from(*d)).collect()).collect();
            let p = stratified_signed_rank_test(&refs(&strata)).p_value;
            prop_assert!((p - enumerated(&strata)).abs() < 1e-12);
        }

        #[test]
        fn the_order_of_strata_and_of_pairs_does_not_matter(
            mut strata in proptest::collection::vec(proptest::collection::vec(-1.0..1.0f64, 1..15), 1..4),
        ) {
            let values = |strata: &[Vec<f64>]| {
                let walsh = WalshAverages::of_strata(&refs(strata));
                let test = stratified_signed_rank_test(&refs(strata));
                let close = |x: f64| (x * 1e12).round();
                (walsh.hodges_lehmann(), walsh.interval(0.95), close(test.p_value))
            };
            let before = values(&strata);
            strata.reverse();
            strata.iter_mut().for_each(|stratum| stratum.reverse());
            prop_assert_eq!(before, values(&strata));
        }

        #[test]
        fn an_interval_leaves_out_what_the_test_rejects(
            strata in proptest::collection::vec(proptest::collection::vec(-1.0..1.0f64, 2..6), 1..5),
        ) {
            // Without ties, and with strata that are weighed by size alone, the interval holds exactly the shifts
            // with p > 1 - level.
            let interval = WalshAverages::of_strata(&refs(&strata)).interval(0.95);
            let p_at = |shift: f64| {
                let shifted: Vec<Vec<f64>> =
                    strata.iter().map(|s| s.iter().map(|d| d - shift).collect()).collect();
                stratified_signed_rank_test(&refs(&shifted)).p_value
            };
            if let Some(Interval { low, high }) = interval {
                prop_assert!(p_at(low - 1e-9) <= 0.05 + 1e-9 && p_at(high + 1e-9) <= 0.05 + 1e-9);
                if high - low > 1e-6 {
                    prop_assert!(p_at(low + 1e-9) > 0.05 && p_at(high - 1e-9) > 0.05);
                }
            }
        }
    }
}
