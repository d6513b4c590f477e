//! Every criterion from 0.3.0 to 0.8, and bench executables that are none.
//!
//! Cargo allows only one of 0.3.0, 0.3.3 and 0.3.6 in a crate, so there are three crates. Their
//! dependencies are compiled once for all tests, without optimization.

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_bench_compare::results::{Method, Results};

use crate::support::{Fixture, Run, bench, manifest, steady};

/// Versions of criterion that fit into one crate, and the lockfile for them.
struct Versions {
    versions: &'static [&'static str],
    lockfile: &'static str,
}

const SINCE_036: Versions = Versions {
    versions: &["0.3.6", "0.4.0", "0.5.1", "0.6.0", "0.7.0", "0.8.2"],
    lockfile: include_str!("../fixtures/criterions/0.3.6-to-0.8.lock"),
};
const V033: Versions =
    Versions { versions: &["0.3.3"], lockfile: include_str!("../fixtures/criterions/0.3.3.lock") };
const V030: Versions =
    Versions { versions: &["0.3.0"], lockfile: include_str!("../fixtures/criterions/0.3.0.lock") };

impl Versions {
    /// Each version under a name of its own, which is its bench target's name too.
    fn targets(&self) -> impl Iterator<Item = (String, &str)> {
        let name = |version: &str| format!("criterion_{}", version.replace('.', ""));
        self.versions.iter().map(move |version| (name(version), *version))
    }

    fn manifest(&self) -> String {
        let mut text = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n\
                        [lib]\nbench = false\n\n[profile.bench]\nopt-level = 0\n\n"
            .to_owned();
        for (name, _) in self.targets() {
            text += &format!("[[bench]]\nname = \"{name}\"\nharness = false\n\n");
        }
        text += "[dev-dependencies]\n";
        for (name, version) in self.targets() {
            text += &format!(
                "{name} = {{ package = \"criterion\", version = \"={version}\", default-features = false }}\n"
            );
        }
        text
    }

    /// A repository whose benchmarks have these bodies, with everything compiled but its own crate. Its
    /// library has the constant `TIME`, 1000 at base and 1250 at head.
    fn fixture(&self, body: &str) -> Fixture {
        let fixture = Fixture::new();
        fixture.write("Cargo.toml", self.manifest());
        fixture.write("Cargo.lock", self.lockfile);
        fixture.write(".gitignore", "/target\nCargo.lock\n");
        for (name, _) in self.targets() {
            let bench = bench(body).replace("use criterion::", &format!("use {name}::"));
            fixture.write(&format!("benches/{name}.rs"), bench);
        }
        fixture.commit_two_times();
        fixture
    }

    /// Runs the program; one launch pair is enough where times do not vary.
    fn compare(&self, fixture: &Fixture, options: &[&str]) -> Run {
        let arguments = ["base..HEAD", "--runs", "1", "--format", "json"];
        let mut command = fixture.command(&[&arguments, options].concat());
        let run = Run::of(command.env("CARGO_TARGET_DIR", self.compiled()).output().unwrap());
        fixture.assert_nothing_left_behind();
        run
    }

    /// A target directory in which these versions are compiled, the same for all of them.
    fn compiled(&self) -> PathBuf {
        let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("criterions");
        let crate_root = shared.join(self.versions[0]);
        let write = |path: &str, content: &str| {
            let path = crate_root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if std::fs::read_to_string(&path).ok().as_deref() != Some(content) {
                std::fs::write(path, content).unwrap();
            }
        };
        write("Cargo.toml", &(self.manifest() + "\n[workspace]\n"));
        write("Cargo.lock", self.lockfile);
        write("src/lib.rs", "");
        for (name, _) in self.targets() {
            write(&format!("benches/{name}.rs"), "fn main() {}\n");
        }
        let target = shared.join("target");
        let output = Command::new("cargo")
            .args(["bench", "--no-run", "--quiet", "--locked", "--target-dir"])
            .arg(&target)
            .current_dir(&crate_root)
            .env_remove("RUSTFLAGS")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        target
    }
}

/// Fails unless this benchmark of this target went from 1000 to 1250 ns.
#[track_caller]
fn assert_slower(results: &Results, target: &str, benchmark: &str) {
    let found = results.comparisons.iter().find(|c| c.target == target && c.benchmark == benchmark);
    let found = found.unwrap_or_else(|| panic!("no {target}::{benchmark} in {results:#?}"));
    assert_eq!((found.method, found.pairs, found.unit.as_str()), (Method::Process, 1, "ns"));
    assert!((found.base.nanoseconds.unwrap() - 1000.0).abs() < 1e-6, "{:?}", found.base);
    assert!((found.head.nanoseconds.unwrap() - 1250.0).abs() < 1e-6, "{:?}", found.head);
    assert!((found.improvement_percent.unwrap().value() - -20.0).abs() < 1e-6);
}

