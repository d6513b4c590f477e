//! `analyze` against Node.js's `compare.R`: its printed tables, its values, and what it dies of.

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_bench_compare::node_compare::{compare_rates, parse};
use cargo_bench_compare::stats::{benjamini_hochberg, welch_test};

use crate::support::{PROGRAM, Run};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/node-compare").join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(data(name)).unwrap()
}

fn analyze(name: &str, more: &[&str]) -> Run {
    Run::of(Command::new(PROGRAM).arg("analyze").arg(data(name)).args(more).output().unwrap())
}

/// R pads every line to the same length.
fn without_trailing_blanks(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn tables_and_footers_are_those_of_the_original_to_the_last_cell() {
    for (csv, table) in [
        ("real-buffer-creation.csv", "real-buffer-creation.table.txt"),
        ("real-buffer-creation.old-format.csv", "real-buffer-creation.table.txt"),
        ("synthetic.csv", "synthetic.table.txt"),
    ] {
        let printed = analyze(csv, &[]).exits_with(0).stdout;
        assert_eq!(
            without_trailing_blanks(&printed).trim_end(),
            without_trailing_blanks(&read(table)).trim_end(),
            "{csv}"
        );
    }
}

#[test]
fn values_are_those_of_the_original_to_nine_digits() {
    for stem in ["real-buffer-creation", "synthetic"] {
        let table = parse(&read(&format!("{stem}.csv"))).unwrap();
        let (rows, not_compared) = compare_rates(&table, "old", "new");
        assert!(not_compared.is_empty());
        let text = read(&format!("{stem}.full.csv"));
        let mut lines = text.lines().map(fields);
        let header = lines.next().unwrap();
        let mut q_values = Vec::new();
        let mut p_values = Vec::new();
        let mut compared = 0;
        for line in lines {
            let value = |column: &str| -> f64 {
                let position = header.iter().position(|name| name == column).unwrap();
                line[position].parse().unwrap()
            };
            let row = rows.iter().find(|row| row.name == line[0]).unwrap();
            let rates = &table.benchmarks[&line[0]];
            let test = welch_test(&rates["old"], &rates["new"]).unwrap();
            assert_eq!(row.test, Ok(test));
            close(row.improvement.value(), value("improvement_pct"), &line[0]);
            close(test.t, value("t"), &line[0]);
            close(test.degrees_of_freedom, value("df"), &line[0]);
            close(test.p_value, value("p"), &line[0]);
            for (accuracy, column) in
                test.accuracies.iter().zip(["acc_0.05", "acc_0.01", "acc_0.001"])
            {
                close(accuracy.value(), value(column), &line[0]);
            }
            // The invariant of the table: a star if and only if the improvement exceeds the accuracy.
            assert_eq!(test.p_value < 0.05, row.improvement.abs() > test.accuracies[0]);
            p_values.push(value("p"));
            q_values.push(value("p_bh"));
            compared += 1;
        }
        assert!(compared >= 30);
        for (ours, original) in benjamini_hochberg(&p_values).into_iter().zip(q_values) {
            close(ours, original, stem);
        }
    }
}

#[track_caller]
fn close(ours: f64, original: f64, what: &str) {
    let difference = (ours - original).abs() / original.abs().max(f64::MIN_POSITIVE);
    assert!(difference < 1e-9, "{what}: {ours} is not {original}");
}

/// The fields of a line in which every field is quoted.
fn fields(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('"').trim_end_matches('"');
    inner.split("\",\"").map(str::to_owned).collect()
}

#[test]
fn what_the_original_dies_of_is_said_in_words() {
    let says = |name: &str, code: i32, words: &str| {
        let run = analyze(&format!("edge/{name}.csv"), &[]).exits_with(code);
        let printed = run.stdout + &run.stderr;
        assert!(printed.contains(words), "{name}:\n{printed}");
        assert!(!printed.contains("NaN"), "{name}:\n{printed}");
    };
    says("constant_diff", 0, "a.js n=1: the rates do not vary, so there is no test");
    says("constant_equal", 0, "a.js n=1: the rates do not vary, so there is no test");
    says("empty", 2, "it is empty");
    says("header_only", 2, "it has no results");
    says("inf", 0, "a.js n=1: `old` has the rate inf");
    says("inf2", 0, "a.js n=1: `old` has the rate inf");
    says("interleaved_header", 0, "line 3: it has 1 fields instead of 5");
    says("only_new", 0, "a.js n=1: `old` has no rate for it");
    says("only_old", 0, "a.js n=1: `new` has no rate for it");
    says("one_run", 0, "there is only one rate on a side");
    says("two_vs_one", 0, "there is only one rate on a side");
    says("zero_old", 0, "the mean rate of `old` is 0");
}

#[test]
fn odd_but_sound_files_give_the_original_cells() {
    let row = |name: &str| -> String {
        let run = analyze(&format!("edge/{name}.csv"), &[]).exits_with(0);
        run.stdout.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("empty_conf"), "a/b.js 2.49 % ±6.88% ±20.81% ±99.76%");
    assert_eq!(row("quotes"), "url.js v=\"a,b\" n=1 2.49 % ±6.88% ±20.81% ±99.76%");
    assert_eq!(
        row("newline_in_conf"),
        "mime.js n=1 value='text/html\\nx' 2.49 % ±6.88% ±20.81% ±99.76%"
    );
    assert_eq!(row("one_side_constant"), "a.js n=1 * 105.00 % ±63.53% ±318.28% ±3183.10%");
    assert_eq!(row("unequal_n"), "a.js n=1 ** 7.28 % ±2.98% ±4.56% ±7.45%");
    // The original prints ±-6.88% here.
    assert_eq!(row("neg"), "a.js n=1 2.49 % ±6.88% ±20.81% ±99.76%");
}

#[test]
fn three_binaries_are_compared_with_the_first_or_with_the_one_that_is_named() {
    let run = analyze("seed-pr-8754-three-versions.csv", &[]).exits_with(0);
    let titles: Vec<&str> = run.stdout.lines().filter(|line| line.contains(" against ")).collect();
    assert_eq!(titles.len(), 2, "{}", run.stdout);
    assert!(titles.iter().all(|title| title.ends_with("against 6.6.0")), "{titles:?}");
    let last = titles[1].split(" against ").next().unwrap();
    let other = analyze("seed-pr-8754-three-versions.csv", &["--against", last]).exits_with(0);
    assert!(other.stdout.contains(&format!("6.6.0 against {last}")), "{}", other.stdout);
    let wrong = analyze("seed-pr-8754-three-versions.csv", &["--against", "6.7.0"]).exits_with(2);
    assert!(wrong.stderr.contains("6.6.0"), "{}", wrong.stderr);
}
