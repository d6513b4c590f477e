//! Whole commands and prebuilt programs as benchmarks. The programs are scripts for `sh`, so that they run in no
//! time; what they take is what they print, so that nothing depends on the machine.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_bench_compare::results::{Method, Results};
use cargo_bench_compare::stats::Verdict;
use tempfile::TempDir;

use crate::support::{Fixture, PROGRAM, Run, write_program};

/// A directory outside of any repository, with two programs: `old` does 1000 operations a second, `new` 1250.
struct Programs {
    directory: TempDir,
}

/// As a benchmark script of Node.js: a line for every combination of its parameters, or for those that it is given.
fn script(rate: u32) -> String {
    format!(
        r#"#!/bin/sh
script=$1; shift
for n in 100 100000; do for len in 4 16; do
    keep=yes
    for argument in "$@"; do
        case "$argument" in
            n=*) [ "$argument" = "n=$n" ] || keep=no ;;
            len=*) [ "$argument" = "len=$len" ] || keep=no ;;
        esac
    done
    [ $keep = yes ] && echo "$script n=$n len=$len: {rate}.5"
done; done
echo "(node:1) Warning: 12 things are odd" >&2
"#
    )
}

impl Programs {
    fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("bench-compare-test-").tempdir().unwrap();
        let programs = Self { directory };
        programs.write("old", &script(1000));
        programs.write("new", &script(1250));
        programs
    }

    fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        write_program(&self.path().join(name), text);
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new(PROGRAM);
        command
            .args(arguments)
            .current_dir(self.path())
            .env("CARGO_BENCH_COMPARE_CACHE", self.path().join("cache"))
            .env("CI", "true");
        Run::of(command.output().unwrap())
    }
}

const OLD_AND_NEW: [&str; 4] = ["--old", "./old", "--new", "./new"];

fn ids(results: &Results) -> Vec<&str> {
    results.comparisons.iter().map(|comparison| comparison.benchmark.as_str()).collect()
}

#[test]
fn scripts_are_compared_under_two_programs_outside_of_any_repository() {
    let programs = Programs::new();
    let script = ["--measure", "rates", "--", "{bin}", "http/bench-parser.js"];
    let run =
        programs.run(&[&OLD_AND_NEW[..], &["--runs", "12", "--format", "json"], &script].concat());
    let results = run.exits_with(0).results();
    assert_eq!(
        ids(&results),
        ["100 len=4", "100 len=16", "100000 len=4", "100000 len=16"]
            .map(|rest| format!("http/bench-parser n={rest}"))
    );
    for comparison in &results.comparisons {
        // More operations a second are an improvement.
        assert_eq!(comparison.verdict, Verdict::Improved);
        let expected = 100.0 * (1250.5 / 1000.5 - 1.0);
        assert!((comparison.improvement_percent.unwrap().value() - expected).abs() < 0.01);
        assert_eq!((comparison.method, comparison.unit.as_str()), (Method::Process, "ns"));
        assert!((comparison.base.nanoseconds.unwrap() - 1e9 / 1000.5).abs() < 1.0);
    }
    assert_eq!(results.revisions[0].program.as_deref(), Some("./old"));

    let table = programs.run(&["report"]).exits_with(0).stdout;
    assert!(table.contains("old (./old)") && !table.contains("compiler"), "{table}");
    let removed = programs.run(&["clean"]).exits_with(0).stdout;
    assert!(removed.starts_with("removed "), "{removed}");
    programs.run(&["report"]).exits_with(3);

    // What is configured for revisions is not in the way.
    std::fs::write(programs.path().join("bench-compare.toml"), "revisions = 'main..HEAD'\n")
        .unwrap();
    // Parameters are passed on to a script that knows them, and filters choose.
    let set = ["--set", "n=100", "--filter", "len=4$"];
    let params = ["--measure", "rates", "--", "{bin}", "http/bench-parser.js", "{params}"];
    let list = [&["list"], &OLD_AND_NEW[..], &set, &params].concat();
    let list = programs.run(&list).exits_with(0).stdout;
    assert_eq!(list, "commands::http/bench-parser.js::http/bench-parser n=100 len=4\n");
}

