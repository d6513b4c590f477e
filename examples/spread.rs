//! How much one launch pair differs from the next, by the way in which its samples are summarised.
//!
//! Reads the raw samples that a comparison writes beside its results, and prints for each way the spread of the
//! log-ratios between launch pairs: the median over the benchmarks of their standard deviations, and of their
//! robust ones.
//!
//! usage: cargo run --example spread RESULTS.samples.jsonl

use std::collections::BTreeMap;

use cargo_bench_compare::stats::{median, quantile, robust_standard_deviation, trimmed_mean};
use serde::Deserialize;

#[derive(Deserialize)]
struct Line {
    package: String,
    target: String,
    benchmark: String,
    sides: Vec<Side>,
}

#[derive(Deserialize)]
struct Side {
    revision: String,
    iterations: Vec<f64>,
    totals: Vec<f64>,
}

impl Side {
    fn per_iteration(&self) -> Vec<f64> {
        self.totals.iter().zip(&self.iterations).map(|(total, n)| total / n).collect()
    }
}

/// A name, and the log-ratio of one launch pair.
type Way = (&'static str, fn(&[f64], &[f64]) -> Option<f64>);

const WAYS: [Way; 7] = [
    ("ratio of the smallest samples", |a, b| ratio(quantile(a, 0.0)?, quantile(b, 0.0)?)),
    ("ratio of the lower quartiles", |a, b| ratio(quantile(a, 0.25)?, quantile(b, 0.25)?)),
    ("ratio of the medians", |a, b| ratio(median(a)?, median(b)?)),
    ("ratio of the 40 %-trimmed means", |a, b| ratio(trimmed_mean(a, 0.4)?, trimmed_mean(b, 0.4)?)),
    ("median ratio of neighbours", |a, b| median_ratio(a, b, 1)),
    ("the same, of the first half", |a, b| median_ratio(a, b, 2)),
    ("the same, of the first quarter", |a, b| median_ratio(a, b, 4)),
];

/// Of the first samples: one in so many.
fn median_ratio(a: &[f64], b: &[f64], part: usize) -> Option<f64> {
    let ratios = a.iter().zip(b).map(|(a, b)| (b / a).ln());
    let ratios: Vec<f64> = ratios.take(a.len().div_ceil(part)).collect();
    (a.len() == b.len()).then(|| median(&ratios)).flatten()
}

fn ratio(a: f64, b: f64) -> Option<f64> {
    Some((b / a).ln()).filter(|d| d.is_finite())
}

fn main() {
    let file = std::env::args().nth(1).expect("usage: spread RESULTS.samples.jsonl");
    let text = std::fs::read_to_string(&file).expect("the file can be read");
    let mut log_ratios: [BTreeMap<String, Vec<f64>>; WAYS.len()] = Default::default();
    for line in text.lines() {
        let mut line: Line = serde_json::from_str(line).expect("a line of raw samples");
        // The order of measurement is random.
        line.sides.sort_by(|a, b| a.revision.cmp(&b.revision));
        let [base, head] = &line.sides[..] else { continue };
        let (base, head) = (base.per_iteration(), head.per_iteration());
        let name = format!("{}::{}::{}", line.package, line.target, line.benchmark);
        for ((_, way), log_ratios) in WAYS.iter().zip(&mut log_ratios) {
            log_ratios.entry(name.clone()).or_default().extend(way(&base, &head));
        }
    }
    println!("{:<32} {:>8} {:>8}", "spread between launch pairs", "robust", "plain");
    for ((name, _), log_ratios) in WAYS.iter().zip(&log_ratios) {
        let robust: Vec<f64> =
            log_ratios.values().filter_map(|d| robust_standard_deviation(d)).collect();
        let plain: Vec<f64> = log_ratios.values().filter_map(|d| standard_deviation(d)).collect();
        let percent = |spreads: &[f64]| 100.0 * median(spreads).unwrap_or(f64::NAN);
        println!("{name:<32} {:>6.2} % {:>6.2} %", percent(&robust), percent(&plain));
    }
}

fn standard_deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square_sum: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (n >= 2.0).then(|| (square_sum / (n - 1.0)).sqrt())
}
