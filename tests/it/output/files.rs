//! The results file: its schema, and what happens with files that are none.

use cargo_bench_compare::report::{MarkdownOptions, Sort, Table, html, markdown, table};
use cargo_bench_compare::results::{Results, json_schema};
use proptest::prelude::*;
use serde_json::{Value, json};
use snapbox::assert_data_eq;

use super::handmade::{one_regression, results, simple};
use super::run;

#[test]
fn the_published_schema_is_that_of_the_program() {
    let schema = serde_json::to_string_pretty(&json_schema()).unwrap() + "\n";
    assert_data_eq!(schema, snapbox::file!["../../../docs/results.schema.json"].raw());
}

#[test]
fn every_field_is_documented() {
    let text = include_str!("../../../docs/results.md");
    let schema = json_schema();
    for object in [&schema, &schema["$defs"]["Comparison"]] {
        for name in object["properties"].as_object().unwrap().keys() {
            let names = [format!("`{name}`"), format!("`{name}[]`")];
            assert!(
                names.iter().any(|name| text.contains(name)),
                "{name} is not in docs/results.md"
            );
        }
    }
}

#[test]
fn comparisons_are_derived_anew_whatever_the_file_says_of_them() {
    let mut file = one_regression();
    let honest = Results::from_json(&file.to_string()).unwrap();
    let mut stored = serde_json::to_value(&honest).unwrap();
    stored["comparisons"][0]["verdict"] = json!("improved");
    stored["comparisons"][0]["benchmark"] = json!("forged");
    assert_eq!(Results::from_json(&stored.to_string()).unwrap(), honest);

    // With the file's own margin.
    file["measured"] = json!([simple("parse", 12, 1.0, 0.15)]);
    let verdict = |file: &Value| {
        let results = Results::from_json(&file.to_string()).unwrap();
        serde_json::to_value(results.comparisons[0].verdict).unwrap()
    };
    assert_eq!(verdict(&file), "inconclusive");
    file["margin_percent"] = json!(5.0);
    assert_eq!(verdict(&file), "equivalent");
}

#[test]
fn a_file_that_is_no_results_file_is_refused_in_words() {
    let directory = tempfile::tempdir().unwrap();
    let whole = one_regression().to_string();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut file = one_regression();
        change(&mut file);
        file.to_string()
    };
    let launch =
        |values: Value| with(&|file| file["measured"][0]["launches"][3]["values"] = values.clone());
    for (content, message) in [
        (String::new(), "not a results file of cargo-bench-compare"),
        ("{}".to_owned(), "missing field `schema_version`"),
        ("name = \"no JSON\"".to_owned(), "not a results file of cargo-bench-compare"),
        (whole[..whole.len() / 2].to_owned(), "not a results file of cargo-bench-compare"),
        (with(&|file| file["schema_version"] = json!(2)), "version 2, and this program reads 1"),
        (with(&|file| _ = file.as_object_mut().unwrap().remove("revisions")), "missing field"),
        (with(&|file| file["revisions"] = json!([])), "fewer than two revisions"),
        (with(&|file| _ = file["revisions"].as_array_mut().unwrap().pop()), "two revisions"),
        (with(&|file| file["margin_percent"] = json!(-2)), "a margin of -2 % is none"),
        (launch(json!([1.0])), "launch 4 has 1 values for 2 revisions"),
        (launch(json!([1.0, 2.0, 3.0])), "launch 4 has 3 values for 2 revisions"),
        (launch(json!([1.0, 0.0])), "launch 4 has the value 0"),
        (launch(json!([1.0, -1.0])), "launch 4 has the value -1"),
        (launch(json!([1.0, "NaN"])), "expected f64"),
        (with(&|file| file["measured"][0]["identical"] = json!([2])), "none of the revisions"),
        (
            with(&|file| file["measured"] = json!([simple("many", 1001, 1.0, 0.01)])),
            "p::t::many: there are more than 1000 launches",
        ),
    ] {
        std::fs::write(directory.path().join("bad.json"), &content).unwrap();
        let run = run(directory.path(), &["report", "bad.json"]).exits_with(2);
        assert!(run.stderr.contains(message), "{message}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: bad.json: "), "{}", run.stderr);
        assert_eq!(run.stdout, "");
    }
    for file in [".", "missing.json"] {
        let run = run(directory.path(), &["report", file]).exits_with(2);
        assert!(run.stderr.contains("cannot read the results"), "{}", run.stderr);
        assert!(run.stderr.contains(file), "{}", run.stderr);
    }
}