#[test]
fn several_programs_have_labels_and_are_compared_with_any_of_them() {
    let programs = Programs::new();
    programs.write("middle", &script(2001));
    let arguments = [
        "--program",
        "6.6.0=old",
        "--program",
        "7=./middle",
        "--program",
        "8=./new",
        "--against",
        "7",
        "--runs",
        "6",
        "--format",
        "json",
        "--measure",
        "rates",
        "--set",
        "n=100",
        "--set",
        "len=4",
        "--",
        "{bin}",
        "x.js",
        "{params}",
    ];
    let results = programs.run(&arguments).exits_with(0).results();
    let labels: Vec<&str> = results.revisions.iter().map(|r| r.label.as_str()).collect();
    assert_eq!(labels, ["7", "6.6.0", "8"]);
    assert_eq!(ids(&results), ["x n=100 len=4", "x n=100 len=4"]);
    assert!(results.comparisons.iter().all(|c| c.verdict == Verdict::Regressed));
}

#[test]
fn whoever_names_programs_wrongly_is_told_so() {
    let programs = Programs::new();
    std::fs::write(programs.path().join("data"), "").unwrap();
    let command = ["--", "{bin}", "x"];
    for (arguments, message) in [
        (&["--old", "./none", "--new", "./new"][..], "there is no program ./none"),
        (&["--old", "./data", "--new", "./new"], "it has no permission to be executed"),
        (&["--old", ".", "--new", "./new"], "it is a directory"),
        (&["--old", "./old"], "there is nothing to compare ./old with"),
        (&["--old", "./old", "--program", "old=./new"], "two programs are called `old`"),
        (&["--program", "./new"], "write it like `v2=./program`"),
        (&["--old", "./old", "--new", "./new", "--against", "neww"], "did you mean `new`?"),
        (&["main..HEAD", "--old", "./old"], "cannot be used with"),
        (&["--old", "./old", "--new", "./new", "--set", "n"], "write it like `n=100`"),
    ] {
        let run = programs.run(&[arguments, &command].concat()).exits_with(2);
        assert!(run.stderr.contains(message), "{arguments:?}: {}", run.stderr);
    }
    for (command, message) in [
        (&["--", "./old"][..], "nothing in the command stands for the programs"),
        (&["--", "{bn}"], "nothing is known that `{bn}` could stand for"),
        (&["--", "{bin"], "a `{` without its `}`"),
        (&["--set", "n=1", "--", "{bin}"], "no command has a parameter `n`"),
        (&[], "it is not known what to do with the programs"),
    ] {
        let run = programs.run(&[&OLD_AND_NEW[..], command].concat()).exits_with(2);
        assert!(run.stderr.contains(message), "{command:?}: {}", run.stderr);
    }
}

#[test]
fn a_program_that_fails_hangs_or_prints_nothing_is_told_with_its_side() {
    let programs = Programs::new();
    programs.write("fails", "#!/bin/sh\necho no luck >&2\nexit 7\n");
    programs.write("hangs", "#!/bin/sh\nsleep 1000 &\necho $! > pid\nwait\n");
    programs.write("silent", "#!/bin/sh\n");
    programs.write("broken", "#!/no/such/interpreter\n");
    let failure = |new: &str, measure: &str| {
        let arguments = [
            "--old",
            "./old",
            "--new",
            new,
            "--runs",
            "6",
            "--timeout",
            "1s",
            "--format",
            "json",
            "--measure",
            measure,
            "--",
            "{bin}",
            "x.js",
        ];
        let results = programs.run(&arguments).exits_with(3).results();
        let [failure] = &results.failed[..] else { panic!("{:?}", results.failed) };
        assert_eq!((failure.side.as_str(), failure.revision.as_str()), ("head", "new"));
        assert!(results.comparisons.is_empty());
        failure.error.clone()
    };
    for measure in ["wall-time", "rates"] {
        let text = failure("./fails", measure);
        assert!(text.contains("the process exited with code 7; it printed:\nno luck"), "{text}");
        let text = failure("./hangs", measure);
        assert!(text.contains("no sign of progress for 1s; it was ended"), "{text}");
        let text = failure("./broken", measure);
        assert!(text.contains("it cannot be started: No such file"), "{text}");
    }
    // What it started has been ended with it.
    #[cfg(target_os = "linux")]
    {
        let pid = std::fs::read_to_string(programs.path().join("pid")).unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        let alive =
            stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim().starts_with('Z'));
        assert!(!alive, "{pid}");
    }
    assert!(failure("./silent", "rates").contains("it printed no line like"));
    let arguments =
        ["--runs", "6", "--format", "json", "--measure", "json-lines", "--", "{bin}", "x"];
    let run = programs.run(&[&OLD_AND_NEW[..], &arguments].concat()).exits_with(3);
    let failed = run.results().failed;
    assert_eq!(failed.len(), 2);
    assert!(failed.iter().all(|f| f.error.contains("it printed no JSON line")), "{failed:?}");
}

