//! The exact Wilcoxon signed-rank test and what belongs to it: the Hodges-Lehmann estimate and
//! exact confidence intervals.
//!
//! Sources: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945);
//! J. Hodges, E. Lehmann, "Estimates of location based on rank tests", Ann. Math. Stat. 34 (1963);
//! M. Hollander, D. Wolfe, "Nonparametric Statistical Methods", chapter 3. Without ties every value
//! is that of R's `wilcox.test(d, exact = TRUE, conf.int = TRUE)`.

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
    let ranks = doubled_signed_ranks(differences);
    let doubled_statistic: usize =
        ranks.iter().filter(|(positive, _)| *positive).map(|(_, rank)| rank).sum();
    let distribution = distribution_of_sum(ranks.iter().map(|(_, rank)| *rank));
    let at_most: f64 = distribution[..=doubled_statistic].iter().sum();
    let at_least: f64 = distribution[doubled_statistic..].iter().sum();
    SignedRankTest {
        statistic: doubled_statistic as f64 / 2.0,
        p_value: (2.0 * at_most.min(at_least)).min(1.0),
    }
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
/// from.
#[derive(Debug, Clone)]
pub struct WalshAverages {
    sample_size: usize,
    ordered: Vec<f64>,
}

impl WalshAverages {
    /// All n (n + 1) / 2 averages of the sample.
    pub fn of(sample: &[f64]) -> Self {
        let mut ordered: Vec<f64> = sample
            .iter()
            .enumerate()
            .flat_map(|(i, a)| sample[i..].iter().map(move |b| (a + b) / 2.0))
            .collect();
        ordered.sort_by(f64::total_cmp);
        Self { sample_size: sample.len(), ordered }
    }

    /// The Hodges-Lehmann estimate of the centre: their median. `None` for an empty sample.
    pub fn hodges_lehmann(&self) -> Option<f64> {
        let upper = self.ordered.get(self.ordered.len() / 2)?;
        if self.ordered.len() % 2 == 1 {
            return Some(*upper);
        }
        Some((self.ordered[self.ordered.len() / 2 - 1] + upper) / 2.0)
    }

    /// The exact confidence interval of the centre at `level` (0.95, say): from the k-th smallest to
    /// the k-th largest average, k the `(1 - level) / 2` quantile of the signed-rank distribution.
    ///
    /// `None` if the sample is too small for any interval of that level.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let tail = (1.0 - level) / 2.0;
        let distribution = distribution_of_sum(1..=self.sample_size);
        // 1 - level is not exact in binary; the slack is the one that R's qsignrank allows.
        let wanted = tail - 10.0 * f64::EPSILON;
        if distribution[0] > tail + 10.0 * f64::EPSILON || self.ordered.is_empty() {
            return None;
        }
        let mut cumulative = 0.0;
        let quantile = distribution
            .iter()
            .position(|p| {
                cumulative += p;
                cumulative >= wanted
            })?
            .max(1);
        Some(Interval {
            low: self.ordered[quantile - 1],
            high: self.ordered[self.ordered.len() - quantile],
        })
    }
}
