//! The table, from results files made by hand.

use serde_json::{Value, json};
use snapbox::{assert_data_eq, file};

use super::handmade::{every_verdict, measured, one_regression, results, simple, three_revisions};
use super::{command, run};

/// The table that `report` prints of a file with this content.
fn table(content: &Value, arguments: &[&str]) -> String {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("results.json"), content.to_string()).unwrap();
    let all = [&["report", "results.json"], arguments].concat();
    run(directory.path(), &all).exits_with(0).stdout
}

#[test]
fn every_verdict_and_everything_below_the_table() {
    let file = every_verdict();
    assert_data_eq!(table(&file, &[]), file!["../../snapshots/every-verdict.txt"]);
}

#[test]
fn names_have_what_it_takes_to_tell_them_apart_and_the_circumstances_are_told() {
    let mut file = results(&["v1.0", "topic"]);
    file["measured"] = json!([
        measured(["parser", "speed", "short"], 12, 0.5, &[1.2], 0.01),
        measured(["parser", "memory", "short"], 12, 12_345.0, &[1.2], 0.01),
        measured(["printer", "speed", "short"], 12, 3.2e9, &[1.2], 0.01),
    ]);
    file["failed"] = json!([{
        "side": "base", "revision": "v1.0", "package": "printer", "target": "memory",
        "benchmark": null, "error": "no benchmark began within 1m",
    }]);
    file["complete"] = json!(false);
    file["revisions"][1]["dirty"] = json!(true);
    file["revisions"][1]["rustc"] = json!("rustc 1.96.0");
    file["environment"] = json!({
        "system": "other", "kernel": null, "cpu": null, "cores": null, "load": null,
    });
    assert_data_eq!(table(&file, &[]), file!["../../snapshots/several-packages.txt"]);
}

#[test]
fn three_revisions_have_a_table_each_and_a_failure_of_one_hides_nothing_of_the_other() {
    let file = three_revisions();
    assert_data_eq!(table(&file, &[]), file!["../../snapshots/three-revisions.txt"]);
}

#[test]
fn nothing_that_was_compared_is_said_too() {
    let answer = table(&results(&["main", "HEAD"]), &[]);
    assert!(answer.starts_with("nothing was compared\n"), "{answer}");
}

#[test]
fn expected_false_stars_count_only_where_stars_are_in_reach() {
    let mut file = results(&["main", "HEAD"]);
    let (many, few) = (simple("a", 12, 1.0, 0.1), simple("b", 5, 1.0, 0.1));
    file["measured"] = json!([many, few]);
    let both = table(&file, &[]);
    let expected = "2 of 5 to 12 launch pairs each; if nothing had changed, 0.05 at *, 0.01 at **, \
                    0.001 at *** would be expected to be starred\n";
    assert!(both.contains(expected), "{both}");
    file["measured"] = json!([few]);
    let few = table(&file, &[]);
    let expected =
        "0 at *, 0 at **, 0 at *** would be expected to be starred; * needs at least 6 pairs";
    assert!(few.contains(expected), "{few}");
}

#[test]
fn nothing_in_a_file_reaches_the_terminal_but_text() {
    let evil = "evil\u{1b}[2J\u{1b}]0;title\u{7}\r\u{9b}31m\u{202e}\n\u{7f}";
    let mut file = results(&["main", evil]);
    let name = json!({"package": evil, "target": evil, "benchmark": evil, "revision": evil});
    let mut bad = measured([evil, evil, evil], 3, 1000.0, &[1.2], 0.01);
    bad["unit"] = json!(evil);
    file["measured"] = json!([bad, simple("good", 12, 1.2, 0.01)]);
    file["added"] = json!([name]);
    file["removed"] = json!([name]);
    file["failed"] = json!([{
        "side": evil, "revision": evil, "package": evil, "target": evil, "benchmark": evil, "error": evil,
    }, {
        "side": evil, "revision": evil, "package": evil, "target": evil, "benchmark": null, "error": evil,
    }]);
    file["notes"] = json!([evil]);
    for field in ["command", "generator"] {
        file[field] = json!(evil);
    }
    for field in ["commit", "rustc"] {
        file["revisions"][0][field] = json!(evil);
    }
    for field in ["system", "kernel", "cpu"] {
        file["environment"][field] = json!(evil);
    }
    let printed = table(&file, &["--color", "always"]);
    assert!(printed.contains("evil"));
    let own_colors = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    let rest = own_colors.replace_all(&printed, "");
    let bad: Vec<char> =
        rest.chars().filter(|c| c.is_control() && *c != '\n' || *c == '\u{202e}').collect();
    assert!(bad.is_empty(), "{bad:?} in {rest:?}");
    // What it would take to colour anything has not come from the file.
    assert!(!printed.contains("\u{1b}[2J") && !printed.contains("31m\u{202e}"));

    // Errors quote what is wrong in a file.
    file["measured"][0]["launches"][0]["values"] = json!([1.0]);
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("results.json"), file.to_string()).unwrap();
    let arguments = ["report", "results.json", "--color", "always"];
    let error = run(directory.path(), &arguments).exits_with(2).stderr;
    assert!(error.contains("evil"), "{error}");
    assert!(!own_colors.replace_all(&error, "").contains('\u{1b}'), "{error:?}");
}

#[test]
fn colors_are_used_only_where_they_are_wanted() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("results.json"), one_regression().to_string()).unwrap();
    let colored = |arguments: &[&str], variables: &[(&str, &str)]| {
        let all = [&["report", "results.json"], arguments].concat();
        let output =
            command(directory.path(), &all).envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().contains("\u{1b}[31m")
    };
    assert!(!colored(&[], &[]), "a pipe");
    assert!(colored(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!colored(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(colored(&["--color", "always"], &[]));
    assert!(colored(&["--color", "always"], &[("NO_COLOR", "1")]));

    let output = ["report", "results.json", "--color", "always", "--output", "table.txt"];
    run(directory.path(), &output).exits_with(0);
    let file = std::fs::read_to_string(directory.path().join("table.txt")).unwrap();
    assert!(file.contains("regressed") && !file.contains('\u{1b}'), "{file:?}");
}
