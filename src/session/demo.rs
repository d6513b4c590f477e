//! A sample repository: a small crate with three benchmarks, and a commit that makes one slower, one
//! faster, and leaves one as it is.

use std::path::Path;

use fs_err as fs;

use crate::revision::{self, Cache, Range, git};
use crate::session::{How, Settings, What};
use crate::system::Result;

/// What is said before the comparison.
pub const INTRODUCTION: &str = "\
A sample repository with three benchmarks. Its second commit makes `checksum` do 20 % more work
(-16.7 %, in terms of speed), `find` a third less (+50 %), and leaves `reverse` as it is.
";

/// What is said after it.
pub const CONCLUSION: &str = "
In a repository of your own with criterion benchmarks:
    cargo bench-compare main..HEAD    two revisions
    cargo bench-compare main          your uncommitted changes against main
    cargo bench-compare list          the benchmarks there are";

const MANIFEST: &str = r#"[package]
name = "sample"
version = "0.1.0"
edition = "2021"

[dev-dependencies]
criterion = { version = "0.8", default-features = false }

[lib]
bench = false

[[bench]]
name = "sample"
harness = false

# The sample is built while somebody watches.
[profile.bench.package."*"]
opt-level = 0
"#;

const LIBRARY: &str = r#"//! Three functions to measure.

/// A checksum of the bytes.
pub fn checksum(bytes: &[u8]) -> u32 {
    let rounds = CHECKSUM_ROUNDS;
    (0..rounds).fold(0, |sum, _| bytes.iter().fold(sum, |sum: u32, byte| sum.rotate_left(5) ^ u32::from(*byte)))
}

/// The position of the last byte, found by looking at every byte.
pub fn find(bytes: &[u8]) -> Option<usize> {
    let rounds = FIND_ROUNDS;
    (0..rounds).fold(None, |found, _| {
        bytes.iter().fold((found, 0usize), |(found, at), byte| {
            (if byte.rotate_left(at as u32 & 7) == 77 { Some(at) } else { found }, at + 1)
        }).0
    })
}

/// The bytes in reverse order, each with its bits reversed.
pub fn reverse(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |hash: u64, byte| (hash ^ u64::from(byte.reverse_bits())).wrapping_mul(0x100_0000_01b3))
}
"#;

const BENCHES: &str = r#"use criterion::{criterion_group, criterion_main, Criterion};
use std::hint::black_box;

fn benches(c: &mut Criterion) {
    let bytes: Vec<u8> = (0..2000u32).map(|i| (i * 7919 >> 3) as u8).collect();
    c.bench_function("checksum", |b| b.iter(|| sample::checksum(black_box(&bytes))));
    c.bench_function("find", |b| b.iter(|| sample::find(black_box(&bytes))));
    c.bench_function("reverse", |b| b.iter(|| sample::reverse(black_box(&bytes))));
}

criterion_group!(all, benches);
criterion_main!(all);
"#;

/// The files of the sample: path and content.
pub struct SampleFiles {
    /// All files of the first commit.
    pub before: Vec<(&'static str, String)>,
    /// What the second commit changes.
    pub after: Vec<(&'static str, String)>,
}

/// What the two commits of the sample have in them.
pub fn sample_files() -> SampleFiles {
    SampleFiles {
        before: vec![
            ("Cargo.toml", MANIFEST.to_owned()),
            ("benches/sample.rs", BENCHES.to_owned()),
            (".gitignore", "/target\nCargo.lock\n".to_owned()),
            ("src/lib.rs", library(10, 3)),
        ],
        after: vec![("src/lib.rs", library(12, 2))],
    }
}

fn files_of_equal_speed() -> SampleFiles {
    let library = |edition: u32| {
        format!("{}\n/// Looked at once.\npub const EDITION: u32 = {edition};\n", library(10, 3))
    };
    let benches = BENCHES.replace("fn benches(", "fn benches(c: &mut Criterion) {\n    black_box(sample::EDITION);\n    all_of_them(c);\n}\n\nfn all_of_them(");
    SampleFiles {
        before: vec![
            ("Cargo.toml", MANIFEST.to_owned()),
            ("benches/sample.rs", benches),
            (".gitignore", "/target\nCargo.lock\n".to_owned()),
            ("src/lib.rs", library(1)),
        ],
        after: vec![("src/lib.rs", library(2))],
    }
}

/// The sample repository on disk. Dropping it removes it, and what was kept for it in the cache.
pub struct Repository {
    directory: tempfile::TempDir,
    cache: Cache,
}

impl Repository {
    /// Makes it in a temporary directory: branch `main` with the tag `before`, and one commit after it.
    pub fn create(cache: Cache) -> Result<Self> {
        Self::of(cache, &sample_files())
    }

    /// The same with a second commit that changes a number which no benchmark looks at: the code is not identical, and
    /// as fast.
    pub fn create_of_equal_speed(cache: Cache) -> Result<Self> {
        Self::of(cache, &files_of_equal_speed())
    }

    fn of(cache: Cache, sample: &SampleFiles) -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("bench-compare-demo-").tempdir()?;
        let root = directory.path();
        let write = |path: &str, content: &str| -> Result<()> {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap_or(root))?;
            Ok(fs::write(path, content)?)
        };
        for (path, content) in &sample.before {
            write(path, content)?;
        }
        git(root, ["init", "--quiet", "--initial-branch=main"])?;
        commit(root, "The functions as they were")?;
        git(root, ["tag", "before"])?;
        for (path, content) in &sample.after {
            write(path, content)?;
        }
        commit(root, "A change")?;
        Ok(Self { directory, cache })
    }

    /// The comparison of its two commits.
    pub fn settings(&self, command: String) -> Settings {
        let range = Range::Between("before".to_owned(), "main".to_owned());
        let directory = self.directory.path().to_owned();
        Settings {
            what: What::in_directory(directory, self.cache.clone(), range),
            how: How::default(),
            save: None,
            command,
        }
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        // Nobody can compare this repository again.
        if let Ok(repository) = revision::Repository::discover(self.directory.path()) {
            let _ = self.cache.clean(&repository);
        }
    }
}

fn library(checksum_rounds: u32, find_rounds: u32) -> String {
    LIBRARY
        .replace("CHECKSUM_ROUNDS", &checksum_rounds.to_string())
        .replace("FIND_ROUNDS", &find_rounds.to_string())
}

/// Works without any configuration of git.
fn commit(root: &Path, message: &str) -> Result<()> {
    git(root, ["add", "--all"])?;
    let identity =
        ["-c", "user.name=demo", "-c", "user.email=demo@example.org", "-c", "commit.gpgsign=false"];
    git(root, identity.into_iter().chain(["commit", "--quiet", "-m", message]))?;
    Ok(())
}
