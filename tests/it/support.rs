//! Repositories made for a test, and the program run in them.
//!
//! Criterion is compiled once for all tests: into the target directory of a crate that only depends on
//! it, which every test names as the user's own (`CARGO_TARGET_DIR`), so that the program takes compiled
//! dependencies over from there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use cargo_bench_compare::results::Results;
use tempfile::TempDir;

/// The name in a fixture's manifest that stands for the criterion dependency.
pub const CRITERION: &str = r#"criterion = { version = "0.8", default-features = false }"#;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_cargo-bench-compare");

/// A git repository in a temporary directory, with a cache directory of its own beside it. Both are
/// removed when it is dropped.
pub struct Fixture {
    directory: TempDir,
    name: String,
}

impl Fixture {
    /// An empty repository with the branch `main`.
    pub fn new() -> Self {
        Self::named("sample")
    }

    /// An empty repository in a directory with this name.
    pub fn named(name: &str) -> Self {
        let directory = tempfile::Builder::new().prefix("bench-compare-test-").tempdir().unwrap();
        let fixture = Self { directory, name: name.to_owned() };
        std::fs::create_dir_all(fixture.root()).unwrap();
        fixture.git(&["init", "--quiet", "--initial-branch=main"]);
        fixture
    }

    /// A crate named `sample` with one criterion bench target `timing`, committed and tagged `base`. Its
    /// library is `src/lib.rs`, its bench `benches/timing.rs` as given.
    pub fn with_bench(library: &str, bench: &str) -> Self {
        let fixture = Self::new();
        fixture.write("Cargo.toml", manifest("sample", &["timing"]));
        fixture.write("src/lib.rs", library);
        fixture.write("benches/timing.rs", bench);
        fixture.write(".gitignore", "/target\nCargo.lock\n");
        fixture.lock("sample");
        fixture.commit("base");
        fixture.git(&["tag", "base"]);
        fixture
    }

    /// The repository's top directory.
    pub fn root(&self) -> PathBuf {
        self.directory.path().join(&self.name)
    }

    /// A directory beside the repository, for what a test needs outside it.
    pub fn outside(&self) -> &Path {
        self.directory.path()
    }

    /// The program's cache directory.
    pub fn cache(&self) -> PathBuf {
        self.directory.path().join("cache")
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Puts the lockfile that all fixtures share beside the manifest (ignored by git, as in a library).
    pub fn lock(&self, package: &str) {
        self.write("Cargo.lock", lockfile(package));
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.root(), arguments)
    }

    /// Commits everything.
    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    /// Commits what there is with a library whose constant `TIME` is 1000, tagged `base`, and then with one in
    /// which it is 1250.
    pub fn commit_two_times(&self) {
        self.write("src/lib.rs", "pub const TIME: u64 = 1000;\n");
        self.commit("base");
        self.git(&["tag", "base"]);
        self.write("src/lib.rs", "pub const TIME: u64 = 1250;\n");
        self.commit("head");
    }

    /// The program, to be run in the repository.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .args(arguments)
            .current_dir(self.root())
            .env("CARGO_BENCH_COMPARE_CACHE", self.cache())
            .env("CARGO_TARGET_DIR", warm_target())
            .env("CI", "true")
            .env_remove("RUSTFLAGS");
        // What cargo sets for tests is not there when a user runs the program.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(name);
            }
        }
        command
    }

    /// Runs the program in the repository to its end.
    pub fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().unwrap())
    }

    /// What must hold after every run, however it ended: no worktree is left, and the user's checkout is
    /// as it was.
    pub fn assert_nothing_left_behind(&self) {
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1);
        assert!(!self.root().join(".git/worktrees").exists());
        let slots = std::fs::read_dir(self.cache()).into_iter().flatten().flatten();
        for slot in slots.flat_map(|repository| walk(&repository.path(), 3)) {
            assert_ne!(slot.file_name().unwrap(), "tree", "{}", slot.display());
        }
    }
}