const CONFIGURATION: &str = r#"
runs = 6
margin = "60%"

[[command]]
name = "tool"
build = "sh build.sh"
bin = "made/tool"
run = "{bin} {params} {worktree} {revision} {label} 'a b; exit 9'"
params = { n = [1, 2], text = ["x y"] }
measure = "json-lines"
env = { FACTOR = "{n}" }
"#;

/// A repository without a Cargo.toml, whose build makes a program that says what it is given.
fn repository() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("bench-compare.toml", CONFIGURATION);
    fixture.write("factor", "100");
    fixture.write(
        "build.sh",
        "mkdir made\ncat > made/tool <<EOF\n#!/bin/sh\n\
         [ \"\\$#\" = 6 ] && [ \"\\$2\" = 'text=x y' ] && [ \"\\$6\" = 'a b; exit 9' ] || exit 1\n\
         [ \"\\$3\" = \"\\$(git rev-parse --show-toplevel)\" ] || exit 2\n\
         [ \"\\$4\" = \"\\$(git rev-parse HEAD)\" ] || exit 3\n\
         echo \"{\\\"benchmark\\\": \\\"work\\\", \\\"nanoseconds\\\": \\$((FACTOR * $(cat factor)))}\"\n\
         EOF\nchmod +x made/tool\n",
    );
    fixture.commit("base");
    fixture.git(&["tag", "base"]);
    fixture.write("factor", "150");
    fixture.commit("head");
    fixture
}

#[test]
fn commands_are_built_and_run_in_the_worktree_of_each_side() {
    let fixture = repository();
    let run = fixture.run(&["base..HEAD", "--format", "json"]).exits_with(0);
    let results = run.results();
    assert_eq!(ids(&results), ["work n=1 text=x y", "work n=2 text=x y"]);
    let times: Vec<_> = results
        .comparisons
        .iter()
        .map(|c| (c.base.nanoseconds.unwrap(), c.head.nanoseconds.unwrap()))
        .collect();
    assert_eq!(times, [(100.0, 150.0), (200.0, 300.0)]);
    assert!(results.comparisons.iter().all(|c| c.verdict == Verdict::Regressed));
    assert_eq!(results.revisions[0].rustc, "");
    assert!(run.stderr.contains("Building base (base): sh build.sh"), "{}", run.stderr);

    let list = fixture.run(&["list", "base..HEAD", "--set", "n=2"]).exits_with(0).stdout;
    assert_eq!(list, "commands::tool::work n=2 text=x y\n");
    let wrong = fixture.run(&["base..HEAD", "--set", "nn=2"]).exits_with(2).stderr;
    assert!(wrong.contains("no command has a parameter `nn`"), "{wrong}");
    fixture.assert_nothing_left_behind();
}

#[test]
fn a_command_that_cannot_be_made_on_one_side_fails_there_and_the_others_go_on() {
    let fixture = repository();
    let more = "\n[[command]]\nname = 'other'\nrun = 'cat factor'\n\
                [[command]]\nname = 'gone'\nrun = '{bin}'\nbin = 'nothing'\n";
    fixture.write("bench-compare.toml", CONFIGURATION.to_owned() + more);
    fixture.write("build.sh", "echo the reason >&2\nexit 1\n");
    fixture.commit("broken");
    let run = fixture.run(&["base..HEAD", "--format", "json"]).exits_with(3);
    let results = run.results();
    assert!(run.stderr.contains("the reason"), "{}", run.stderr);
    assert_eq!(ids(&results), ["other"]);
    let failed: Vec<_> = results
        .failed
        .iter()
        .map(|f| (f.target.as_str(), f.side.as_str(), f.error.as_str()))
        .collect();
    let gone = "there is no `nothing`; say with `build` how it is made";
    assert_eq!(
        failed,
        [
            ("gone", "base", gone),
            ("gone", "head", gone),
            ("tool", "head", "`sh build.sh` exited with code 1; its messages are above"),
        ]
    );
    fixture.assert_nothing_left_behind();
}

