//! gungraun: its counts, and what is said where its runner or valgrind is missing.

use cargo_bench_compare::results::Method;
use cargo_bench_compare::stats::Verdict;

use super::{Crate, comparison, ids};
use crate::support::{Fixture, Run, write_program};

/// A program that does what a gungraun executable and its runner do together, with what they printed.
const GUNGRAUN: &str = r###"
fn main() {
    // By this it is recognised.
    let runner = std::env::var("GUNGRAUN_RUNNER").unwrap_or_default();
    let arguments: Vec<String> = std::env::args().collect();
    if runner == "missing" {
        eprintln!("gungraun: Error: Failed to run benchmarks: No such file or directory (os error 2).\n\n\
                   Is gungraun-runner installed and gungraun-runner in your $PATH?.");
        std::process::exit(1);
    }
    if arguments.iter().any(|argument| argument == "--list") {
        println!("counts::g::fib::short: benchmark\ncounts::g::fib::same: benchmark\n\n0 tests, 2 benchmarks");
        return;
    }
    assert!(arguments.iter().any(|argument| argument == "--output-format=json"));
    for (id, instructions, cycles) in [("short", sample::N, 2 * sample::N), ("same", 213143, 289804)] {
        println!("{}", JSON.replace("ID", id).replace("IR", &instructions.to_string()).replace("EC", &cycles.to_string()));
    }
}
const JSON: &str = r##"{"baselines":[null,null],"function_name":"fib","group":"g","id":"ID","kind":"LibraryBenchmark","module_path":"counts::g::fib","profiles":[{"data":{"parts":[],"total":{"metrics":{"Dr":{"values":{"new":270}},"EstimatedCycles":{"values":{"new":EC}},"Ir":{"values":{"new":IR}}},"regressions":[]}},"tool":"Callgrind"}],"version":"7"}"##;
"###;

#[test]
fn counts_of_gungraun_are_compared_exactly_after_one_run() {
    let package = Crate { dependency: None, targets: vec![("counts", false)], more: "" };
    let fixture = package.fixture(&[("benches/counts.rs", GUNGRAUN)]);
    let arguments = ["base..HEAD", "--format", "json", "--gate", "regression"];
    let results = package.run(&fixture, &arguments).exits_with(1).results();
    assert_eq!(
        ids(&results),
        ["g::fib::short", "g::fib::short [estimated cycles]", "g::fib::same"]
    );
    let short = comparison(&results, "g::fib::short");
    assert_eq!((short.method, short.verdict, short.pairs), (Method::Count, Verdict::Regressed, 1));
    assert_eq!((short.base.nanoseconds, short.head.nanoseconds), (Some(1000.0), Some(3000.0)));
    assert!(short.trips_gate && short.unit == "instructions");
    let same = comparison(&results, "g::fib::same");
    assert_eq!((same.verdict, same.p_value), (Verdict::Equivalent, None));
    let table = package.run(&fixture, &["report"]).exits_with(0).stdout;
    assert!(table.contains("the same count") && table.contains("counted:"), "{table}");

    let mut command = fixture.command(&arguments);
    command.env("GUNGRAUN_RUNNER", "missing").env("RUSTC_BOOTSTRAP", "1");
    let run = Run::of(command.output().unwrap()).exits_with(3);
    assert!(run.results().failed[0].error.contains("cargo install gungraun-runner --version"));
}

/// A program that leaves everything to a runner, as the library does. The name and the version stand side by side
/// in a real executable too.
const LIBRARY: &str = r#"
fn main() {
    std::hint::black_box("GUNGRAUN_RUNNER");
    let (runner, version) = std::hint::black_box("gungraun-runner0.20.0").split_at(15);
    let mut command = std::process::Command::new(runner);
    command.arg(version).arg(sample::N.to_string()).args(std::env::args().skip(1));
    std::process::exit(command.status().unwrap().code().unwrap());
}
"#;