/// How a run of the program ended.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Fails the test, with everything that was printed, unless the exit code is this.
    #[track_caller]
    pub fn exits_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The results of a run with `--format json`.
    #[track_caller]
    pub fn results(&self) -> Results {
        Results::from_json(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.stdout, self.stderr))
    }
}

/// The manifest of a criterion crate with these bench targets.
pub fn manifest(package: &str, benches: &[&str]) -> String {
    let mut text = format!(
        "[package]\nname = \"{package}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n\
         [lib]\nbench = false\n\n[dev-dependencies]\n{CRITERION}\n{}",
        quick_to_build(package)
    );
    for bench in benches {
        text += &format!("\n[[bench]]\nname = \"{bench}\"\nharness = false\n");
    }
    text
}

/// A part of a workspace's root manifest: this package is built in a fifth of the time, and criterion as
/// ever.
pub fn quick_to_build(package: &str) -> String {
    format!("\n[profile.bench.package.{package}]\nopt-level = 0\n")
}

/// A bench target with these functions of `c: &mut Criterion`.
pub fn bench(body: &str) -> String {
    format!(
        "use criterion::{{criterion_group, criterion_main, Criterion}};\n\
         use std::hint::black_box;\nuse std::time::Duration;\n\
         #[allow(unused)] fn keep() {{ black_box(Duration::ZERO); }}\n\
         fn all(c: &mut Criterion) {{\n{body}\n}}\n\
         criterion_group!(benches, all);\ncriterion_main!(benches);\n"
    )
}

/// A benchmark whose time is the same wherever and whenever it runs: so many `nanoseconds` an iteration,
/// an expression. (It sleeps meanwhile, because criterion chooses the number
/// of iterations by the clock.)
pub fn steady(id: &str, nanoseconds: &str) -> String {
    format!(
        "    c.bench_function({id:?}, |b| b.iter_custom(|n| {{\n        \
         std::thread::sleep(Duration::from_micros(20 * n));\n        \
         Duration::from_nanos(n * {nanoseconds})\n    }}));\n"
    )
}

/// The shared lockfile, for a package of this name.
pub fn lockfile(package: &str) -> String {
    include_str!("../fixtures/Cargo.lock").replace("\"fixture\"", &format!("\"{package}\""))
}

pub fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(directory)
        .args(["-c", "user.name=test", "-c", "user.email=test@example.org"])
        .args(["-c", "commit.gpgsign=false", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// Writes a script that can be run.
#[cfg(unix)]
pub fn write_program(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The target triple of this machine.
pub fn host_triple() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

/// All paths below a directory down to a depth.
pub fn walk(directory: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        found.push(entry.path());
        if depth > 1 && entry.file_type().unwrap().is_dir() {
            found.extend(walk(&entry.path(), depth - 1));
        }
    }
    found
}

/// A target directory in which criterion is compiled. Built by the first test that needs it, and kept.
pub fn warm_target() -> &'static Path {
    static TARGET: OnceLock<PathBuf> = OnceLock::new();
    TARGET.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("criterion");
        let write = |path: &str, content: &str| {
            let path = directory.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            // Unchanged files keep their time stamps.
            if std::fs::read_to_string(&path).ok().as_deref() != Some(content) {
                std::fs::write(path, content).unwrap();
            }
        };
        write("Cargo.toml", &(manifest("fixture", &["nothing"]) + "\n[workspace]\n"));
        write("Cargo.lock", &lockfile("fixture"));
        write("src/lib.rs", "");
        write("benches/nothing.rs", &bench(""));
        // Cargo's own lock keeps several test processes from building it at once.
        let output = Command::new("cargo")
            .args(["bench", "--no-run", "--quiet", "--locked", "--target-dir", "target"])
            .current_dir(&directory)
            .env_remove("RUSTFLAGS")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        directory.join("target")
    })
}
