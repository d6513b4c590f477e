//! Runs that are interrupted, terminated and killed, and disks that are full.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cargo_bench_compare::results::Results;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Fixture, Run, bench, steady};

use super::{plain, two_commits};

/// Tells a test's own programs where to say that they run, and how long to go on: while that file's
/// directory exists.
const MARKER: &str = "TEST_MARKER";

/// Waits for something that must happen sooner or later.
#[track_caller]
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(300), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether this process was told to ignore hangups, and so are those that it starts.
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 == 1
}

/// The program, running. It is killed if the test fails meanwhile.
struct Running(Option<Child>);

impl Running {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(Some(command.spawn().unwrap()))
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("it is taken at the end only")
    }

    /// Waits until the program is somewhere. If it ends before, the test fails with what it said.
    #[track_caller]
    fn until(mut self, what: &str, mut look: impl FnMut() -> bool) -> Self {
        let there = wait_for(what, || match look() {
            true => Some(true),
            false => self.child().try_wait().unwrap().map(|_| false),
        });
        if !there {
            panic!("it ended before {what}: {:?}", self.end());
        }
        self
    }

    fn send(&mut self, signal: Signal) {
        kill_process(Pid::from_child(self.child()), signal).unwrap();
    }

    fn end(mut self) -> Run {
        Run::of(self.0.take().expect("it is taken here only").wait_with_output().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Programs that run in a directory, or from it, or with it among their arguments.
fn processes_in(directory: &Path) -> Vec<String> {
    let directory = directory.canonicalize().unwrap();
    let text = directory.to_str().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|process| {
        let process = process.path();
        let link = |name: &str| std::fs::read_link(process.join(name)).unwrap_or_default();
        let arguments = std::fs::read(process.join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
        let inside = link("cwd").starts_with(&directory) || link("exe").starts_with(&directory);
        (inside || arguments.contains(text)).then_some(arguments)
    });
    processes.collect()
}

/// Nothing of an ended run is left. Killed processes take their moment to go.
#[track_caller]
fn assert_no_trace(fixture: &Fixture) {
    fixture.assert_nothing_left_behind();
    wait_for("the end of its processes", || {
        processes_in(fixture.outside()).is_empty().then_some(())
    });
}

/// A build script that says that it runs, with a child that cannot be interrupted. Both go on while the
/// marker is there.
const SLOW_BUILD: &str = r#"
fn main() {
    println!("cargo:rerun-if-env-changed=TEST_MARKER");
    if std::env::var_os("TEST_MARKER").is_some() {
        let script = "trap '' INT TERM HUP; touch \"$TEST_MARKER\"
            while [ -e \"$TEST_MARKER\" ]; do sleep 0.05; done";
        std::process::Command::new("sh").args(["-c", script]).status().unwrap();
    }
}
"#;

#[test]
fn a_run_that_is_stopped_while_building_leaves_nothing() {
    let fixture = Fixture::new();
    let manifest = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    fixture.write("Cargo.toml", manifest);
    fixture.write("build.rs", SLOW_BUILD);
    fixture.write("src/lib.rs", "");
    fixture.commit("one");
    let marker = fixture.outside().join("marker");
    // Where these tests run under nohup, so does the program.
    let hangup = (!hangup_is_ignored()).then_some(Signal::HUP);
    for signal in [Signal::INT, Signal::TERM].into_iter().chain(hangup) {
        let mut command = fixture.command(&["HEAD"]);
        command.env(MARKER, &marker);
        let mut running = Running::start(command).until("the build", || marker.exists());
        running.send(signal);
        let run = running.end().exits_with(130);
        assert!(run.stderr.ends_with("error: interrupted\n"), "{}", run.stderr);
        assert_no_trace(&fixture);
        std::fs::remove_file(&marker).unwrap();
    }

    // Under nohup a hangup is no reason to stop. (There is no benchmark in the end.)
    let mut command = Command::new("sh");
    let program = fixture.command(&[]);
    command.args(["-c", "trap '' HUP; exec \"$0\" HEAD"]).arg(program.get_program());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // Without its directory there is no marker, and the head's build does not wait.
    let marker = fixture.outside().join("once/marker");
    std::fs::create_dir(marker.parent().unwrap()).unwrap();
    command.current_dir(fixture.root()).env(MARKER, &marker);
    let mut running = Running::start(command).until("the build", || marker.exists());
    running.send(Signal::HUP);
    std::fs::remove_dir_all(marker.parent().unwrap()).unwrap();
    let run = running.end().exits_with(3);
    assert!(run.stderr.contains("error: there are no benchmarks to compare"), "{}", run.stderr);
    assert_no_trace(&fixture);
}

#[test]
fn a_run_that_is_stopped_while_git_works_leaves_nothing() {
    let fixture = plain();
    let marker = fixture.outside().join("marker");
    // Checks out, and then goes on.
    let path = std::env::var_os("PATH").unwrap();
    let is_git = |directory: &PathBuf| directory.join("git").is_file();
    let real = std::env::split_paths(&path).find(is_git).unwrap().join("git");
    let script = format!(
        "#!/bin/sh\n'{}' \"$@\" || exit 1\ncase \"$*\" in\n*' worktree add '*) touch \"$TEST_MARKER\"\n\
         while [ -e \"$TEST_MARKER\" ]; do sleep 0.05; done;;\nesac\n",
        real.display()
    );
    let directory = fixture.outside().join("bin");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("git"), script).unwrap();
    super::make_executable(&directory.join("git"), true);
    let mut command = fixture.command(&["v1..main"]);
    let path = std::env::join_paths([directory].into_iter().chain(std::env::split_paths(&path)));
    command.env("PATH", path.unwrap()).env(MARKER, &marker);
    let mut running = Running::start(command).until("git", || marker.exists());
    running.send(Signal::INT);
    let run = running.end().exits_with(130);
    assert!(run.stderr.ends_with("\nerror: interrupted\n"), "{}", run.stderr);
    assert_no_trace(&fixture);
}

#[test]
fn a_second_signal_ends_the_program_at_once_and_the_next_run_clears_up() {
    let fixture = plain();
    // A cargo that does not stop when it is asked to.
    let cargo = fixture.outside().join("cargo");
    let marker = fixture.outside().join("marker");
    let script = "#!/bin/sh\ntrap 'touch \"$TEST_MARKER.asked\"' INT\ntouch \"$TEST_MARKER\"\n\
                  while [ -e \"$TEST_MARKER\" ]; do sleep 0.05; done\n";
    std::fs::write(&cargo, script).unwrap();
    super::make_executable(&cargo, true);
    let mut command = fixture.command(&["v1..main"]);
    command.env("CARGO", &cargo).env_remove("RUSTUP_TOOLCHAIN").env(MARKER, &marker);
    let mut running = Running::start(command).until("cargo", || marker.exists());
    running.send(Signal::INT);
    let asked = fixture.outside().join("marker.asked");
    let mut running = running.until("the request to cargo", || asked.exists());
    running.send(Signal::INT);
    running.end().exits_with(130);
    // It did not wait for cargo and then remove its worktrees.
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 3);
    drop(super::CheckedOut::in_fixture(&fixture, "v1..main"));
    // Cargo, which goes on while the marker is there, died with the program.
    assert_no_trace(&fixture);
}

/// The results that a run has saved so far.
fn saved(fixture: &Fixture) -> Option<Results> {
    let repository = std::fs::read_dir(fixture.cache()).ok()?.next()?.ok()?.path();
    Results::load(&repository.join("last/results.json")).ok()
}

fn has_measured(fixture: &Fixture, groups: usize) -> bool {
    let results = saved(fixture);
    results.is_some_and(|r| r.measured.iter().any(|measured| measured.launches.len() >= groups))
}

fn forget_results(fixture: &Fixture) {
    let repository = std::fs::read_dir(fixture.cache()).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_dir_all(repository.join("last")).unwrap();
}

#[test]
fn a_run_that_is_stopped_while_measuring_keeps_what_it_has_and_one_that_is_killed_is_cleared_up() {
    let library = |nanoseconds: u32| format!("pub const A: u64 = {nanoseconds};\n");
    let fixture = Fixture::with_bench(&library(1000), &bench(&steady("a", "sample::A")));
    fixture.write("src/lib.rs", library(2000));
    fixture.commit("head");
    let many = ["base..HEAD", "--runs", "1000"];
    for signal in [Signal::INT, Signal::TERM] {
        let running = Running::start(fixture.command(&many));
        let mut running = running.until("a measurement", || has_measured(&fixture, 2));
        running.send(signal);
        let run = running.end().exits_with(130);
        assert!(run.stderr.ends_with("error: interrupted\n"), "{}", run.stderr);
        assert_no_trace(&fixture);

        let results = fixture.run(&["report", "--format", "json"]).exits_with(0).results();
        assert!(!results.complete);
        assert!(results.comparisons[0].pairs >= 2, "{results:?}");
        assert_eq!(results.comparisons[0].improvement_percent.unwrap().value(), -50.0);
        // What was measured is shown at once, too.
        let table = fixture.run(&["report"]).exits_with(0).stdout;
        assert_eq!(run.stdout, table);
        assert!(table.contains("-50"), "{table}");
        forget_results(&fixture);
    }

    let running = Running::start(fixture.command(&many));
    let mut running = running.until("a measurement", || has_measured(&fixture, 1));
    running.send(Signal::KILL);
    assert_eq!(running.end().code, None);
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 3);
    // Its processes die with it.
    wait_for("the end of its processes", || {
        processes_in(fixture.outside()).is_empty().then_some(())
    });

    let run = fixture.run(&["base..HEAD", "--runs", "2", "--format", "json"]).exits_with(0);
    assert!(run.results().complete);
    assert_no_trace(&fixture);
}

