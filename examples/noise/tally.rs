//! How many of many comparisons are starred, and whether so many are to be expected.

use std::fmt;

use cargo_bench_compare::results::Comparison;
use cargo_bench_compare::stats::Confidence;
use statrs::distribution::{Binomial, DiscreteCDF};

use crate::is_equivalent;

/// Levels with the stars that stand for them.
const LEVELS: [(&str, Confidence, f64); 3] = [
    ("*", Confidence::One, 0.05),
    ("**", Confidence::Two, 0.01),
    ("***", Confidence::Three, 0.001),
];

/// Counts over comparisons.
#[derive(Debug, Default)]
pub struct Tally {
    starred: [usize; 3],
    equivalent: usize,
    pairs: usize,
    count: usize,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, comparison: &Comparison) {
        for (count, (_, confidence, _)) in self.starred.iter_mut().zip(LEVELS) {
            *count += usize::from(comparison.confidence >= confidence);
        }
        self.equivalent += usize::from(is_equivalent(comparison));
        self.pairs += comparison.pairs;
        self.count += 1;
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many launch pairs it took, on average.
    pub fn pairs_per_comparison(&self) -> f64 {
        self.pairs as f64 / self.count as f64
    }

    /// For somebody who waits.
    pub fn in_short(&self) -> String {
        let [one, two, three] = self.starred;
        format!("{one} with *, {two} with **, {three} with ***")
    }
}

/// The numbers between which 99 of 100 counts lie if each of `n` is counted with this probability.
fn band(n: usize, probability: f64) -> (u64, u64) {
    let binomial = Binomial::new(probability, n as u64).expect("a probability");
    (binomial.inverse_cdf(0.005), binomial.inverse_cdf(0.995))
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| of {} comparisons | starred | share | nominal | 99 of 100 times it is |",
            self.count
        )?;
        writeln!(f, "|---|---|---|---|---|")?;
        let percent = |count: f64| 100.0 * count / self.count as f64;
        for (starred, (stars, _, level)) in self.starred.iter().zip(LEVELS) {
            let (least, most) = band(self.count, level);
            let outside =
                if (least..=most).contains(&(*starred as u64)) { "" } else { ": outside" };
            writeln!(
                f,
                "| `{stars}` | {starred} | {:.1} % | {:.1} % | {least} to {most}{outside} |",
                percent(*starred as f64),
                100.0 * level,
            )?;
        }
        writeln!(f, "\n{:.0} % equivalent", percent(self.equivalent as f64))
    }
}
