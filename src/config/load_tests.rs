//! Files of configuration, good and bad.

use crate::config::{FILE_NAME, option_keys};
use std::fmt::Write as _;

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Command};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::commands::Quantity;
use crate::model::{Percent, TargetName};

fn keys() -> Vec<OptionKey> {
    let arg = |long: &'static str| Arg::new(long).long(long);
    let command = Command::new("x")
        .arg(Arg::new("revisions").num_args(0..))
        .arg(arg("margin"))
        .arg(arg("runs"))
        .arg(arg("filter").action(ArgAction::Append))
        .arg(arg("save").value_parser(ValueParser::path_buf()))
        .arg(arg("locked").action(ArgAction::SetTrue).help_heading("Cargo"))
        .arg(arg("features").action(ArgAction::Append).help_heading("Cargo"));
    option_keys(&command, "Cargo")
}

/// A directory with these files, not within a repository unless one of them makes it one.
fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    directory
}

fn load_in(directory: &Path, manifests: bool) -> Result<Config> {
    let search = Search { directory, file: None, manifest_path: None, manifests };
    Config::load(&search, &keys())
}

fn load(text: &str) -> Result<Config> {
    load_in(directory(&[(FILE_NAME, text)]).path(), false)
}

fn words(config: &Config) -> Vec<&str> {
    let words = config.options.iter().flat_map(|option| &option.words);
    words.map(|(word, _)| word.as_str()).collect()
}

#[test]
fn everything_that_can_be_said_is_read() {
    let config = load(
        r#"
        revisions = "main...HEAD"
        margin = 3
        filter = ["parse", "print"]

        [cargo]
        locked = true
        features = "fast"

        [target.own]
        harness = "json-lines"

        [[benchmark]]
        match = "^parse/"
        margin = "5%"
        timeout = "2m"
        lockstep = "off"

        [[set-aside]]
        id = "parse/flaky"
        target = "timing"
        reason = "depends on the weather"

        [[command]]
        name = "tool"
        run = "{bin} --size {n} {params} 'a b'"
        build = ["cargo", "build", "--release"]
        bin = "target/release/tool"
        params = { n = [100, 100000], len = "4" }
        measure = "cpu-time"
        env = { LEVEL = 3, DATA = "{worktree}/data" }
        timeout = 5
        "#,
    )
    .unwrap();
    assert_eq!(
        words(&config),
        [
            "main...HEAD",
            "--margin=3",
            "--filter=parse",
            "--filter=print",
            "--locked",
            "--features=fast"
        ]
    );
    let target = TargetName { package: "p".to_owned(), target: "own".to_owned() };
    assert_eq!(config.rules.custom_harness(&target), Some(CustomHarness::JsonLines));
    let timing = TargetName { package: "p".to_owned(), target: "timing".to_owned() };
    let flaky = timing.benchmark("parse/flaky");
    assert_eq!(config.rules.margin(&flaky), Some(Percent::new(5.0)));
    assert_eq!(config.rules.reason_to_set_aside(&flaky), Some("depends on the weather"));
    assert!(!config.rules.may_keep_step(&flaky));
    let [command] = &config.commands[..] else { panic!("{:?}", config.commands) };
    assert_eq!(command.quantity, Quantity::CpuTime);
    let run: Vec<String> = command.run.iter().map(ToString::to_string).collect();
    assert_eq!(run, ["{bin}", "--size", "{n}", "{params}", "a b"]);
    assert_eq!(command.combinations(&[]).len(), 2);
    assert_eq!(command.timeout, Some(std::time::Duration::from_secs(5)));
}

