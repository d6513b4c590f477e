//! Benchmarks that fail, runs that are interrupted, and the choice of what is run.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use cargo_bench_compare::results::{Failure, Results};

use crate::support::{Fixture, Run, bench, manifest, steady};

/// Waits for something that other processes do, and fails the test if it never happens.
#[track_caller]
fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !happened() {
        assert!(Instant::now() < deadline, "{what} never happened");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process is alive: neither gone nor a zombie that waits for its parent.
#[cfg(target_os = "linux")]
fn is_alive(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())) else {
        return false;
    };
    !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z')
}

fn ids(results: &Results) -> Vec<&str> {
    results.comparisons.iter().map(|comparison| comparison.benchmark.as_str()).collect()
}

#[track_caller]
fn failure<'a>(results: &'a Results, benchmark: &str) -> &'a Failure {
    let mut found = results.failed.iter().filter(|f| f.benchmark.as_deref() == Some(benchmark));
    let failure = found.next();
    assert!(found.next().is_none(), "{benchmark} failed twice: {:#?}", results.failed);
    failure.unwrap_or_else(|| panic!("no failure of {benchmark}: {:#?}", results.failed))
}

const RUBBISH: &str = r#"
fn main() {
    use std::io::Write;
    if let Ok(port) = std::env::var("CARGO_CRITERION_PORT") {
        let mut stream = std::net::TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        std::thread::sleep(std::time::Duration::from_secs(1000));
    }
}
"#;

/// A crate whose time an iteration is 1000 ns at base and 1250 ns at head, with these bench targets.
fn crate_with(benches: &[(&str, String)]) -> Fixture {
    let fixture = Fixture::new();
    let names: Vec<&str> = benches.iter().map(|(name, _)| *name).collect();
    fixture.write("Cargo.toml", manifest("sample", &names));
    fixture.write(".gitignore", "/target\nCargo.lock\n");
    fixture.lock("sample");
    for (name, source) in benches {
        let source = source.replace("OUTSIDE", fixture.outside().to_str().unwrap());
        fixture.write(&format!("benches/{name}.rs"), source);
    }
    fixture.commit_two_times();
    fixture
}

