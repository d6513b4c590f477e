//! Every harness but criterion: real executables, awkward names, failures, and lock-step.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod divan;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod gungraun;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod libtest;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod others;

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_bench_compare::results::{Comparison, Results};

use crate::support::{Fixture, Run};

/// A crate `sample` with these bench targets, each built with a harness of its own (`harness = false`) or with
/// libtest, and with one dependency at most.
pub struct Crate {
    /// A line of `[dev-dependencies]`, and the lockfile for it.
    pub dependency: Option<(&'static str, &'static str)>,
    pub targets: Vec<(&'static str, bool)>,
    /// Further lines of the manifest.
    pub more: &'static str,
}

impl Crate {
    fn manifest(&self) -> String {
        let mut text = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n\
             [profile.bench]\nopt-level = 0\n\n[dev-dependencies]\n"
            .to_owned();
        if let Some((dependency, _)) = self.dependency {
            text += &format!("{dependency}\n");
        }
        for (target, libtest) in &self.targets {
            text += &format!("\n[[bench]]\nname = \"{target}\"\nharness = {libtest}\n");
        }
        text + self.more
    }

    /// A repository with this crate and these files, in which the library's constant `N` is 1000 at `base` and
    /// 3000 at `HEAD`.
    pub fn fixture(&self, files: &[(&str, &str)]) -> Fixture {
        let fixture = Fixture::new();
        fixture.write("Cargo.toml", self.manifest());
        if let Some((_, lockfile)) = self.dependency {
            fixture.write("Cargo.lock", lockfile);
        }
        fixture.write(".gitignore", "/target\nCargo.lock\n");
        for (path, content) in files {
            fixture.write(path, content);
        }
        fixture.write("src/lib.rs", library(1000));
        fixture.commit("base");
        fixture.git(&["tag", "base"]);
        fixture.write("src/lib.rs", library(3000));
        fixture.commit("head");
        fixture
    }

    /// Runs the program with the dependency compiled already, and with a stable compiler that passes for an
    /// unstable one.
    pub fn run(&self, fixture: &Fixture, arguments: &[&str]) -> Run {
        let mut command = fixture.command(arguments);
        command.env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", self.compiled());
        let run = Run::of(command.output().unwrap());
        fixture.assert_nothing_left_behind();
        run
    }

    /// The results of a fixed number of launch pairs.
    #[track_caller]
    pub fn compare(&self, fixture: &Fixture, runs: &str, more: &[&str], code: i32) -> Results {
        let arguments = ["base..HEAD", "--runs", runs, "--layouts", "off", "--format", "json"];
        self.run(fixture, &[&arguments, more].concat()).exits_with(code).results()
    }

    /// A target directory in which the dependency is compiled, once for all tests.
    fn compiled(&self) -> PathBuf {
        let Some((dependency, lockfile)) = self.dependency else {
            return Path::new(env!("CARGO_TARGET_TMPDIR")).join("harnesses/none");
        };
        let name: String = dependency.chars().filter(char::is_ascii_alphanumeric).collect();
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("harnesses").join(name);
        let write = |path: &str, content: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if std::fs::read_to_string(&path).ok().as_deref() != Some(content) {
                std::fs::write(path, content).unwrap();
            }
        };
        write(
            "Cargo.toml",
            &(Self { targets: vec![("nothing", false)], more: "", ..*self }.manifest()
                + "\n[workspace]\n"),
        );
        write("Cargo.lock", lockfile);
        write("src/lib.rs", "");
        write("benches/nothing.rs", "fn main() {}\n");
        let output = Command::new("cargo")
            .args(["bench", "--no-run", "--quiet", "--locked", "--target-dir", "target"])
            .current_dir(&root)
            .env("RUSTC_BOOTSTRAP", "1")
            .env_remove("RUSTFLAGS")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        root.join("target")
    }
}

/// `spin(n)` takes a time that grows with `n`.
fn library(n: u32) -> String {
    format!(
        "pub const N: u64 = {n};\n\
         pub fn spin(n: u64) -> u64 {{ (0..std::hint::black_box(n)).fold(0, |a, x| a ^ std::hint::black_box(x)) }}\n"
    )
}

pub fn ids(results: &Results) -> Vec<&str> {
    results.comparisons.iter().map(|comparison| comparison.benchmark.as_str()).collect()
}

#[track_caller]
pub fn comparison<'a>(results: &'a Results, benchmark: &str) -> &'a Comparison {
    let found = results.comparisons.iter().find(|comparison| comparison.benchmark == benchmark);
    found.unwrap_or_else(|| panic!("no {benchmark} in {results:#?}"))
}

/// Fails unless it takes about three times as long as before in most launch pairs: far more than any disturbance
/// changes it, but a single launch may come to nothing on a busy machine.
#[track_caller]
pub fn assert_much_slower(comparison: &Comparison) {
    let typical = cargo_bench_compare::stats::median(&comparison.log_ratios).unwrap();
    assert!((0.5..1.9).contains(&typical), "{comparison:#?}");
}
