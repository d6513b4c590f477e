//! The table, from results files made by hand.

use serde_json::{Value, json};
use snapbox::{assert_data_eq, file, str};
use unicode_width::UnicodeWidthStr;

use super::handmade::{
    every_verdict, measured, one_reason, one_regression, results, simple, three_revisions,
};
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
fn what_fails_for_one_reason_is_told_once_with_as_many_names_as_one_reads() {
    let file = one_reason();
    assert_data_eq!(table(&file, &[]), file!["../../snapshots/one-reason.txt"]);
    let all = table(&file, &["--all"]);
    assert!(all.contains("    - t::count 22\n") && !all.contains(" more"), "{all}");
}

#[test]
fn three_revisions_have_a_table_each_and_a_failure_of_one_hides_nothing_of_the_other() {
    let file = three_revisions();
    assert_data_eq!(table(&file, &[]), file!["../../snapshots/three-revisions.txt"]);
}

/// The lines of a table, up to the first empty one, that are no wider than that.
fn rows_within(text: &str, width: usize) -> Vec<&str> {
    let rows: Vec<&str> = text.lines().skip_while(|line| !line.is_empty()).skip(1).collect();
    let rows: Vec<&str> = rows.into_iter().take_while(|line| !line.is_empty()).collect();
    assert!(rows.len() > 2 && rows.iter().all(|row| row.width() <= width), "{width}: {text}");
    rows
}

#[test]
fn the_table_shows_what_there_is_room_for() {
    let file = every_verdict();
    let mut all = String::new();
    for width in ["60", "80", "100", "120", "150", "180"] {
        let text = table(&file, &["--width", width]);
        let answer = text.lines().next().unwrap();
        assert!(answer.starts_with("3 regressed, 2 improved, "), "{text}");
        all += &format!("{width}:\n{}\n\n", rows_within(&text, width.parse().unwrap()).join("\n"));
    }
    assert_data_eq!(all, file!["../../snapshots/widths.txt"]);
    // The rest of the lines are broken between words, but commands.
    let text = table(&file, &["--width", "80"]);
    let footer = text.lines().skip_while(|line| !line.starts_with("base  "));
    assert!(footer.clone().count() > 10 && footer.clone().all(|line| line.width() <= 80), "{text}");
}

#[test]
fn several_revisions_have_a_group_of_columns_each_or_a_table_each() {
    let mut file = three_revisions();
    let factors: &[&[f64]] = &[&[1.0, 1.01], &[0.995, 1.0]];
    for (factors, name) in factors.iter().zip(["unchanged/long name/n=1000", "small"]) {
        let new = measured(["p", "t", name], 12, 1234.5, factors, 0.004);
        file["measured"].as_array_mut().unwrap().push(new);
    }
    let mut all = String::new();
    for width in ["80", "90", "120"] {
        let text = table(&file, &["--width", width]);
        all += &format!("{width}:\n{}\n", text.split("\nAdded").next().unwrap());
    }
    let mut file = results(&["main", "one", "two", "three", "four", "five"]);
    file["measured"] =
        json!([measured(["p", "t", "a"], 12, 1000.0, &[1.2, 0.8, 1.0, 1.0, 1.1], 0.004)]);
    for width in ["120", "200"] {
        let text = table(&file, &["--width", width]);
        all += &format!("{width}:\n{}\n", text.split("\nbase").next().unwrap());
    }
    assert_data_eq!(all, file!["../../snapshots/groups.txt"]);
}

