//! The repository that is measured.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Result, below};

const KERNELS: &str = include_str!("kernels.rs");

const MANIFEST: &str = r#"[package]
name = "kernels"
version = "0.1.0"
edition = "2021"

[workspace]

[lib]
bench = false

[dev-dependencies]
criterion = { version = "0.8", default-features = false }
divan = { version = "0.1", default-features = false }

[[bench]]
name = "kernels"
harness = false

[[bench]]
name = "with_divan"
harness = false
"#;

const WITH_CRITERION: &str = r#"use criterion::{criterion_group, criterion_main, Criterion};
use std::hint::black_box;

fn benches(c: &mut Criterion) {
    for (name, kernel) in kernels::KERNELS {
        c.bench_function(*name, |b| b.iter(|| kernels::repeat(*kernel, black_box(0x2545_f491_4f6c_dd1d))));
    }
}

criterion_group!(all, benches);
criterion_main!(all);
"#;

const WITH_DIVAN: &str = r#"fn main() {
    divan::main();
}

#[divan::bench(args = kernels::NAMES)]
fn kernels(bencher: divan::Bencher, name: &str) {
    let kernel = kernels::kernel(name);
    bencher.bench_local(|| kernels::repeat(kernel, divan::black_box(0x2545_f491_4f6c_dd1d)));
}
"#;

/// How many revisions there are whose functions lie elsewhere.
const MOVED: u64 = 4;

/// The revision whose functions lie elsewhere in a session, from 1: several in turn.
pub fn moved(session: u64) -> String {
    format!("moved{}", (session - 1) % MOVED + 1)
}

/// A repository with the tags `base`, `same`, `moved1`..., `slower1`, `slower2` and `slower5`.
pub struct Repository {
    directory: PathBuf,
    /// The benchmarks that are measured: a regular expression for their ids.
    pub filter: String,
}

impl Repository {
    /// Makes it anew; what was compiled of an earlier one in that place is kept.
    pub fn create(directory: &Path, filter: &str) -> Result<Self> {
        std::fs::create_dir_all(directory)?;
        let repository = Self { directory: directory.canonicalize()?, filter: filter.to_owned() };
        let root = repository.root();
        if root.join(".git").exists() {
            std::fs::remove_dir_all(root.join(".git"))?;
        }
        repository.write("Cargo.toml", MANIFEST)?;
        repository.write("benches/kernels.rs", WITH_CRITERION)?;
        repository.write("benches/with_divan.rs", WITH_DIVAN)?;
        repository.write(".gitignore", "/target\nCargo.lock\n")?;
        repository.git(&["init", "--quiet", "--initial-branch=main"])?;
        repository.commit("base", 1, 200, 0)?;
        repository.commit("same", 2, 200, 0)?;
        for number in 1..=MOVED {
            repository.commit(&format!("moved{number}"), 10 + number, 200, 3 * number)?;
        }
        // A two hundredth of the rounds is half a percent.
        for percent in [1, 2, 5] {
            repository.commit(&format!("slower{percent}"), 20 + percent, 200 + 2 * percent, 2)?;
        }
        Ok(repository)
    }

    /// Lets a command run in it, with what is kept for it beside it.
    pub fn enter(&self, command: &mut Command) {
        command
            .current_dir(self.root())
            .env("CARGO_BENCH_COMPARE_CACHE", below(&self.directory, "cache"))
            .env("CARGO_TARGET_DIR", below(&self.directory, "target"))
            .env_remove("CARGO_ENCODED_RUSTFLAGS");
    }

    /// Where results of this name are kept.
    pub fn results(&self, name: &str) -> Result<PathBuf> {
        let directory = below(&self.directory, "results");
        std::fs::create_dir_all(&directory)?;
        Ok(below(&directory, name))
    }

    /// The file with the functions that are measured, as the last revision has it.
    pub fn source(&self) -> PathBuf {
        self.root().join("src/lib.rs")
    }

    /// A directory for something else, beside it.
    pub fn scratch(&self, name: &str) -> Result<PathBuf> {
        let directory = below(&self.directory, name);
        std::fs::create_dir_all(&directory)?;
        Ok(directory)
    }

    /// Checks a revision out.
    pub fn check_out(&self, revision: &str) -> Result<()> {
        self.git(&["checkout", "--quiet", "--force", revision])
    }

    /// Runs its criterion benchmarks as they are. Gives what they print, and how long they take.
    pub fn cargo_bench(&self, arguments: &[&str]) -> Result<(String, Duration)> {
        let bench = |arguments: &[&str]| -> Result<String> {
            let mut command = Command::new("cargo");
            command.args(["bench", "--quiet", "--bench", "kernels"]).args(arguments);
            self.enter(&mut command);
            let output = command.stderr(Stdio::inherit()).output()?;
            if !output.status.success() {
                return Err(format!("cargo bench: {}", output.status).into());
            }
            Ok(String::from_utf8(output.stdout)?)
        };
        bench(&["--no-run"])?;
        let began = Instant::now();
        let text = bench(&[&["--"], arguments].concat())?;
        Ok((text, began.elapsed()))
    }

    fn root(&self) -> PathBuf {
        below(&self.directory, "kernels")
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("it has one"))?;
        Ok(std::fs::write(path, text)?)
    }

    /// Commits the kernels with a mark of their own, so many rounds, and so many more functions among them.
    fn commit(&self, tag: &str, mark: u64, rounds: u64, more: u64) -> Result<()> {
        let mut text = KERNELS
            .replace("ROUNDS: u64 = 200", &format!("ROUNDS: u64 = {rounds}"))
            .replace("MARK: u64 = 0", &format!("MARK: u64 = {mark}"));
        for number in 0..more {
            // Each of another length, and kept although nobody calls it.
            let body = format!("x.rotate_left({number}) ^ {mark}, ")
                .repeat(1 + (number * 7 + more) as usize % 11);
            text += &format!(
                "\n#[used]\npub static MORE_{number}: fn(u64) -> u64 = more_{number};\n\
                 #[inline(never)]\nfn more_{number}(x: u64) -> u64 {{ [{body}].iter().fold(x, |a, b| a.wrapping_mul(*b | 3)) }}\n"
            );
        }
        self.write("src/lib.rs", &text)?;
        self.git(&["add", "--all"])?;
        let identity = [
            "-c",
            "user.name=noise",
            "-c",
            "user.email=noise@example.org",
            "-c",
            "commit.gpgsign=false",
        ];
        self.git(&[&identity[..], &["commit", "--quiet", "-m", tag]].concat())?;
        self.git(&["tag", "--force", tag])
    }

    fn git(&self, arguments: &[&str]) -> Result<()> {
        let status = Command::new("git")
            .args(arguments)
            .current_dir(self.root())
            .stdout(Stdio::null())
            .status()?;
        if status.success() { Ok(()) } else { Err(format!("git {arguments:?}: {status}").into()) }
    }
}