/// A runner in the words of the real one, of a version that does not need valgrind or one that misses it.
fn stand_in(version: &str, has_valgrind: bool) -> String {
    let measuring = if has_valgrind {
        r#"echo '{"function_name":"fib","id":null,"kind":"LibraryBenchmark","module_path":"counts::g::fib","profiles":[{"data":{"parts":[],"total":{"metrics":{"Ir":{"values":{"new":'$2'}}},"regressions":[]}},"tool":"Callgrind"}],"version":"7"}'"#
    } else {
        "echo \"setarch: failed to execute valgrind: No such file or directory\n\
         gungraun_runner: Error: Error in task: Error running 'callgrind': Exit code was: '127'\" >&2; exit 1"
    };
    format!(
        "#!/bin/sh\n\
         if [ \"$1\" != {version} ]; then\n    \
             echo \"gungraun_runner: Error: gungraun-runner ({version}) is newer than gungraun ($1). \
                   Please update gungraun to '{version}' in your Cargo.toml file\" >&2\n    exit 1\n\
         fi\n\
         case \"$*\" in *--list*) echo 'counts::g::fib: benchmark'; exit;; esac\n\
         {measuring}\n"
    )
}

/// A repository whose base uses gungraun 0.19.4 and whose head uses 0.20.0.
fn two_versions(package: &Crate) -> Fixture {
    let fixture = package.fixture(&[("benches/counts.rs", LIBRARY)]);
    fixture.git(&["checkout", "--quiet", "base"]);
    fixture.write("benches/counts.rs", LIBRARY.replace("0.20.0", "0.19.4"));
    fixture.commit("an older gungraun");
    fixture.git(&["tag", "--force", "base"]);
    fixture.git(&["checkout", "--quiet", "main"]);
    fixture
}

/// Compares with the programs in a directory beside the repository before all others on the path.
fn compare(fixture: &Fixture) -> Run {
    let mut path = fixture.outside().join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let mut command = fixture.command(&["base..main", "--format", "json"]);
    command.env("PATH", path).env_remove("GUNGRAUN_RUNNER");
    Run::of(command.output().unwrap())
}

#[test]
fn a_runner_of_another_version_is_installed_beside_it_as_the_message_says() {
    let package = Crate { dependency: None, targets: vec![("counts", false)], more: "" };
    let fixture = two_versions(&package);
    write_program(&fixture.outside().join("bin/gungraun-runner"), &stand_in("0.20.0", true));

    let results = compare(&fixture).exits_with(3).results();
    let [failure] = &results.failed[..] else { panic!("{:#?}", results.failed) };
    assert_eq!((failure.side.as_str(), failure.benchmark.as_deref()), ("base", None));
    let (_, help) = failure.error.rsplit_once('\n').unwrap();
    let command = help
        .strip_prefix(
            "this needs another version of `gungraun-runner` than the one that was found: `",
        )
        .and_then(|rest| rest.strip_suffix('`'));
    let command = command.unwrap_or_else(|| panic!("{help}"));
    let root = command.strip_prefix("cargo install gungraun-runner --version 0.19.4 --root ");
    let root = std::path::Path::new(root.unwrap_or_else(|| panic!("{command}")));
    assert!(root.starts_with(std::fs::canonicalize(fixture.cache()).unwrap()), "{root:?}");

    // What that command would do.
    write_program(&root.join("bin/gungraun-runner"), &stand_in("0.19.4", true));
    let results = compare(&fixture).exits_with(0).results();
    let [found] = &results.comparisons[..] else { panic!("{results:#?}") };
    assert_eq!((found.benchmark.as_str(), found.verdict), ("g::fib", Verdict::Regressed));
    assert_eq!((found.base.nanoseconds, found.head.nanoseconds), (Some(1000.0), Some(3000.0)));
    let note = "`sample::counts` uses gungraun 0.19.4 at base and gungraun 0.20.0 at head: ";
    assert!(results.notes.iter().any(|found| found.starts_with(note)), "{:?}", results.notes);
}

#[test]
fn without_valgrind_it_is_said_what_to_install() {
    let package = Crate { dependency: None, targets: vec![("counts", false)], more: "" };
    let fixture = package.fixture(&[("benches/counts.rs", LIBRARY)]);
    write_program(&fixture.outside().join("bin/gungraun-runner"), &stand_in("0.20.0", false));
    let results = compare(&fixture).exits_with(3).results();
    assert!(!results.failed.is_empty());
    for failure in &results.failed {
        assert_eq!(failure.benchmark.as_deref(), Some("g::fib"));
        assert!(failure.error.contains("`apt install valgrind`"), "{}", failure.error);
    }
}