#[test]
fn a_file_for_results_is_tried_before_anything_is_built() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("directory")).unwrap();
    for (option, file) in [
        ("--save", "missing/results.json"),
        ("--output", "missing/results.json"),
        ("--save", "directory"),
        ("--output", "directory"),
        #[cfg(target_os = "linux")]
        ("--save", "/proc/results.json"),
        #[cfg(target_os = "linux")]
        ("--output", "/proc/results.json"),
        #[cfg(unix)]
        ("--save", "/dev/null"),
    ] {
        // Not even the repository, which there is none of, is looked at before.
        let run = run(directory.path(), &["a..b", option, file]).exits_with(2);
        assert!(run.stderr.contains(&format!("cannot write {file}")), "{}", run.stderr);
        assert!(run.stderr.contains(option), "{}", run.stderr);
    }
    #[cfg(unix)]
    for (option, file) in [("--output", "/dev/null"), ("--output", "new"), ("--save", "new")] {
        let run = run(directory.path(), &["a..b", option, file]);
        assert!(!run.stderr.contains("cannot write"), "{option} {file}: {}", run.stderr);
        assert!(!directory.path().join("new").exists(), "trying leaves nothing");
    }
}

/// Some content that a hostile file may have anywhere.
fn anything() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![Just(1e-300), Just(1e300), Just(1e99), Just(1e-99), Just(-0.0), Just(99.99)]
            .prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([1.0, null])),
        Just(json!([1e-99, 1e99])),
    ]
}

/// Replaces the node that is reached by taking, at each level, the child of that number.
fn replace(node: &mut Value, path: &[usize], content: Value) {
    let child = match (path, &mut *node) {
        ([step, ..], Value::Array(list)) if !list.is_empty() => {
            let index = step % list.len();
            &mut list[index]
        }
        ([step, ..], Value::Object(map)) if !map.is_empty() => {
            let index = step % map.len();
            map.values_mut().nth(index).unwrap()
        }
        _ => {
            *node = content;
            return;
        }
    };
    replace(child, &path[1..], content);
}

fn full() -> Value {
    let mut file = results(&["main", "HEAD", "topic"]);
    let launch = |values| json!({"group": 1, "order": [0, 1, 2], "values": values});
    let mut benchmark = simple("a", 0, 1.0, 0.0);
    benchmark["launches"] = json!([
        launch(json!([1.0, 2.0, null])),
        launch(json!([1.5, 2.5, 3.0])),
        launch(json!([1.4, 2.0, 3.0]))
    ]);
    let mut same = simple("b", 0, 1.0, 0.0);
    same["identical"] = json!([1]);
    file["measured"] = json!([benchmark, same]);
    let name = json!({"package": "p", "target": "t", "benchmark": "new", "revision": "topic"});
    file["added"] = json!([name]);
    file["removed"] = json!([name]);
    file["failed"] = json!([{
        "side": "head", "revision": "HEAD", "package": "p", "target": "t", "benchmark": null, "error": "x",
    }]);
    file
}

/// Reads a file and, if it can be read, makes every report of it.
fn use_file(content: &str) {
    if let Ok(results) = Results::from_json(content) {
        for (width, sort) in
            [(None, Sort::Name), (Some(80), Sort::Change), (Some(200), Sort::Regressions)]
        {
            let text = table(&results, Table { color: true, width, sort, all: false });
            assert!(text.ends_with('\n'));
        }
        let text =
            markdown(&results, &MarkdownOptions { limit: 2_000, ..MarkdownOptions::default() });
        assert!(text.len() <= 2_000);
        assert!(html(&results).ends_with("</html>"));
        let again = Results::from_json(&results.to_json()).expect("what was read can be written");
        assert_eq!(again.measured, results.measured);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(800) })]

    #[test]
    fn a_hostile_file_never_makes_the_program_panic(
        changes in proptest::collection::vec(
            (proptest::collection::vec(0usize..40, 1..7), anything()), 1..4),
    ) {
        let mut file = full();
        for (path, content) in changes {
            replace(&mut file, &path, content);
        }
        use_file(&file.to_string());
    }

    #[test]
    fn a_damaged_file_never_makes_the_program_panic(
        at in 0usize..3000, bytes in proptest::collection::vec(any::<u8>(), 0..3), cut in any::<bool>(),
    ) {
        let mut file = full().to_string().into_bytes();
        let at = at % file.len();
        let end = if cut { file.len() } else { (at + bytes.len()).min(file.len()) };
        file.splice(at..end, bytes);
        use_file(&String::from_utf8_lossy(&file));
    }
}

#[test]
fn what_is_saved_is_read_to_the_last_bit() {
    let values =
        [133_281.224_435_057_03, 10_994.594_703_431_007, 16_180.423_999_999_999, 0.1 + 0.2];
    let mut file = results(&["main", "HEAD"]);
    file["measured"] = json!([simple("a", values.len(), 1.0, 0.01)]);
    let mut saved = Results::from_json(&file.to_string()).unwrap();
    for (launch, value) in saved.measured[0].launches.iter_mut().zip(values) {
        launch.values = vec![Some(value), Some(2.0 * value)];
    }
    let again = Results::from_json(&saved.to_json()).unwrap();
    assert_eq!(again.measured, saved.measured);
    // In tests a library asks for it, too; in the installed program nobody else does.
    let manifest: toml::Table = toml::from_str(include_str!("../../../Cargo.toml")).unwrap();
    let features = manifest["dependencies"]["serde_json"].get("features");
    assert_eq!(features, Some(&toml::Value::from(vec!["float_roundtrip"])));
}
