//! Results for other programs.

use std::path::Path;

use cargo_bench_compare::node_compare;
use cargo_bench_compare::report::{bencher, csv, github_action_benchmark, one_line};
use cargo_bench_compare::results::Results;
use proptest::prelude::*;
use serde_json::{Value, json};
use snapbox::assert_data_eq;

use super::handmade::{every_verdict, measured, results, simple, three_revisions};
use super::run;

/// A few launches of benchmarks with parameters.
fn few() -> Value {
    let mut file = results(&["main", "HEAD"]);
    let mut cycles = simple("in cycles", 2, 2.0, 0.01);
    cycles["unit"] = json!("cycles");
    let mut identical = simple("the same code", 0, 1.0, 0.0);
    identical["identical"] = json!([1]);
    let mut failed = simple("failed later", 2, 1.0, 0.01);
    failed["launches"][1]["values"][1] = json!(null);
    file["measured"] = json!([
        simple("http/bench-parser n=100000 len=16", 2, 0.8, 0.01),
        simple("parse/100", 2, 1.2, 0.01),
        simple("a \"name\", with a comma", 2, 1.0, 0.01),
        measured(["p", "t", "tiny and huge"], 2, 1e-7, &[1e40], 0.01),
        cycles,
        identical,
        failed,
    ]);
    file["failed"] = json!([{
        "side": "head", "revision": "HEAD", "package": "p", "target": "t",
        "benchmark": "failed later", "error": "it panicked",
    }]);
    file
}

fn printed(content: &Value, format: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("results.json"), content.to_string()).unwrap();
    run(directory.path(), &["report", "results.json", "--format", format]).exits_with(0).stdout
}

#[test]
fn every_launch_as_node_js_writes_it() {
    assert_data_eq!(printed(&few(), "csv"), snapbox::file!["../../snapshots/few.csv"].raw());
}

#[test]
fn metrics_for_bencher() {
    let text = printed(&few(), "bencher");
    assert_data_eq!(text.clone(), snapbox::file!["../../snapshots/few.bencher.json"].raw());
    // The published form: names, in them measures, in them numbers.
    let number = json!({"type": "number"});
    let schema = json!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "type": "object",
                "required": ["value"],
                "properties": {"value": number, "lower_value": number, "upper_value": number},
                "additionalProperties": false,
            },
        },
    });
    let value: Value = serde_json::from_str(&text).unwrap();
    assert!(jsonschema::is_valid(&schema, &value), "{text}");
    let labelled = printed(&three_revisions(), "bencher");
    let labelled: Value = serde_json::from_str(&labelled).unwrap();
    let names: Vec<&String> = labelled.as_object().unwrap().keys().collect();
    assert_eq!(names, ["a (first)", "a (second)", "b (first)"]);
}

#[test]
fn a_list_for_github_action_benchmark() {
    let text = printed(&few(), "github-action-benchmark");
    assert_data_eq!(text, snapbox::file!["../../snapshots/few.github-action-benchmark.json"].raw());
}

/// What `analyze` prints of the CSV of these results.
fn analyzed(directory: &Path, content: &Value, arguments: &[&str]) -> String {
    std::fs::write(directory.join("rates.csv"), printed(content, "csv")).unwrap();
    run(directory, &[&["analyze", "rates.csv"], arguments].concat()).exits_with(0).stdout
}

#[test]
fn the_csv_can_be_analyzed_and_comes_to_the_same_improvements() {
    let directory = tempfile::tempdir().unwrap();
    let text = analyzed(directory.path(), &every_verdict(), &[]);
    for (name, improvement) in [("three stars, slower ", -16.66), ("one star, faster ", 100.03)] {
        let row =
            text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}"));
        let cells: Vec<&str> = row[name.len()..].split_whitespace().collect();
        assert_eq!((cells[0], cells[2]), ("***", "%"), "{row}");
        assert!((cells[1].parse::<f64>().unwrap() - improvement).abs() < 0.1, "{row}");
    }
    assert!(!text.contains("the same code") && !text.contains("it failed later"), "{text}");

    let text = analyzed(directory.path(), &three_revisions(), &["--against", "second"]);
    assert!(
        text.contains("main against second\n") && text.contains("first against second\n"),
        "{text}"
    );
}

/// The rates that the CSV has of every benchmark and side.
fn rates(content: &Value) -> node_compare::RateTable {
    let results = Results::from_json(&content.to_string()).unwrap();
    let table = node_compare::parse(&csv(&results)).unwrap();
    assert!(table.stray.is_empty(), "{:?}", table.stray);
    table
}

#[test]
fn parameters_are_not_told_apart_where_names_would_become_the_same() {
    let mut file = results(&["main", "HEAD"]);
    file["measured"] = json!([simple("parse/100", 2, 1.0, 0.01), simple("other/1", 2, 1.0, 0.01)]);
    assert_eq!(rates(&file).benchmarks.keys().collect::<Vec<_>>(), ["other 1", "parse 100"]);
    file["measured"] =
        json!([simple("parse/100", 2, 1.0, 0.01), simple("parse 100", 2, 1.0, 0.01)]);
    assert_eq!(rates(&file).benchmarks.keys().collect::<Vec<_>>(), ["parse 100", "parse/100"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn whatever_the_names_every_launch_is_in_the_csv(
        names in proptest::collection::btree_set("([a-z\"',;=/|\n\r\t ]|[0-9]|.){1,12}", 1..5),
        values in proptest::collection::vec(1e-3..1e12f64, 6),
    ) {
        // What is read in one line is told apart in one line.
        let mut names: Vec<String> = names.iter().map(|name| one_line(name).trim().to_owned()).collect();
        names.dedup();
        names.retain(|name| !name.is_empty());
        prop_assume!(!names.is_empty());
        let mut file = results(&["main", "HEAD"]);
        let launches: Vec<Value> = values
            .chunks(2)
            .map(|pair| json!({"group": 1, "order": [0, 1], "values": pair}))
            .collect();
        let benchmarks = names.iter().map(|name| {
            let mut benchmark = simple(name, 0, 1.0, 0.0);
            benchmark["launches"] = json!(launches);
            benchmark
        });
        file["measured"] = benchmarks.collect();
        let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
        prop_assume!(distinct.len() == names.len());
        let table = rates(&file);
        prop_assert_eq!(table.benchmarks.len(), names.len(), "{:?}", table.benchmarks.keys());
        for sides in table.benchmarks.values() {
            for (position, side) in ["old", "new"].into_iter().enumerate() {
                for (rate, pair) in sides[side].iter().zip(values.chunks(2)) {
                    prop_assert!((rate * pair[position] / 1e9 - 1.0).abs() < 1e-12);
                }
            }
        }
        let results = Results::from_json(&file.to_string()).unwrap();
        let metrics: Value = serde_json::from_str(&bencher(&results)).unwrap();
        prop_assert_eq!(metrics.as_object().unwrap().len(), names.len());
        let list: Value = serde_json::from_str(&github_action_benchmark(&results)).unwrap();
        prop_assert_eq!(list.as_array().unwrap().len(), names.len());
    }
}
