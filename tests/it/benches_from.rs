//! Benchmarks of one revision, measured on the others: `--benches-from`.

use cargo_bench_compare::results::Results;
use cargo_bench_compare::stats::Verdict;
use snapbox::{assert_data_eq, str};

use crate::support::{CRITERION, Fixture, bench, lockfile, manifest, quick_to_build, steady};

fn names(results: &Results) -> Vec<(&str, Verdict)> {
    let comparisons = results.comparisons.iter();
    comparisons.map(|c| (c.benchmark.as_str(), c.verdict)).collect()
}

/// The repository's state, to see that nothing of it is touched.
fn state(fixture: &Fixture) -> String {
    fixture.git(&["status", "--porcelain"]) + &fixture.git(&["rev-parse", "HEAD"])
}

#[test]
fn a_benchmark_that_head_adds_is_measured_on_base_and_one_that_base_cannot_have_is_told() {
    let body = steady("old", "sample::TIME");
    let fixture = Fixture::with_bench("pub const TIME: u64 = 1000;\n", &bench(&body));
    fixture.write("benches/gone.rs", bench(&steady("gone", "1")));
    fixture.write("Cargo.toml", manifest("sample", &["timing", "gone"]));
    fixture.commit("one more");
    fixture.git(&["tag", "--force", "base"]);
    // Head: another benchmark in the target that was there, with data and a module; one target that base's library
    // cannot have, one that needs a feature, and one that cargo finds by itself.
    fixture.write("src/lib.rs", "pub const TIME: u64 = 1250;\npub const MORE: u64 = 7;\n");
    fixture.write("data/time.txt", "500");
    fixture.write("benches/common/mod.rs", "pub const FACTOR: u64 = 2;\n");
    let body = "    let time: u64 = include_str!(\"../data/time.txt\").trim().parse().unwrap();\n"
        .to_owned()
        + &steady("old", "sample::TIME")
        + &steady("new", "(sample::TIME * common::FACTOR + time)");
    fixture.write(
        "benches/timing.rs",
        "mod common;\n".to_owned()
            + &bench(&body).replace("|b|", "move |b|").replace("|n|", "move |n|"),
    );
    fixture.write("benches/impossible.rs", bench(&steady("impossible", "sample::MORE")));
    fixture.write("benches/featured.rs", bench(&steady("featured", "1")));
    fixture.write("benches/found/main.rs", "fn main() {}\n");
    std::fs::remove_file(fixture.root().join("benches/gone.rs")).unwrap();
    let text = manifest("sample", &["timing", "impossible", "featured"])
        + "required-features = [\"fast\"]\n\n[features]\ndefault = [\"fast\"]\nfast = []\n";
    fixture.write("Cargo.toml", text);
    fixture.commit("head");
    let before = state(&fixture);

    let arguments = ["base..HEAD", "--benches-from", "head"];
    let measure = ["--runs", "6", "--save", "../saved.json"];
    let run = fixture.run(&[&arguments[..], &measure].concat()).exits_with(3);
    let results = Results::load(&fixture.outside().join("saved.json")).unwrap();
    assert_eq!(names(&results), [("old", Verdict::Regressed), ("new", Verdict::Regressed)]);
    assert_eq!(results.comparisons[1].base.nanoseconds, Some(2500.0));
    assert!(results.added.is_empty() && results.removed.is_empty(), "{results:?}");
    assert_eq!(results.benches_from.as_deref(), Some("HEAD"));
    let mut failed: Vec<String> = results
        .failed
        .iter()
        .map(|f| format!("{} on {}: {}\n", f.target, f.side, f.error))
        .collect();
    failed.sort();
    assert_data_eq!(
        failed.concat(),
        str![[r#"
featured on base: it needs the feature `fast`, which there is not here
impossible on base: it does not compile here: error[E0425]: cannot find value `MORE` in crate `sample`
 --> benches/impossible.rs:[..]
  |
[..]        Duration::from_nanos(n * sample::MORE)
  |                                          ^^^^ not found in `sample`

"#]]
    );
    let note = "the benchmarks of HEAD were measured on all revisions (--benches-from)";
    assert!(run.stdout.contains(note), "{}", run.stdout);
    assert!(run.stdout.contains("all of sample::impossible, on base (base):"), "{}", run.stdout);
    assert_eq!(state(&fixture), before);
    fixture.assert_nothing_left_behind();

    // Nothing is compiled twice for it, and what failed fails again.
    let again = fixture.run(&[&["list"], &arguments[..]].concat()).exits_with(3);
    assert!(again.stdout.contains("sample::timing::new\n"), "{}", again.stdout);
    assert!(!again.stderr.contains("Compiling criterion"), "{}", again.stderr);
    // The one alone that does not compile leaves nothing to compare.
    let alone =
        fixture.run(&["list", "base..HEAD", "--benches-from", "head", "--bench", "impossible"]);
    let alone = alone.exits_with(3);
    assert!(alone.stdout.contains("cannot find value `MORE`"), "{}", alone.stdout);
    // By its label too, and no other way round: base's benchmarks on head.
    let base = fixture.run(&["list", "base..HEAD", "--benches-from", "base"]).exits_with(0);
    assert_eq!(base.stdout, "sample::gone::gone\nsample::timing::old\n");
    let unknown = fixture.run(&["list", "base..HEAD", "--benches-from", "bass"]).exits_with(2);
    assert_data_eq!(
        unknown.stderr,
        str![[r#"
error: no revision is called `bass`
  help: did you mean `base`?

"#]]
    );
    fixture.assert_nothing_left_behind();
}

#[test]
fn in_a_workspace_dependencies_are_inherited_found_and_locked() {
    let fixture = Fixture::new();
    let library = |time: u64| format!("pub const TIME: u64 = {time};\n");
    let root = format!(
        "[workspace]\nmembers = [\"crates/sample\"]\nresolver = \"2\"\n{}",
        quick_to_build("sample")
    );
    let package = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[lib]\nbench = false\n";
    fixture.write("Cargo.toml", &root);
    fixture.write("crates/sample/Cargo.toml", package);
    fixture.write("crates/sample/src/lib.rs", library(1000));
    // A lockfile is committed that knows nothing of what head needs.
    fixture.write(
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"sample\"\nversion = \"0.1.0\"\n",
    );
    fixture.write(".gitignore", "/target\n");
    fixture.commit("base");
    fixture.git(&["tag", "base"]);
    let (name, specification) = CRITERION.split_once(" = ").unwrap();
    let root = root
        + &format!(
            "\n[workspace.dependencies]\n{name} = {specification}\nhelper = {{ path = \"crates/helper\" }}\n"
        );
    fixture.write("Cargo.toml", root);
    let package = package.to_owned()
        + "\n[dev-dependencies]\ncriterion.workspace = true\nhelper.workspace = true\n\
           \n[[bench]]\nname = \"timing\"\nharness = false\n";
    fixture.write("crates/sample/Cargo.toml", package);
    fixture.write("crates/sample/src/lib.rs", library(1250));
    fixture.write(
        "crates/sample/benches/timing.rs",
        bench(&steady("new", "sample::TIME * helper::TWO")),
    );
    let helper = "[package]\nname = \"helper\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    fixture.write("crates/helper/Cargo.toml", helper);
    fixture.write("crates/helper/src/lib.rs", "pub const TWO: u64 = 2;\n");
    let criterion = lockfile("sample").replacen(
        "[[package]]",
        "[[package]]\nname = \"helper\"\nversion = \"0.1.0\"\n\n[[package]]",
        1,
    );
    fixture.write(
        "Cargo.lock",
        criterion.replace(" \"criterion\",\n]", " \"criterion\",\n \"helper\",\n]"),
    );
    fixture.commit("head");
    let before = state(&fixture);

    let arguments = [
        "base..HEAD",
        "--benches-from",
        "HEAD",
        "--runs",
        "6",
        "--locked",
        "--offline",
        "-p",
        "sample",
    ];
    let run = fixture.run(&[&arguments[..], &["--format", "json"]].concat()).exits_with(0);
    let results = run.results();
    assert_eq!(names(&results), [("new", Verdict::Regressed)]);
    assert_eq!(results.comparisons[0].base.nanoseconds, Some(2000.0));
    assert_eq!(state(&fixture), before);
    fixture.assert_nothing_left_behind();
}

#[test]
fn a_package_that_only_has_benchmarks_is_laid_over_a_revision_that_has_not_got_it() {
    let fixture = Fixture::new();
    let library = |time: u64| format!("pub const TIME: u64 = {time};\n");
    let package = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[lib]\nbench = false\n";
    fixture.write("Cargo.toml", package.to_owned() + &quick_to_build("sample"));
    fixture.write("src/lib.rs", library(1000));
    fixture.write(".gitignore", "/target\nCargo.lock\n");
    fixture.commit("base");
    fixture.git(&["tag", "base"]);
    let (name, specification) = CRITERION.split_once(" = ").unwrap();
    let workspace = format!(
        "\n[workspace]\nmembers = [\"measures\"]\n\n[workspace.package]\nedition = \"2021\"\n\n\
         [workspace.dependencies]\n{name} = {specification}\nsample = {{ path = \".\" }}\n"
    );
    fixture.write("Cargo.toml", package.to_owned() + &quick_to_build("sample") + &workspace);
    fixture.write("src/lib.rs", library(1250));
    // One of its targets cannot be had at base.
    let measures = "[package]\nname = \"measures\"\nversion = \"0.1.0\"\nedition.workspace = true\n\n\
                    [dependencies]\ncriterion.workspace = true\nsample.workspace = true\n\n\
                    [[bench]]\nname = \"timing\"\nharness = false\n\n\
                    [[bench]]\nname = \"impossible\"\nharness = false\n";
    fixture.write("measures/Cargo.toml", measures);
    fixture.write("measures/benches/timing.rs", bench(&steady("new", "sample::TIME")));
    fixture.write("measures/benches/impossible.rs", bench(&steady("impossible", "sample::MORE")));
    fixture.write("src/lib.rs", library(1250) + "pub const MORE: u64 = 7;\n");
    let locked =
        lockfile("measures").replace(" \"criterion\",\n]", " \"criterion\",\n \"sample\",\n]");
    let locked = locked + "\n[[package]]\nname = \"sample\"\nversion = \"0.1.0\"\n";
    fixture.write("Cargo.lock", locked);
    fixture.commit("head");
    let before = state(&fixture);

    let arguments = ["base..HEAD", "--benches-from", "head", "--runs", "6", "-p", "measures"];
    let run = fixture.run(&[&arguments[..], &["--format", "json"]].concat()).exits_with(3);
    let results = run.results();
    assert_eq!(names(&results), [("new", Verdict::Regressed)]);
    assert_eq!(results.comparisons[0].base.nanoseconds, Some(1000.0));
    assert!(results.added.is_empty(), "{:?}", results.added);
    let [failed] = &results.failed[..] else { panic!("{:?}", results.failed) };
    assert_eq!((&*failed.target, &*failed.side), ("impossible", "base"));
    assert!(failed.error.contains("cannot find value `MORE`"), "{}", failed.error);
    assert_eq!(state(&fixture), before);
    fixture.assert_nothing_left_behind();
}
