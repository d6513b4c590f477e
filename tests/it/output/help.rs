//! Help, version, and wrong usage.

use snapbox::{assert_data_eq, file};

use super::run;

#[test]
fn help_says_what_there_is() {
    let directory = tempfile::tempdir().unwrap();
    let help = |arguments: &[&str]| {
        let run = run(directory.path(), arguments).exits_with(0);
        assert_eq!(run.stderr, "");
        run.stdout
    };
    assert_data_eq!(help(&["--help"]), file!["../../snapshots/help.txt"]);
    assert_data_eq!(help(&["-h"]), file!["../../snapshots/short-help.txt"]);
    assert_data_eq!(help(&["list", "--help"]), file!["../../snapshots/list-help.txt"]);
    assert_data_eq!(help(&["report", "--help"]), file!["../../snapshots/report-help.txt"]);
    assert_data_eq!(help(&["publish", "--help"]), file!["../../snapshots/publish-help.txt"]);
}

#[test]
fn the_program_is_the_same_whether_cargo_starts_it_or_the_user() {
    let directory = tempfile::tempdir().unwrap();
    for arguments in [&["--help"][..], &["list", "--help"], &["--version"], &["--margin", "x"]] {
        let alone = run(directory.path(), arguments);
        let by_cargo = run(directory.path(), &[&["bench-compare"], arguments].concat());
        assert_eq!(alone.stdout, by_cargo.stdout, "{arguments:?}");
        assert_eq!(alone.stderr, by_cargo.stderr, "{arguments:?}");
        assert_eq!(alone.code, by_cargo.code, "{arguments:?}");
    }
}

#[test]
fn the_version_is_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let version = run(directory.path(), &["--version"]).exits_with(0).stdout;
    let shape = regex::Regex::new(r"^cargo-bench-compare \d+\.\d+\.\d+\S*\n$").unwrap();
    assert!(shape.is_match(&version), "{version:?}");
}

#[test]
fn wrong_usage_is_told_in_words_and_exits_with_2() {
    let directory = tempfile::tempdir().unwrap();
    for (arguments, message) in [
        (&["a..b", "--margin", "two"][..], "`two` is not a percentage; write it like `2%`"),
        (&["a..b", "--margin", "0"], "must be more than 0 % and less than 100 %"),
        (&["a..b", "--margin=-1"], "must be more than 0 % and less than 100 %"),
        (&["a..b", "--margin", "NaN"], "is not a percentage"),
        (&["a..b", "--runs", "0"], "0 is not in 1..=1000"),
        (&["a..b", "--runs", "1001"], "1001 is not in 1..=1000"),
        (&["a..b..c"], "has more than one `..`; write a range like main..HEAD"),
        (&[""], "an empty revision"),
        (&["a..b", "--timeout", "0"], "must be longer than nothing"),
        (&["a..b", "--time-limit", "0s"], "must be longer than nothing"),
        (&["a..b", "--gate", "improvement"], "invalid value 'improvement'"),
        (&["a..b", "--no-such-option"], "unexpected argument '--no-such-option'"),
        (&["a..b", "--format", "xml"], "invalid value 'xml'"),
        (&["a..b", "--filter", "["], "--filter"),
        (&["report", "a", "b"], "cannot read the results"),
        (&["a", "b..c"], "`b..c` is a range, and stands alone"),
    ] {
        let run = run(directory.path(), arguments).exits_with(2);
        assert!(run.stderr.contains(message), "{arguments:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}