#[test]
fn criterion_from_0_3_6_to_0_8_is_measured_over_its_socket() {
    let fixture = SINCE_036.fixture(&steady("steady", "sample::TIME"));
    let results = SINCE_036.compare(&fixture, &[]).exits_with(0).results();
    for (target, _) in SINCE_036.targets() {
        assert_slower(&results, &target, "steady");
    }
    assert_eq!(results.comparisons.len(), SINCE_036.versions.len());
}

#[test]
fn criterion_0_3_3_which_wants_whole_seconds_is_measured_over_its_socket() {
    let work =
        "    c.bench_function(\"work\", |b| b.iter(|| (0..200u64).map(black_box).sum::<u64>()));\n";
    let fixture = V033.fixture(&(steady("steady", "sample::TIME") + work));
    let results = V033.compare(&fixture, &[]).exits_with(0).results();
    assert_slower(&results, "criterion_033", "steady");
    // In step its seconds pass faster: there would be two of them.
    let work = results.measured.iter().find(|measured| measured.benchmark == "work").unwrap();
    let in_step = cfg!(all(target_os = "linux", target_env = "gnu"));
    assert!(!in_step || work.seconds < 0.5, "{} s", work.seconds);
}

#[test]
fn criterion_0_3_0_without_a_socket_is_measured_by_its_files_and_its_failures_are_told() {
    let long = format!("a group/with spaces & {}/n=16", "a name of many letters ".repeat(5));
    // What its `--list` shows, and its results too.
    let shown = format!("{}...", &long[..100]);
    let body = steady("steady", "sample::TIME")
        + "    c.bench_function(\"bad\", |b| {\n        \
           if sample::TIME > 1000 { panic!(\"no such luck\"); }\n        b.iter(|| 1)\n    });\n"
        + &steady(&long, "sample::TIME");
    let fixture = V030.fixture(&body);
    let results = V030.compare(&fixture, &[]).exits_with(3).results();
    assert_slower(&results, "criterion_030", "steady");
    let bad: Vec<_> = results.failed.iter().map(|f| f.benchmark.as_deref().unwrap()).collect();
    assert_eq!(bad, ["bad", &shown]);
    for failure in &results.failed {
        assert_eq!(failure.side, "head");
        assert!(failure.error.contains("no such luck"), "{}", failure.error);
    }
    // A whole process runs everything, so that what comes after the panic is out of reach.
    assert!(results.failed[1].error.contains("it was not reached"), "{}", results.failed[1].error);

    let harmless = body.replace("panic!", "println!");
    let source = bench(&harmless).replace("use criterion::", "use criterion_030::");
    fixture.write("benches/criterion_030.rs", source);
    fixture.commit("no panic");
    let results = V030.compare(&fixture, &["--skip", "^bad$"]).exits_with(0).results();
    assert_eq!(results.comparisons.len(), 2);
    assert_slower(&results, "criterion_030", &shown);
}

#[test]
fn a_harness_of_its_own_is_left_out_with_a_note_and_never_run_nor_are_tests() {
    let fixture = Fixture::new();
    let ran = fixture.outside().join("ran");
    let writes = format!("std::fs::write({ran:?}, \"\").unwrap();");
    fixture.write(
        "Cargo.toml",
        manifest("sample", &["timing", "own"]).replace("bench = false", "bench = true")
            + "\n[[bench]]\nname = \"plain\"\nharness = true\n",
    );
    fixture.write("benches/timing.rs", bench(&steady("a", "sample::TIME")));
    fixture.write("benches/own.rs", format!("fn main() {{ {writes} }}\n"));
    fixture.write("benches/plain.rs", format!("#[test]\nfn test() {{ {writes} }}\n"));
    let library =
        |time: u32| format!("pub const TIME: u64 = {time};\n#[test]\nfn test() {{ {writes} }}\n");
    fixture.write("src/lib.rs", library(1000));
    fixture.write(".gitignore", "/target\nCargo.lock\n");
    fixture.lock("sample");
    fixture.commit("base");
    fixture.git(&["tag", "base"]);
    fixture.write("src/lib.rs", library(1250));
    fixture.commit("head");

    let results =
        fixture.run(&["base..HEAD", "--runs", "1", "--format", "json"]).exits_with(0).results();
    assert_slower(&results, "timing", "a");
    assert_eq!(results.comparisons.len(), 1);
    let left_out: Vec<_> =
        results.notes.iter().filter(|note| note.contains("left out")).map(String::as_str).collect();
    let [left_out] = left_out[..] else { panic!("{left_out:?}") };
    assert!(
        left_out.starts_with("`sample::own` is left out: it has a harness of its own"),
        "{left_out}"
    );
    assert!(left_out.contains("[target.own]"), "{left_out}");
    assert!(!ran.exists(), "an unknown executable was run");
}