#[test]
fn every_way_to_fail_is_told_with_its_side_and_reason_and_hides_no_other_benchmark() {
    let good = bench(&steady("good", "sample::TIME"));
    let start = "criterion_main!(benches);";
    let panics_early = "fn main() { assert_eq!(black_box(sample::TIME), 1000, \"nothing works today\"); benches() }";
    let never = "fn main() { if black_box(sample::TIME) == 0 { benches() } }";
    let fixture = crate_with(&[
        ("failing", include_str!("../fixtures/failing.rs").to_owned()),
        ("early", good.replace(start, panics_early)),
        ("empty", good.replace(start, never)),
        ("rubbish", RUBBISH.to_owned()),
        ("sound", good),
    ]);
    // Not in step: other programs have no say in how many samples are taken of it.
    fixture.write("bench-compare.toml", "[[benchmark]]\nid = 'last'\nlockstep = 'off'\n");
    let save = fixture.outside().join("saved.json");
    let arguments = ["base..HEAD", "--runs", "2", "--timeout", "20s", "--format", "json", "--save"];
    let run = fixture.run(&[&arguments[..], &[save.to_str().unwrap()]].concat()).exits_with(3);
    let results = run.results();
    assert!(results.complete);

    for (benchmark, sides, reasons) in [
        ("panics on head", "head", &["exited with code 101", "this is the panic message"][..]),
        ("exits", "base head", &["exited with code 3", "about to exit"]),
        ("aborts", "base head", &["SIGABRT"]),
        ("hangs on head", "head", &["no sign of progress for 20s"]),
        ("comes and goes", "base head", &["listed, but did not run in launch 1"]),
        ("changes its unit", "head", &["instructions here and cycles at base"]),
    ] {
        let failure = failure(&results, benchmark);
        assert!(sides.contains(&failure.side), "{failure:?}");
        assert!(!failure.revision.is_empty());
        for reason in reasons {
            assert!(failure.error.contains(reason), "{benchmark}: {}", failure.error);
        }
    }
    for benchmark in ["takes no time", "is no number"] {
        let mut sides: Vec<&str> = results
            .failed
            .iter()
            .filter(|f| f.benchmark.as_deref() == Some(benchmark))
            .inspect(|f| assert!(f.error.contains("zero or no number"), "{f:?}"))
            .map(|f| f.side.as_str())
            .collect();
        sides.sort_unstable();
        assert_eq!(sides, ["base", "head"], "{benchmark}");
    }
    let whole_targets: Vec<_> = results
        .failed
        .iter()
        .filter(|failure| failure.benchmark.is_none())
        .map(|failure| (failure.target.as_str(), failure.side.as_str(), failure.error.as_str()))
        .collect();
    let [early, rubbish @ ..] = &whole_targets[..] else { panic!("{whole_targets:?}") };
    assert_eq!((early.0, early.1), ("early", "head"));
    assert!(early.2.contains("before its first benchmark"), "{}", early.2);
    assert!(early.2.contains("nothing works today"), "{}", early.2);
    assert!(rubbish.iter().all(|(target, _, error)| {
        *target == "rubbish" && error.contains("its greeting is not criterion's")
    }));
    assert_eq!(results.failed.len(), 10 + whole_targets.len(), "{:#?}", results.failed);

    let long = format!("names of (all) kinds/{}", "long".repeat(40));
    let expected = [
        "first",
        "between",
        "prints 10 MB",
        "twice/same",
        "twice/same #2",
        "names of (all) kinds/a b",
        "names of (all) kinds/c/d",
        "names of (all) kinds/größe 漢字",
        "names of (all) kinds/^.*[x]+(y|z)$\\",
        "names of (all) kinds/two\nlines",
        "names of (all) kinds/like a second #2",
        &long,
        "names of (all) kinds/empty/",
        "names of (all) kinds/n=7",
        "settings/in code",
        "last",
        "counts",
        "good",
    ];
    let (mut measured, mut wanted) = (ids(&results), expected.to_vec());
    measured.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(measured, wanted);
    for comparison in &results.comparisons {
        assert_eq!(comparison.pairs, 2, "{}", comparison.benchmark);
        let improvement = comparison.improvement_percent.unwrap().value();
        assert!((improvement - -20.0).abs() < 1e-6, "{}: {improvement}", comparison.benchmark);
        let unit = if comparison.benchmark == "counts" { "cycles" } else { "ns" };
        assert_eq!(comparison.unit, unit, "{}", comparison.benchmark);
    }

    // Settings made in code hold: 60 samples, where others have 20 at first, and more once they are known to be
    // quick: 50, or more where launching is expensive.
    let samples = std::fs::read_to_string(save.with_extension("samples.jsonl")).unwrap();
    let count_of = |benchmark: &str| -> Vec<usize> {
        let lines = samples.lines().map(|line| serde_json::from_str(line).unwrap());
        lines
            .filter(|line: &serde_json::Value| line["benchmark"] == benchmark)
            .flat_map(|line| line["sides"].as_array().unwrap().clone())
            .map(|side| side["totals"].as_array().unwrap().len())
            .collect()
    };
    assert_eq!(count_of("settings/in code"), [60; 4]);
    let last = count_of("last");
    assert_eq!(last[..2], [20, 20]);
    assert!(last.len() == 4 && last[2..].iter().all(|count| *count >= 50), "{last:?}");

    // The process that hung was ended with the one that it had started.
    #[cfg(target_os = "linux")]
    {
        let sleeper = std::fs::read_to_string(fixture.outside().join("sleeper")).unwrap();
        wait_for("the end of the sleeper", || !is_alive(&sleeper));
    }
    fixture.assert_nothing_left_behind();

    let table = fixture.run(&["report"]).exits_with(0).stdout;
    assert!(table.contains("aborts, on "), "{table}");
    assert!(table.contains("all of sample::early, on head (HEAD): the process exited"), "{table}");
    assert!(table.contains("names of (all) kinds/two\u{fffd}lines"), "{table}");
    let list = fixture.run(&["list", "base..HEAD"]).exits_with(3).stdout;
    assert!(list.contains("kinds/two\u{fffd}lines\n"), "{list}");
    assert!(list.contains("sample::early  (failed on head: the process exited"), "{list}");
}

/// Benchmarks of which one falls asleep for good in the third launch pair. They write down which processes
/// run them.
fn falls_asleep() -> Fixture {
    let note = r#"
    use std::io::Write;
    let pids = "OUTSIDE/pids";
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(pids).unwrap();
    writeln!(file, "{}", std::process::id()).unwrap();
    "#;
    let sleepy = r#"
    c.bench_function("sleepy", |b| {
        // Two processes to list, and two for each launch pair.
        if std::fs::read_to_string(pids).unwrap().lines().count() > 6 {
            std::fs::write("OUTSIDE/asleep", "").unwrap();
            std::thread::sleep(Duration::from_secs(1000));
        }
        b.iter_custom(|n| Duration::from_nanos(n * sample::TIME))
    });
    "#;
    let body = note.to_owned() + &steady("steady", "sample::TIME") + sleepy;
    crate_with(&[("timing", bench(&body))])
}

/// Starts a run that would not end for a long time, and waits until it sleeps.
fn start_measuring(fixture: &Fixture) -> Child {
    let save = fixture.outside().join("saved.json");
    // In step, what sleeps is found to be unfit, and started once more.
    let how = ["--lockstep", "off", "--timeout", "1000s", "--save", save.to_str().unwrap()];
    let arguments = [&["base..HEAD"], &how[..]].concat();
    let mut child =
        fixture.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the third launch pair", || {
        assert!(child.try_wait().unwrap().is_none(), "the program ended by itself");
        fixture.outside().join("asleep").exists()
    });
    child
}

#[cfg(unix)]
fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
}