/// What is wrong, and what is said of it. One file of snapshots, because the words are what matters.
#[test]
fn what_is_wrong_is_told_with_its_line_and_what_to_do() {
    let cases = [
        "margn = 2",
        "features = ['x']",
        "[cargo]\nlockd = true",
        "[cargo]\nlocked = 'yes'",
        "margin = [1, 2]",
        "margin = { x = 1 }",
        "runs = 2 runs",
        "[benchmark]\nid = 'x'",
        "[[benchmark]]\nmargin = 2",
        "[[benchmark]]\nid = 'x'",
        "[[benchmark]]\nid = 'x'\nmargin = 'two'",
        "[[benchmark]]\nid = 'x'\nmargin = 100",
        "[[benchmark]]\nid = 'x'\ntimeout = '0s'",
        "[[benchmark]]\nid = 'x'\nmatch = 'y'\nmargin = 2",
        "[[benchmark]]\nmatch = '('\nmargin = 2",
        "[[benchmark]]\nid = 'x'\nlockstep = 'of'",
        "[[benchmark]]\nid = 'x'\nmargins = 2",
        "[[set-aside]]\nid = 'x'",
        "[[set-aside]]\nid = 'x'\nreason = ' '",
        "[[set-aside]]\nreason = 'why not'",
        "[[setaside]]\nid = 'x'",
        "[target.own]\n",
        "[target.own]\nharness = 'json'",
        "[[command]]\nrun = 'x'",
        "[[command]]\nname = 'x'",
        "[[command]]\nname = ''\nrun = 'x'",
        "[[command]]\nname = 'x'\nrun = \"x 'y\"",
        "[[command]]\nname = 'x'\nrun = ''",
        "[[command]]\nname = 'x'\nrun = '{bn} y'",
        "[[command]]\nname = 'x'\nrun = ['{bin', 'y']",
        "[[command]]\nname = 'x'\nrun = []",
        "[[command]]\nname = 'x'\nrun = 'y'\nparams = { n = [1] }",
        "[[command]]\nname = 'x'\nrun = 'y {params}'\nparams = { n = [] }",
        "[[command]]\nname = 'x'\nrun = 'y {params}'\nparams = { n = [[1]] }",
        "[[command]]\nname = 'x'\nrun = 'y'\nparams = { bin = 1 }",
        "[[command]]\nname = 'x'\nrun = 'y'\nparams = { 'a b' = 1 }",
        "[[command]]\nname = 'x'\nrun = 'y'\nmeasure = 'walltime'",
        "[[command]]\nname = 'x'\nrun = 'y'\nbin = 'z'",
        "[[command]]\nname = 'x'\nrun = '{bin}'\nbin = '{params}'",
        "[[command]]\nname = 'x'\nrun = 'y'\nenv = { 'A=B' = 1 }",
        "[[command]]\nname = 'x'\nrun = 'y'\nshell = true",
        "[[command]]\nname = 'x'\nrun = 'y'\n\n[[command]]\nname = 'x'\nrun = 'z'",
    ];
    let mut all = String::new();
    for case in cases {
        let error = load(case).expect_err(case);
        assert_eq!(error.kind(), crate::system::ErrorKind::Usage, "{case}");
        let text = error.to_string();
        assert!(text.starts_with("bench-compare.toml:"), "{case}: {text}");
        _ = writeln!(all, "{case}\n\n{text}\n\n----");
    }
    snapbox::assert_data_eq!(all, snapbox::file!["../../tests/snapshots/wrong-configuration.txt"]);
}

#[test]
fn too_many_combinations_are_refused() {
    let values: Vec<String> = (0..101).map(|number| number.to_string()).collect();
    let values = values.join(",");
    let text = format!(
        "[[command]]\nname = 'x'\nrun = 'y {{params}}'\nparams = {{ a = [{values}], b = [{values}] }}"
    );
    let error = load(&text).unwrap_err().to_string();
    assert!(error.contains("10201 combinations"), "{error}");
}

#[test]
fn the_nearest_file_counts_up_to_the_top_of_the_repository() {
    let top = "margin = 1";
    let made = directory(&[("repo/.git/HEAD", ""), ("repo/a/b/x", ""), (FILE_NAME, "margin = 9")]);
    let deep = made.path().join("repo/a/b");
    assert!(load_in(&deep, false).unwrap().options.is_empty());
    fs::write(made.path().join("repo").join(FILE_NAME), top).unwrap();
    assert_eq!(words(&load_in(&deep, false).unwrap()), ["--margin=1"]);
    fs::write(made.path().join("repo/a").join(FILE_NAME), "margin = 2").unwrap();
    assert_eq!(words(&load_in(&deep, false).unwrap()), ["--margin=2"]);
    // Outside of any repository, what lies above is somebody else's.
    let outside = directory(&[(FILE_NAME, top), ("a/x", "")]);
    assert!(load_in(&outside.path().join("a"), false).unwrap().options.is_empty());
    assert_eq!(words(&load_in(outside.path(), false).unwrap()), ["--margin=1"]);
}