#[test]
fn what_the_first_revision_has_not_got_has_its_reference_s_time_in_that_one_s_columns() {
    let mut file = results(&["main", "first", "second"]);
    let mut new = measured(["p", "t", "new"], 12, 1000.0, &[1.0, 1.5], 0.01);
    new["reference"] = json!(1);
    for launch in new["launches"].as_array_mut().unwrap() {
        launch["values"][0] = json!(null);
    }
    file["measured"] = json!([measured(["p", "t", "a"], 12, 2000.0, &[1.2, 0.8], 0.01), new]);
    let text = table(&file, &["--width", "120"]);
    assert_data_eq!(
        text.split("\nbase").next().unwrap(),
        str![[r#"
first against main: 1 regressed
second against main: 1 regressed, 1 improved

          main                              first                             second
          time       improvement    (*)      time       improvement    (*)      time
 a    2.000 µs   ***    -16.66 % ±0.17%  2.400 µs   ***     25.01 % ±0.26%  1.600 µs
 new                                     999.9 ns   ***    -33.33 % ±0.00%  1.500 µs

"#]]
    );
    let line = "what main has not got is compared with the first that has it: `new` with first";
    assert!(text.contains(line), "{text}");
}

/// The names of the rows, in their order.
fn names(content: &Value, arguments: &[&str]) -> Vec<String> {
    let text = table(content, arguments);
    let rows = rows_within(&text, usize::MAX);
    rows[1..].iter().map(|row| row.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn what_comes_first_is_a_matter_of_choice() {
    let mut file = results(&["main", "HEAD"]);
    let mut identical = simple("same", 0, 1.0, 0.0);
    identical["identical"] = json!([1]);
    file["measured"] = json!([
        simple("slower", 12, 1.1, 0.01),
        simple("much-slower", 12, 2.1, 0.01),
        identical,
        simple("equal", 12, 1.0, 0.004),
        simple("faster", 12, 0.95, 0.01),
        simple("much-faster", 12, 0.5, 0.01),
        simple("noisy", 12, 1.1, 1.5),
    ]);
    let names = |arguments: &[&str]| names(&file, arguments).join(" ");
    let by_name = "equal faster much-faster much-slower noisy same slower";
    assert_eq!(names(&[]), by_name);
    assert_eq!(names(&["--sort", "name"]), by_name);
    let rest = "noisy equal same";
    assert_eq!(
        names(&["--sort", "regressions"]),
        format!("much-slower slower much-faster faster {rest}")
    );
    assert_eq!(
        names(&["--sort", "improvements"]),
        format!("much-faster faster much-slower slower {rest}")
    );
    let by_change = names(&["--sort", "change"]);
    assert!(by_change.starts_with("much-slower much-faster slower "), "{by_change}");
    assert!(by_change.ends_with(" equal same"), "{by_change}");
}

#[test]
fn options_that_a_form_has_no_use_for_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("r.json"), one_regression().to_string()).unwrap();
    let refused = |arguments: &[&str]| {
        let stderr = run(directory.path(), &[&["report", "r.json"], arguments].concat())
            .exits_with(2)
            .stderr;
        stderr.replace(".exe", "")
    };
    assert_data_eq!(
        refused(&["--format", "html", "--sort", "change"]),
        "error: --sort is for --format table; html has no use for it\n  \
         help: leave out --sort, or give --format table\n"
    );
    for (form, option) in [
        ("json", &["--all"][..]),
        ("csv", &["--width", "80"]),
        ("table", &["--ci-url", "https://example.org"]),
        ("bencher", &["--repository-url", "https://example.org"]),
    ] {
        let text = refused(&[&["--format", form], option].concat());
        assert!(text.starts_with(&format!("error: {} is for", option[0])), "{text}");
    }
    for option in [&["--all"][..], &["--sort", "change"], &["--gate", "regression"]] {
        let text = refused(&[&["r.json", "--agree"], option].concat());
        assert!(text.contains("cannot be used with"), "{text}");
    }
}

#[test]
fn colour_is_a_choice_wherever_tables_are_shown() {
    let directory = tempfile::tempdir().unwrap();
    let shard = |number: u32| {
        let mut file = one_regression();
        file["shard"] = json!({ "number": number, "of": 2, "split": "s" });
        file["measured"][0]["benchmark"] = json!(format!("b{number}"));
        std::fs::write(directory.path().join(format!("{number}.json")), file.to_string()).unwrap();
    };
    shard(1);
    shard(2);
    for words in [&["report", "1.json"][..], &["merge", "1.json", "2.json"]] {
        let shown = |color: &str| {
            let all = [words, &["--color", color]].concat();
            run(directory.path(), &all).exits_with(0).stdout.contains('\u{1b}')
        };
        assert!(shown("always") && !shown("never"), "{words:?}");
    }
}

#[test]
fn with_many_rows_those_that_say_little_are_counted_instead() {
    let mut file = results(&["main", "HEAD"]);
    let many = |count: usize, name: &'static str, factor: f64, spread: f64| {
        (0..count).map(move |n| simple(&format!("{name}-{n}"), 12, factor, spread))
    };
    let identical = many(5, "same", 1.0, 0.0).map(|mut benchmark| {
        benchmark["launches"] = json!([]);
        benchmark["identical"] = json!([1]);
        benchmark
    });
    let changed = many(3, "slower", 1.2, 0.01);
    let undecided = many(10, "noisy", 1.01, 0.3);
    file["measured"] =
        changed.chain(undecided).chain(identical).chain(many(22, "equal", 1.0, 0.004)).collect();
    // Forty are few.
    assert_eq!(names(&file, &[]).len(), 40);
    let more = |file: &mut Value, new: Value| file["measured"].as_array_mut().unwrap().push(new);
    more(&mut file, simple("one-more", 12, 1.0, 0.004));
    assert_eq!(names(&file, &["--all"]).len(), 41);
    let text = table(&file, &[]);
    assert!(text.contains("\nNot shown: 5 identical code; --all shows everything.\n\n"), "{text}");
    for n in 0..31 {
        more(&mut file, simple(&format!("undecided-{n}"), 12, 1.01, 0.3));
    }
    let text = table(&file, &[]);
    assert!(
        text.starts_with("3 regressed, 23 equivalent within 2 %, 41 inconclusive, 5 identical"),
        "{text}"
    );
    let said =
        "\nNot shown: 5 identical code, 23 equivalent within 2 %, 41 inconclusive; --all shows";
    assert!(text.contains(said), "{text}");
    // What changed is always shown: its name, and the line that says what is not.
    assert_eq!(names(&file, &[]), ["slower-0", "slower-1", "slower-2", "Not"]);
    assert_eq!(names(&file, &["--all"]).len(), 72);
    // Nor is anything lost in the other forms.
    let json = table(&file, &["--format", "json"]);
    assert_eq!(json.matches("\"verdict\"").count(), 72);
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

#[test]
fn a_tripped_gate_is_named_and_makes_the_exit_code_1_where_it_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = results(&["main", "HEAD"]);
    file["measured"] = json!([simple("slower", 12, 1.2, 0.01), simple("same", 12, 1.0, 0.01)]);
    let report = |file: &Value, arguments: &[&str], code: i32| {
        std::fs::write(directory.path().join("results.json"), file.to_string()).unwrap();
        let all = [&["report", "results.json"], arguments].concat();
        run(directory.path(), &all).exits_with(code).stdout
    };
    let tripped = "gate         tripped by slower: ";
    assert!(report(&file, &["--gate", "regression"], 1).contains(tripped));
    assert!(!report(&file, &[], 0).contains("gate "));
    let wide = report(&file, &["--gate", "regression", "--margin", "25%"], 0);
    assert!(wide.contains("gate         not tripped: "), "{wide}");
    // What the run was asked for is shown; whether it is judged again is another question.
    file["gate"] = json!("regression");
    assert!(report(&file, &[], 0).contains(tripped));
    assert!(!report(&file, &["--gate", "none"], 0).contains("gate "));
}

#[test]
fn what_the_measuring_took_is_told() {
    let mut file = results(&["main", "HEAD"]);
    let mut allocations = simple("b allocations", 1, 1.2, 0.0);
    allocations["counted_beside"] = json!("b");
    file["measured"] = json!([simple("a", 12, 1.0, 0.01), simple("b", 18, 1.0, 0.01), allocations]);
    file["measuring_seconds"] = json!(67.4);
    let text = table(&file, &[]);
    assert!(text.contains("\ntime         1m 7s for measuring, 33.7 s a benchmark\n"), "{text}");
    let mut identical = simple("same", 0, 1.0, 0.0);
    identical["identical"] = json!([1]);
    file["measured"] = json!([identical]);
    assert!(!table(&file, &[]).contains("\ntime "));
}

#[test]
fn what_the_time_was_not_enough_for_is_told() {
    let mut file = results(&["main", "HEAD"]);
    let mut undecided = simple("undecided", 7, 1.0, 0.1);
    undecided["stopped_by"] = json!([null, "time-limit"]);
    let mut never = simple("never", 0, 1.0, 0.1);
    never["stopped_by"] = json!([null, "time-limit"]);
    file["measured"] = json!([undecided, never, simple("decided", 12, 1.0, 0.001)]);
    file["time_limit_seconds"] = json!(90.0);
    let text = table(&file, &[]);
    let expected = "time limit   1m 30s was not enough to decide 2 of the comparisons\n";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("inconclusive; about 12 pairs would decide"), "{text}");
    file["measured"] = json!([simple("decided", 12, 1.0, 0.001)]);
    assert!(table(&file, &[]).contains("time limit   1m 30s was enough\n"));
    file["complete"] = json!(false);
    assert!(!table(&file, &[]).contains("time limit"));
    file["complete"] = json!(true);
    let mut identical = simple("same", 0, 1.0, 0.0);
    identical["identical"] = json!([1]);
    file["measured"] = json!([identical]);
    assert!(!table(&file, &[]).contains("time limit"));
}
