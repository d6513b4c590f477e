//! Whether runs agree: what `report --agree` prints, and what merging refuses.

use serde_json::{Value, json};
use snapbox::{assert_data_eq, file, str};

use super::handmade::{results, simple};
use super::run;

/// Writes two runs: of one benchmark each that agrees, agrees with more noise, contradicts, is identical code, and is in
/// one run only.
fn two_runs(directory: &std::path::Path) {
    let write = |name: &str, seed: u64, measured: Value| {
        let mut file = results(&["main", "HEAD"]);
        file["seed"] = json!(seed);
        file["measured"] = measured;
        std::fs::write(directory.join(name), file.to_string()).unwrap();
    };
    let mut identical = simple("same code", 0, 1.0, 0.0);
    identical["identical"] = json!([1]);
    let first = json!([
        simple("agrees", 12, 1.2, 0.01),
        simple("noisy in one", 12, 1.0, 0.1),
        simple("contradicts", 12, 1.1, 0.01),
        simple("differs by less than the margin", 12, 1.005, 0.001),
        simple("once", 12, 1.0, 0.01),
        identical,
    ]);
    let second = json!([
        simple("agrees", 18, 1.2005, 0.012),
        simple("noisy in one", 12, 1.001, 0.004),
        simple("contradicts", 12, 0.9, 0.01),
        simple("differs by less than the margin", 12, 0.995, 0.001),
        identical,
    ]);
    write("first.json", 1, first);
    write("second.json", 2, second);
}

#[test]
fn agreement_noise_and_contradiction_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    two_runs(directory.path());
    let agree = ["report", "first.json", "second.json", "--agree"];
    let text = run(directory.path(), &agree).exits_with(0).stdout;
    assert_data_eq!(text, file!["../../snapshots/agreement.txt"]);

    let json = run(directory.path(), &[&agree[..], &["--format", "json"]].concat()).exits_with(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let answer = |name: &str| {
        let all = json["benchmarks"].as_array().unwrap();
        all.iter().find(|on| on["benchmark"] == name).unwrap()["answer"].clone()
    };
    assert_eq!(answer("agrees"), "agree");
    assert_eq!(answer("noisy in one"), json!({"noisier": 0}));
    assert_eq!(answer("contradicts"), "contradict");
    assert_eq!(answer("once"), "only-one");
    // With a wide margin nothing matters.
    let wide = run(directory.path(), &[&agree[..], &["--margin", "50%"]].concat()).exits_with(0);
    assert!(!wide.stdout.contains("contradict ("), "{}", wide.stdout);
}

#[test]
fn contradictions_are_open_in_markdown_and_commits_are_linked() {
    let directory = tempfile::tempdir().unwrap();
    two_runs(directory.path());
    let agree = ["report", "first.json", "second.json", "--agree", "--format", "markdown"];
    let links = ["--repository-url", "https://github.com/owner/name", "--ci-url", "https://ci/7"];
    let text = run(directory.path(), &[&agree[..], &links].concat()).exits_with(0).stdout;
    assert_data_eq!(text, file!["../../snapshots/agreement.md"].raw());
}

#[test]
fn what_cannot_agree_or_be_shown_is_refused_in_words() {
    let directory = tempfile::tempdir().unwrap();
    two_runs(directory.path());
    let mut other = results(&["main", "HEAD"]);
    other["revisions"][1]["commit"] = json!("ffff0123456789");
    std::fs::write(directory.path().join("other.json"), other.to_string()).unwrap();
    let refusal = |arguments: &[&str]| run(directory.path(), arguments).exits_with(2).stderr;
    assert_data_eq!(
        refusal(&["report", "first.json", "--agree"]),
        str![[r#"
error: one run alone cannot agree or disagree
  help: name two results files or more: cargo bench-compare report first.json second.json --agree

"#]]
    );
    assert_data_eq!(
        refusal(&["report", "first.json", "other.json", "--agree"]),
        str![[r#"
error: first.json and other.json have different revisions
  because: first.json: main (001234567), HEAD (101234567)
  because: other.json: main (001234567), HEAD (ffff01234)
  help: only results of the same commits, in the same order, can be merged

"#]]
    );
    assert_data_eq!(
        refusal(&["report", "first.json", "second.json", "--agree", "--format", "html"]),
        str![[r#"
error: agreement is shown as a table, as Markdown or as JSON
  help: leave out --format, or give --format markdown or --format json

"#]]
    );
    assert_data_eq!(
        refusal(&["report", "first.json", "second.json", "--format", "bencher"]),
        str![[r#"
error: this format has one document for one results file
  help: name a single results file, or merge them: cargo bench-compare merge FILE...

"#]]
    );
    assert_data_eq!(
        refusal(&["report", "first.json", "second.json", "--output", "x"]),
        str![[r#"
error: the results of several files cannot be written to one
  help: name a single results file with --output

"#]]
    );
    let merged = run(directory.path(), &["merge", "second.json", "first.json"]).exits_with(0);
    assert!(merged.stdout.contains("merged from 2 runs"), "{}", merged.stdout);
}