#[test]
fn a_command_after_the_options_is_compared_in_the_worktrees() {
    let fixture = Fixture::new();
    fixture.write("Cargo.toml", "this is no manifest, and nobody needs one here");
    fixture.write("rate", "5");
    fixture.commit("base");
    fixture.git(&["tag", "base"]);
    fixture.write("rate", "10");
    fixture.commit("head");
    let command = ["sh", "-c", "echo \"x n={n}: $(cat rate)\""];
    let options = ["base..HEAD", "--runs", "6", "--format", "json", "--measure", "rates"];
    let set = ["--no-config", "--set", "n=1", "--set", "n=2", "--"];
    let run = fixture.run(&[&options[..], &set, &command].concat()).exits_with(0);
    let results = run.results();
    assert_eq!(ids(&results), ["x n=1", "x n=2"]);
    assert!((results.comparisons[0].improvement_percent.unwrap().value() - 100.0).abs() < 1e-9);
    let wrong = fixture.run(&["base..HEAD", "--no-config", "--", "{bin}"]).exits_with(2).stderr;
    assert!(wrong.contains("nothing says what `{bin}` stands for"), "{wrong}");
}

/// On Linux, where the system says how large the process was that started it.
#[cfg(target_os = "linux")]
#[test]
fn time_and_memory_are_measured_from_outside() {
    let programs = Programs::new();
    // 64 MB more than the other, and what it does is done by a process of its own.
    let hungry = "dd if=/dev/zero of=/dev/null bs=64M count=1 2>/dev/null";
    programs.write("new", &format!("#!/bin/sh\n{hungry}\n"));
    programs.write("old", &format!("#!/bin/sh\n{}\n", hungry.replace("64M", "32M")));
    let compare = |measure: &str| {
        let options = ["--runs", "6", "--format", "json", "--measure", measure, "--", "{bin}"];
        programs.run(&[&OLD_AND_NEW[..], &options].concat()).exits_with(0).results()
    };
    let memory = compare("peak-memory");
    let [only] = &memory.comparisons[..] else { panic!("{:?}", memory.comparisons) };
    assert_eq!((only.unit.as_str(), only.verdict), ("bytes", Verdict::Regressed));
    let difference = only.head.nanoseconds.unwrap() - only.base.nanoseconds.unwrap();
    assert!((difference / f64::from(32 << 20) - 1.0).abs() < 0.1, "{difference}");
    for measure in ["wall-time", "cpu-time"] {
        let results = compare(measure);
        assert_eq!((results.comparisons.len(), results.comparisons[0].pairs), (1, 6), "{measure}");
    }
    // The shell alone is smaller than what starts it.
    programs.write("new", "#!/bin/true\n");
    programs.write("old", "#!/bin/true\n");
    let options = ["--runs", "6", "--format", "json", "--measure", "peak-memory", "--", "{bin}"];
    let run = programs.run(&[&OLD_AND_NEW[..], &options].concat()).exits_with(3);
    let failed = run.results().failed;
    assert!(failed[0].error.contains("the least that can be measured"), "{failed:?}");
}

#[test]
fn a_run_that_cannot_be_started_is_written_down() {
    let directory = tempfile::tempdir().unwrap();
    let account = directory.path().join("account");
    let run = Command::new(PROGRAM)
        .args([Path::new("measure-run"), &account])
        .args(["--", "/no/such/program"])
        .output()
        .unwrap();
    assert!(run.status.success());
    let text = std::fs::read_to_string(account).unwrap();
    assert!(text.contains("cannot be started"), "{text}");
}