const WORKSPACE: &str = r#"
[workspace]
members = ["a", "b"]
[workspace.metadata.bench-compare]
margin = 1
runs = 10
[workspace.metadata.other]
unknown = true
[[workspace.metadata.bench-compare.benchmark]]
match = "x"
margin = 4
"#;

fn package(name: &str, metadata: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
         [package.metadata.bench-compare]\n{metadata}\n"
    )
}

#[test]
fn the_file_comes_before_the_package_and_the_package_before_the_workspace() {
    let a =
        package("a", "margin = 2\nsave = 'a.json'\nset-aside = [{ id = 'x', reason = 'of a' }]");
    let b = package("b", "margin = 3\nset-aside = [{ match = 'x', reason = 'of b' }]");
    let made = directory(&[
        (".git/HEAD", ""),
        ("Cargo.toml", WORKSPACE),
        ("a/Cargo.toml", &a),
        ("a/src/lib.rs", ""),
        ("b/Cargo.toml", &b),
        ("b/src/lib.rs", ""),
    ]);
    let top = made.path().canonicalize().unwrap();
    let name = |package: &str| {
        TargetName { package: package.to_owned(), target: "t".to_owned() }.benchmark("x")
    };
    let in_a = load_in(&top.join("a"), true).unwrap();
    let save = format!("--save={}", top.join("a/a.json").display());
    assert_eq!(words(&in_a), ["--margin=2", &save, "--runs=10"]);
    // What is about benchmarks counts for every package, but for its own only.
    assert_eq!(in_a.rules.reason_to_set_aside(&name("a")), Some("of a"));
    assert_eq!(in_a.rules.reason_to_set_aside(&name("b")), Some("of b"));
    assert_eq!(in_a.rules.reason_to_set_aside(&name("c")), None);
    assert_eq!(in_a.rules.margin(&name("c")), Some(Percent::new(4.0)));
    assert_eq!(words(&load_in(&top, true).unwrap()), ["--margin=1", "--runs=10"]);
    fs::write(top.join(FILE_NAME), "margin = 7").unwrap();
    assert_eq!(words(&load_in(&top.join("a"), true).unwrap()), ["--margin=7", &save, "--runs=10"]);
}

#[test]
fn a_mistake_in_a_manifest_is_told_with_the_line_in_it() {
    let made = directory(&[
        (".git/HEAD", ""),
        ("Cargo.toml", &package("a", "margin = 2\nrunz = 3")),
        ("src/lib.rs", ""),
    ]);
    let error = load_in(&made.path().canonicalize().unwrap(), true).unwrap_err().to_string();
    assert!(error.starts_with("Cargo.toml:7: there is no setting `runz` here"), "{error}");
    fs::write(made.path().join("Cargo.toml"), "[package\n").unwrap();
    let config = load_in(made.path(), true).unwrap();
    assert_eq!(config.notes.len(), 1, "{:?}", config.notes);
}

fn any_key() -> impl Strategy<Value = String> {
    let known = ["margin", "filter", "cargo", "benchmark", "set-aside", "command", "target"];
    prop_oneof![
        proptest::sample::select(known.to_vec()).prop_map(str::to_owned),
        "[a-z-]{1,8}",
        "\"[^\"\\\\\\p{C}]{0,6}\"",
    ]
}

fn any_value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(|number| number.to_string()),
        any::<bool>().prop_map(|truth| truth.to_string()),
        "'[^'\\p{C}]{0,8}'",
        Just("2.5".to_owned()),
        Just("1979-05-27".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3)
                .prop_map(|values| format!("[{}]", values.join(", "))),
            proptest::collection::btree_map(any_key(), inner, 0..3).prop_map(|fields| {
                let fields: Vec<String> =
                    fields.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                format!("{{ {} }}", fields.join(", "))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_file_is_read_or_refused_with_its_name(
        fields in proptest::collection::vec((any_key(), any_value()), 0..5),
    ) {
        let text: String = fields.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        let document = Document::new("x.toml", text);
        let read = || {
            let table = document.parse()?;
            let part = ConfigTable { keys: &keys(), scope: None, takes_options: true, file: Path::new("/d/x.toml") };
            part.read(&document, &table)
        };
        if let Err(error) = read() {
            prop_assert!(error.to_string().starts_with("x.toml:"), "{error}");
        }
    }
}
