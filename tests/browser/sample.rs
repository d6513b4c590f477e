//! Results to look at: what a run on a real, somewhat noisy machine might have brought.

use cargo_bench_compare::results::Results;
use fastrand::Rng;
use serde_json::{Value, json};

/// A benchmark of these results.
struct Bench {
    id: String,
    /// Nanoseconds at the reference.
    base: f64,
    /// Time of each other revision as a multiple of that.
    factors: Vec<f64>,
    /// Standard deviation of a launch pair's log-ratio.
    noise: f64,
    unit: &'static str,
    pairs: usize,
    /// The machine gets slower by so much during the run, for both sides.
    drift: f64,
    /// A launch pair in which the other side was disturbed.
    outlier: Option<usize>,
}

fn bench(id: &str, base: f64, factors: &[f64], noise: f64) -> Bench {
    let factors = factors.to_vec();
    Bench {
        id: id.to_owned(),
        base,
        factors,
        noise,
        unit: "ns",
        pairs: 27,
        drift: 0.03,
        outlier: None,
    }
}

fn measured(bench: &Bench, random: &mut Rng) -> Value {
    // About normal: the sum of twelve uniform numbers.
    let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
    let launches: Vec<Value> = (0..bench.pairs)
        .map(|pair| {
            let progress = pair as f64 / bench.pairs as f64;
            let machine = bench.base * (1.0 + bench.drift * progress + 0.01 * normal().abs());
            let mut values = vec![machine];
            for factor in &bench.factors {
                let disturbed =
                    if bench.outlier == Some(pair) { 1.0 + 9.0 * bench.noise } else { 1.0 };
                values.push(machine * factor * disturbed * (bench.noise * normal()).exp());
            }
            let order: Vec<usize> = (0..values.len()).collect();
            json!({"group": pair + 1, "method": "lockstep", "order": order, "values": values})
        })
        .collect();
    json!({"package": "sample", "target": "speed", "benchmark": bench.id, "unit": bench.unit,
        "identical": [], "launches": launches})
}

fn file(revisions: &[&str], benches: &[Bench], command: &str) -> Value {
    let mut random = Rng::with_seed(6);
    let revisions: Vec<Value> = revisions
        .iter()
        .enumerate()
        .map(|(position, label)| {
            let mut random = Rng::with_seed(position as u64);
            let commit: String =
                (0..40).map(|_| char::from_digit(random.u32(..16), 16).unwrap()).collect();
            json!({"label": label, "commit": commit, "dirty": false,
                "rustc": "rustc 1.95.0 (59807616e 2026-04-14)"})
        })
        .collect();
    json!({
        "schema_version": 1, "generator": "cargo-bench-compare 0.1.0", "command": command,
        "complete": true, "seed": 7, "runs": 27, "margin_percent": 2.0, "revisions": revisions,
        "environment": {"system": "linux x86_64", "kernel": "6.1.0", "cpu": "AMD EPYC", "cores": 8, "load": 0.4},
        "comparisons": [], "added": [], "removed": [], "failed": [], "notes": [],
        "measured": benches.iter().map(|bench| measured(bench, &mut random)).collect::<Vec<_>>(),
    })
}

fn results(file: &Value) -> Results {
    Results::from_json(&file.to_string()).expect("the sample is a results file")
}

/// A name of 120 characters without any place to break it.
pub const LONG: &str = "deserialize_owned_from_slice_with_unknown_fields_and_escapes::Vec<HashMap<Cow<'static,str>,Option<Box<[u8]>>>>/aaaaaaaaaa";

