//! What is done with numbers once they are there: judging one comparison, and reading, judging and showing many.

use cargo_bench_compare::model::Percent;
use cargo_bench_compare::results::Results;
use cargo_bench_compare::stats::{judge, signed_rank_test};
use divan::{Bencher, black_box};
use serde_json::json;

fn main() {
    divan::main();
}

/// Log-ratios of about a percent, without ties, the same in every run.
fn log_ratios(pairs: usize, seed: u64) -> Vec<f64> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..pairs).map(|_| 0.02 * (random.f64() + random.f64() - 1.0)).collect()
}

#[divan::bench(args = [12, 40, 200])]
fn judge_one(bencher: Bencher, pairs: usize) {
    let d = log_ratios(pairs, 1);
    bencher.bench(|| judge(black_box(&d), Percent::new(2.0)));
}

#[divan::bench(args = [12, 40, 200])]
fn signed_rank(bencher: Bencher, pairs: usize) {
    let d = log_ratios(pairs, 1);
    bencher.bench(|| signed_rank_test(black_box(&d)));
}

#[divan::bench]
fn read_a_file_of_100_benchmarks(bencher: Bencher) {
    let text = results_file(100, 40);
    bencher.bench(|| Results::from_json(black_box(&text)));
}

fn results_file(benchmarks: u64, pairs: usize) -> String {
    let revision =
        |label| json!({"label": label, "commit": label, "dirty": false, "rustc": "rustc"});
    let measured: Vec<_> = (0..benchmarks)
        .map(|number| {
            let d = log_ratios(pairs, number);
            let launches: Vec<_> = d
                .iter()
                .enumerate()
                .map(|(group, d)| {
                    json!({"group": group + 1, "order": [0, 1], "values": [1000.0, 1000.0 * d.exp()]})
                })
                .collect();
            json!({"package": "p", "target": "t", "benchmark": format!("group/{number}"), "unit": "ns",
                "identical": [], "launches": launches})
        })
        .collect();
    json!({
        "schema_version": 1, "generator": "", "command": "", "complete": true, "seed": 0, "runs": pairs,
        "margin_percent": 2.0, "revisions": [revision("base"), revision("head")],
        "environment": {"system": ""}, "comparisons": [], "added": [], "removed": [], "failed": [],
        "notes": [], "measured": measured,
    })
    .to_string()
}