fn bench_processes(fixture: &Fixture) -> Vec<String> {
    let pids = std::fs::read_to_string(fixture.outside().join("pids")).unwrap();
    pids.lines().map(str::to_owned).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_while_measuring_shows_and_keeps_what_there_is() {
    let fixture = falls_asleep();
    let child = start_measuring(&fixture);
    signal(&child, rustix::process::Signal::INT);
    let run = Run::of(child.wait_with_output().unwrap()).exits_with(130);
    assert!(run.stderr.contains("error: interrupted"), "{}", run.stderr);
    assert!(run.stdout.contains("incomplete: the run did not come to its end"), "{}", run.stdout);
    assert!(run.stdout.contains("-20.00 %"), "{}", run.stdout);
    let shown_again = fixture.run(&["report"]).exits_with(0);
    assert_eq!(shown_again.stdout, run.stdout);
    for pid in bench_processes(&fixture) {
        assert!(!is_alive(&pid), "bench process {pid}");
    }
    fixture.assert_nothing_left_behind();
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_is_killed_leaves_its_results_and_no_bench_process() {
    let fixture = falls_asleep();
    let mut child = start_measuring(&fixture);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the end of the bench processes", || {
        bench_processes(&fixture).iter().all(|pid| !is_alive(pid))
    });
    let saved = Results::load(&fixture.outside().join("saved.json")).unwrap();
    assert!(!saved.complete);
    let pairs: Vec<usize> = saved.comparisons.iter().map(|comparison| comparison.pairs).collect();
    assert_eq!(pairs, [3, 2], "everything that was measured");
    let table = fixture.run(&["report"]).exits_with(0).stdout;
    assert!(table.contains("incomplete: the run did not come to its end"), "{table}");
    assert!(table.contains("-20.00 %"), "{table}");
}

/// A benchmark that notes in a file that it ran.
fn noted(id: &str) -> String {
    format!(
        "    c.bench_function({id:?}, |b| {{\n        \
         std::fs::write(format!(\"OUTSIDE/ran/{{}}\", {id:?}.replace('/', \"-\")), \"\").unwrap();\n        \
         b.iter_custom(|n| {{\n            \
         std::thread::sleep(Duration::from_micros(20 * n));\n            \
         Duration::from_nanos(n * sample::TIME)\n        }})\n    }});\n"
    )
}

fn ran(fixture: &Fixture) -> Vec<String> {
    let directory: &Path = &fixture.outside().join("ran");
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    std::fs::remove_dir_all(directory).unwrap();
    std::fs::create_dir(directory).unwrap();
    names
}

#[test]
fn only_the_benchmarks_that_are_asked_for_are_run_and_all_are_listed() {
    let same = bench(&steady("untouched", "7"));
    let common: String = ["parse/2", "parse/10", "print/2", "print/10 (slow)"].map(noted).concat();
    let fixture =
        crate_with(&[("timing", bench(&(common.clone() + &noted("old")))), ("same", same)]);
    let changed = bench(&(common + &noted("new")));
    let changed = changed.replace("OUTSIDE", fixture.outside().to_str().unwrap());
    fixture.write("benches/timing.rs", changed);
    fixture.commit("another benchmark");
    std::fs::create_dir(fixture.outside().join("ran")).unwrap();

    let list = fixture.run(&["list", "base..HEAD"]).exits_with(0);
    assert_eq!(
        list.stdout,
        "sample::same::untouched  (identical code)\n\
         sample::timing::new  (only on head)\n\
         sample::timing::old  (not on head)\n\
         sample::timing::parse/2\n\
         sample::timing::parse/10\n\
         sample::timing::print/2\n\
         sample::timing::print/10 (slow)\n"
    );
    assert!(ran(&fixture).is_empty(), "listing runs nothing");

    let run = |choice: &[&str]| {
        let arguments = ["base..HEAD", "--runs", "1", "--format", "json"];
        fixture.run(&[&arguments, choice].concat())
    };
    let results = run(&["--filter", "/2$", "--filter", "slow"]).exits_with(0).results();
    assert_eq!(ids(&results), ["parse/2", "print/2", "print/10 (slow)"]);
    assert!(results.added.is_empty() && results.removed.is_empty());
    assert_eq!(ran(&fixture), ["parse-2", "print-10 (slow)", "print-2"]);

    let results = run(&["--filter", "parse", "--filter", "print", "--skip", r"\(slow\)"]);
    assert_eq!(ids(&results.exits_with(0).results()), ["parse/2", "parse/10", "print/2"]);
    assert_eq!(ran(&fixture), ["parse-10", "parse-2", "print-2"]);

    let nothing = run(&["--filter", "no such benchmark"]).exits_with(3);
    assert!(nothing.stderr.contains("--filter and --skip leave none over"), "{}", nothing.stderr);
    let bad = run(&["--filter", "("]).exits_with(2);
    assert!(bad.stderr.contains("--filter"), "{}", bad.stderr);
    assert!(bad.stderr.contains("unclosed group"), "{}", bad.stderr);
    assert!(ran(&fixture).is_empty());
}
