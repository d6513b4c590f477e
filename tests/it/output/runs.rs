//! What whole runs print and save.

use cargo_bench_compare::results::{Results, json_schema};

use crate::support::{Fixture, bench, steady};

/// Two benchmarks, one of which gets slower.
fn fixture() -> Fixture {
    let body = steady("parse", "sample::TIME") + &steady("print", "500");
    let fixture = Fixture::with_bench("pub const TIME: u64 = 1000;\n", &bench(&body));
    fixture.write("src/lib.rs", "pub const TIME: u64 = 1250;\n");
    fixture.commit("head");
    fixture
}

#[test]
fn the_table_of_a_run_can_be_shown_again_and_its_file_follows_the_schema() {
    let fixture = fixture();
    let nothing_yet = fixture.run(&["report"]).exits_with(2);
    assert!(nothing_yet.stderr.contains("nothing has been compared in this repository yet"));

    let run = fixture.run(&["base..HEAD", "--runs", "2", "--save", "saved.json"]).exits_with(0);
    assert!(run.stdout.starts_with("2 inconclusive\n"), "{}", run.stdout);
    let command = "command      cargo bench-compare base..HEAD --runs 2 --save saved.json\n";
    assert!(run.stdout.ends_with(command), "{}", run.stdout);
    let of_file = fixture.run(&["report", "saved.json"]).exits_with(0);
    assert_eq!(of_file.stdout, run.stdout);
    assert_eq!(fixture.run(&["report"]).exits_with(0).stdout, run.stdout);

    // Progress is on standard error, in plain lines.
    for step in ["Comparing", "Measuring", "Saved saved.json"] {
        assert!(run.stderr.contains(step), "{}", run.stderr);
        assert!(!run.stdout.contains(step), "{}", run.stdout);
    }
    assert!(!run.stderr.contains(['\u{1b}', '\r']), "{:?}", run.stderr);

    let saved = std::fs::read_to_string(fixture.root().join("saved.json")).unwrap();
    let validator = jsonschema::validator_for(&json_schema()).unwrap();
    let value = serde_json::from_str(&saved).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let mut wrong = value.clone();
    wrong["revisions"] = "none".into();
    assert!(!validator.is_valid(&wrong));

    // The same results in the other form, from `report` and from a run.
    let json = fixture.run(&["report", "saved.json", "--format", "json"]).exits_with(0);
    assert_eq!(json.stdout, saved);
    let arguments = ["base..HEAD", "--runs", "1", "--format", "json", "--output", "out.json"];
    let run = fixture.run(&arguments).exits_with(0);
    assert_eq!(run.stdout, "");
    let written = Results::load(&fixture.root().join("out.json")).unwrap();
    let last = fixture.run(&["report", "--format", "json"]).exits_with(0).results();
    assert_eq!(written, last);
    assert_eq!((last.runs, last.comparisons[0].pairs), (Some(1), 1));
    fixture.assert_nothing_left_behind();
}