/// Two revisions, every verdict, sweeps, failures and everything else that a page can have.
pub fn two_revisions() -> Results {
    let mut benches = vec![
        bench("checksum", 10_850.0, &[1.2], 0.004),
        bench("find", 2332.0, &[0.667], 0.006),
        Bench { pairs: 12, ..bench("reverse", 2746.0, &[1.0001], 0.004) },
        Bench { outlier: Some(9), ..bench("format/float", 412.0, &[1.004], 0.004) },
        Bench { drift: 0.3, ..bench("sort random", 1.91e6, &[0.955], 0.01) },
        Bench { pairs: 40, ..bench("spawn threads", 61_000.0, &[1.012], 0.06) },
        Bench { unit: "instructions retired", ..bench("inflate", 912_345.0, &[0.99], 1e-5) },
        Bench { pairs: 12, ..bench(LONG, 5.2e6, &[1.031], 0.008) },
    ];
    for (n, factor) in [(100, 0.782), (1000, 0.9), (10_000, 1.02), (100_000, 1.152)] {
        benches.push(bench(&format!("parse/{n}"), 11.0 * f64::from(n), &[factor], 0.007));
    }
    for n in [100, 100_000] {
        for len in [4, 8, 16, 32] {
            let base = f64::from(n) * (90.0 + 4.0 * f64::from(len));
            let factor = if n == 100 { 1.002 } else { 1.0 - f64::from(len) / 400.0 };
            benches.push(bench(
                &format!("http/bench-parser n={n} len={len}"),
                base,
                &[factor],
                0.006,
            ));
        }
    }
    let mut file = file(&["main", "HEAD"], &benches, "cargo bench-compare main..HEAD --margin 2%");
    for id in ["render", "search"] {
        let same = json!({"package": "sample", "target": "docs", "benchmark": id, "unit": "ns",
            "identical": [1], "launches": []});
        file["measured"].as_array_mut().unwrap().push(same);
    }
    let missing = |benchmark: &str| json!({"package": "sample", "target": "speed", "benchmark": benchmark, "revision": "HEAD"});
    file["added"] = json!([missing("parse/1000000"), missing("parse borrowed")]);
    file["removed"] = json!([missing("parse slowly")]);
    file["failed"] = json!([{
        "side": "head", "revision": "HEAD", "package": "sample", "target": "speed", "benchmark": "decode",
        "error": "the process exited with code 101; it printed:\nthread 'main' panicked at src/decode.rs:73:14:\nindex out of bounds: the len is 4 but the index is 4",
    }]);
    file["gate"] = json!("regression");
    file["set_aside"] = json!([{"package": "sample", "target": "speed", "benchmark": "download",
        "reason": "depends on the network"}]);
    for benchmark in file["measured"].as_array_mut().unwrap() {
        if benchmark["benchmark"] == "spawn threads" {
            benchmark["margin_percent"] = json!(5.0);
        }
    }
    file["notes"] = json!(["`sample::old` uses divan, which cannot be measured yet; left out"]);
    results(&file)
}

/// Three ways of doing the same, compared with what there was before.
pub fn three_variants() -> Results {
    let mut benches = Vec::new();
    for (kind, step) in [("vec", 1.0), ("small-vec", 0.6)] {
        for len in [10, 100, 1000, 10_000] {
            let gain = step * f64::from(len).log10() / 12.0;
            let factors = [1.0 + 0.02 * step, 1.0 - gain, 1.0 - 0.4 * gain];
            let base = 40.0 + 3.1 * f64::from(len);
            benches.push(bench(&format!("create type={kind} len={len}"), base, &factors, 0.006));
        }
    }
    let revisions = ["v6.6.0", "push_back", "emplace_back", "assigning"];
    let command =
        "cargo bench-compare v6.6.0 push_back=topic~2 emplace_back=topic~1 assigning=topic";
    results(&file(&revisions, &benches, command))
}

/// So many benchmarks with 40 pairs each.
pub fn large(count: usize) -> Results {
    let benches: Vec<Bench> = (0..count)
        .map(|i| {
            let factor = 1.0 + [0.0, 0.0, 0.0, 0.15, -0.12, 0.004][i % 6];
            let id = format!("group-{}/case {}/{}", i / 40, i / 4, 10u64.pow((i % 4) as u32));
            Bench { pairs: 40, ..bench(&id, 100.0 + i as f64, &[factor], 0.008) }
        })
        .collect();
    results(&file(&["main", "HEAD"], &benches, "cargo bench-compare main..HEAD"))
}
