//! Results files made by hand: measured values that give whatever is wanted.

use serde_json::{Value, json};

/// A results file of these revisions, as JSON. What is measured is to be added.
pub fn results(revisions: &[&str]) -> Value {
    let revisions: Vec<Value> = revisions
        .iter()
        .enumerate()
        .map(|(position, label)| {
            json!({
                "label": label, "commit": format!("{position}0123456789abcdef0123456789abcdef0123456"),
                "dirty": false, "rustc": "rustc 1.95.0 (59807616e 2026-04-14)",
            })
        })
        .collect();
    json!({
        "schema_version": 1,
        "generator": "cargo-bench-compare 0.1.0",
        "command": "cargo bench-compare main..HEAD",
        "complete": true,
        "seed": 7,
        "runs": 12,
        "margin_percent": 2.0,
        "revisions": revisions,
        "environment": {
            "system": "linux x86_64", "kernel": "6.1.0", "cpu": "A Processor", "cores": 8, "load": 0.25,
        },
        "comparisons": [],
        "added": [],
        "removed": [],
        "failed": [],
        "notes": [],
        "measured": [],
    })
}

/// A benchmark that was measured in `pairs` launch groups: `base` nanoseconds at the reference, and a
/// multiple of that in each other revision, which varies from pair to pair by `spread` of itself.
pub fn measured(name: [&str; 3], pairs: usize, base: f64, factors: &[f64], spread: f64) -> Value {
    let launches: Vec<Value> = (0..pairs)
        .map(|pair| {
            // Evenly spread about zero, in no order, and no two alike in magnitude.
            let step = (pair * 7 + 3) % pairs.max(1);
            let off = spread * ((step as f64 + 0.4) / pairs as f64 - 0.5);
            let others = factors.iter().map(|factor| base * factor * (1.0 + off));
            let values: Vec<f64> = std::iter::once(base).chain(others).collect();
            let order: Vec<usize> = (0..=factors.len()).collect();
            json!({
                "group": pair + 1, "order": order,
                "values": values,
            })
        })
        .collect();
    let [package, target, benchmark] = name;
    json!({
        "package": package, "target": target, "benchmark": benchmark, "unit": "ns",
        "identical": [], "launches": launches,
    })
}

/// A benchmark of the target `p::t`, compared in two revisions.
pub fn simple(benchmark: &str, pairs: usize, factor: f64, spread: f64) -> Value {
    measured(["p", "t", benchmark], pairs, 1234.5, &[factor], spread)
}

/// One benchmark that got slower: the least that a report needs.
pub fn one_regression() -> Value {
    let mut file = results(&["main", "HEAD"]);
    file["measured"] = json!([simple("parse", 12, 1.2, 0.01)]);
    file
}