#[test]
fn two_runs_at_once_do_not_harm_each_other_whatever_the_repository_is_called() {
    let fixture = Fixture::named("it's 100% größer");
    fixture.write("Cargo.toml", crate::support::manifest("sample", &["timing"]));
    fixture.write("src/lib.rs", "");
    fixture.write("benches/timing.rs", bench(&steady("a", "1000")));
    fixture.write(".gitignore", "Cargo.lock\n");
    fixture.lock("sample");
    fixture.commit("one");
    let start = || Running::start(fixture.command(&["list", "HEAD..HEAD"]));
    let both = [start(), start()];
    for run in both.map(|running| running.end().exits_with(0)) {
        assert_eq!(run.stdout, "sample::timing::a  (identical code)\n");
        let note = "base and head are the same commit: this compares the code with itself";
        assert!(run.stderr.contains(note), "{}", run.stderr);
    }
    assert_no_trace(&fixture);
    let repository = crate::support::walk(&fixture.cache(), 1).pop().unwrap();
    let slots: Vec<PathBuf> = crate::support::walk(&repository, 1);
    assert_eq!(slots.len(), 2, "{slots:?}");
}

/// A small file system that is taken away again.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` for whoever may not mount one.
    fn at(directory: PathBuf) -> Option<Self> {
        std::fs::create_dir_all(&directory).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&directory);
        mount.output().is_ok_and(|output| output.status.success()).then_some(Self(directory))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_said_to_be_full() {
    let fixture = Fixture::new();
    two_commits(&fixture);
    let Some(_disk) = SmallDisk::at(fixture.cache()) else {
        eprintln!("skipped: only root can mount a small file system");
        return;
    };
    let fails_with = |expected: &str| {
        let run = fixture.run(&["list", "v1"]).exits_with(3);
        for text in [expected, "`cargo bench-compare clean` removes what was kept between runs"] {
            assert!(run.stderr.contains(text), "{}", run.stderr);
        }
        fixture.assert_nothing_left_behind();
    };
    // A file of the working tree is copied; that of a commit is written by git, which does not say why it
    // cannot.
    fixture.write("large", vec![7; 3 << 20]);
    fails_with("No space left on device");
    fixture.commit("large");
    fails_with("help: if the disk is full, free some space;");
}
