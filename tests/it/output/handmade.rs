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

/// One of everything that a report of two revisions can have.
pub fn every_verdict() -> Value {
    let mut file = results(&["main", "HEAD"]);
    let mut cycles = measured(["p", "t", "in cycles"], 12, 41_234.0, &[1.5], 0.01);
    cycles["unit"] = json!("cycles");
    let mut identical = simple("the same code", 0, 1.0, 0.0);
    identical["identical"] = json!([1]);
    file["measured"] = json!([
        simple("three stars, slower", 12, 1.2, 0.01),
        simple("two stars, slower", 8, 1.2, 0.01),
        simple("one star, faster", 6, 0.5, 0.01),
        simple("faster, but less than the margin", 12, 0.995, 0.002),
        simple("equivalent", 12, 1.0, 0.004),
        simple("inconclusive", 12, 1.01, 0.3),
        simple("too few pairs", 3, 1.2, 0.01),
        simple("one pair", 1, 1.2, 0.01),
        simple("len=16", 12, 1.0, 0.004),
        simple("len=4", 12, 1.0, 0.004),
        simple("größe 漢字 👩‍🚀", 12, 1.0, 0.004),
        cycles,
        identical,
        simple("it failed later", 4, 1.0, 0.004),
    ]);
    file["added"] =
        json!([{"package": "p", "target": "t", "benchmark": "new", "revision": "HEAD"}]);
    file["removed"] = json!([
        {"package": "p", "target": "t", "benchmark": "old 10", "revision": "HEAD"},
        {"package": "p", "target": "t", "benchmark": "old 9", "revision": "HEAD"},
    ]);
    file["failed"] = json!([{
        "side": "head", "revision": "HEAD", "package": "p", "target": "t",
        "benchmark": "it failed later",
        "error": "the process exited with code 101; it printed:\nthread 'main' panicked:\nno luck",
    }]);
    file["notes"] = json!(["`p::u` is left out: it uses another harness"]);
    file
}

/// Many benchmarks that fail for one reason, and some for others.
pub fn one_reason() -> Value {
    let mut file = results(&["main", "HEAD"]);
    let failed = |side: &str, benchmark: Value, error: &str| {
        let revision = if side == "base" { "main" } else { "HEAD" };
        json!({"side": side, "revision": revision, "package": "p", "target": "t",
            "benchmark": benchmark, "error": error})
    };
    let missing = "valgrind is not installed:\nit is what counts the instructions";
    let many = (0..23).map(|n| failed("base", json!(format!("count {n}")), missing));
    let mut all: Vec<Value> = many.collect();
    all.insert(1, failed("head", json!("count 1"), missing));
    all.insert(3, failed("base", json!("timed"), "it panicked"));
    all.push(failed("head", json!("sorted"), "it hangs"));
    let mut target = failed("head", Value::Null, "it hangs");
    target["target"] = json!("u");
    all.push(target);
    file["failed"] = json!(all);
    file["measured"] = json!([simple("fine", 12, 1.0, 0.004)]);
    file
}

/// Three revisions, with a failure in one of them and one in the reference.
pub fn three_revisions() -> Value {
    let mut file = results(&["main", "first", "second"]);
    file["measured"] = json!([
        measured(["p", "t", "a"], 12, 1000.0, &[1.2, 0.8], 0.01),
        measured(["p", "t", "b"], 12, 1000.0, &[1.2, 0.8], 0.01),
        measured(["p", "t", "c"], 12, 1000.0, &[1.2, 0.8], 0.01),
    ]);
    file["failed"] = json!([
        {"side": "variant 2", "revision": "second", "package": "p", "target": "t",
            "benchmark": "b", "error": "it panicked"},
        {"side": "base", "revision": "main", "package": "p", "target": "t",
            "benchmark": "c", "error": "it panicked"},
    ]);
    file["added"] =
        json!([{"package": "p", "target": "t", "benchmark": "new", "revision": "second"}]);
    file
}
