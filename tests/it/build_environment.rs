//! Every build and launch has the configuration, toolchain, lockfile and environment that cargo itself would
//! give it in a checkout of the revision.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

#[cfg(unix)]
use crate::support::write_program;
use crate::support::{Fixture, Run, bench, git, host_triple, manifest, steady, warm_target};

/// A crate without dependencies whose build script adds a line to the file that `BUILD_LOG` names: the
/// values of these variables, as it sees them.
fn logged(variables: &[&str]) -> Fixture {
    let fixture = Fixture::new();
    fixture.write(
        "Cargo.toml",
        "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
         [lib]\nbench = false\n[[bench]]\nname = \"timing\"\nharness = false\n",
    );
    fixture.write("build.rs", build_script(variables));
    fixture.write("src/lib.rs", "");
    fixture.write("benches/timing.rs", "fn main() {}\n");
    fixture.write(".gitignore", "Cargo.lock\n");
    fixture.commit("base");
    fixture.git(&["tag", "base"]);
    fixture
}

fn build_script(variables: &[&str]) -> String {
    format!(
        "use std::io::Write;\nfn main() {{\n\
         let values: Vec<String> = {variables:?}.iter().map(|v: &&str| std::env::var(v).unwrap_or_default()).collect();\n\
         let log = std::env::var(\"BUILD_LOG\").unwrap();\n\
         let mut log = std::fs::File::options().create(true).append(true).open(log).unwrap();\n\
         writeln!(log, \"{{}}\", values.join(\" \")).unwrap();\n}}\n"
    )
}

/// Builds both sides of a [`logged`] crate, with these variables set, or removed if they are empty. It has
/// nothing to measure.
#[track_caller]
fn build(fixture: &Fixture, arguments: &[&str], set: &[(&str, &str)]) -> Run {
    let log = fixture.outside().join("build.log");
    let _ = std::fs::remove_file(&log);
    let mut command = fixture.command(&[&["list"], arguments].concat());
    command.env("BUILD_LOG", &log);
    for (name, value) in set {
        match *value {
            "" => command.env_remove(name),
            value => command.env(name, value),
        };
    }
    Run::of(command.output().unwrap()).exits_with(3)
}

/// What the build scripts saw in [`build`]: first base's, then head's.
#[track_caller]
fn seen_by_builds(fixture: &Fixture, arguments: &[&str], set: &[(&str, &str)]) -> Vec<String> {
    let run = build(fixture, arguments, set);
    assert!(run.stderr.contains("a harness of its own"), "{}", run.stderr);
    let log = std::fs::read_to_string(fixture.outside().join("build.log")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

#[test]
fn each_side_has_the_flags_of_its_own_configuration_and_a_directory_of_its_own() {
    let fixture = logged(&["CARGO_ENCODED_RUSTFLAGS", "OUT_DIR"]);
    let shared = fixture.outside().join("shared");
    let config = |flags: &str| {
        let shared = shared.display();
        format!(
            "[build]\nrustflags = [{flags}]\ntarget-dir = \"{shared}\"\nbuild-dir = \"{shared}\"\n"
        )
    };
    fixture.write(".cargo/config.toml", config("\"--cfg=slow\""));
    fixture.commit("head");
    // What lies in the user's checkout counts for neither side.
    fixture.write(".cargo/config.toml", config("\"--cfg=uncommitted\""));
    let by_environment = shared.to_str().unwrap();
    for (range, flags, shared) in [
        ("base..HEAD", ["", "--cfg=slow"], by_environment),
        ("HEAD..base", ["--cfg=slow", ""], by_environment),
        // By the configuration.
        ("base..HEAD", ["", "--cfg=slow"], ""),
    ] {
        let own = [("CARGO_BUILD_BUILD_DIR", shared), ("CARGO_TARGET_DIR", shared)];
        let seen = seen_by_builds(&fixture, &[range], &own);
        assert_eq!(seen.len(), 2, "{seen:?}");
        for (seen, (flag, side)) in seen.iter().zip(flags.into_iter().zip(["base", "head"])) {
            let (flags, directory) = seen.split_once(' ').unwrap();
            assert_eq!(flags, flag, "{range}: {side}");
            let target = format!("/{side}/target/");
            assert!(
                directory.starts_with(fixture.cache().canonicalize().unwrap().to_str().unwrap())
            );
            assert!(directory.contains(&target), "{directory}");
        }
    }
    assert!(!shared.exists());
}

#[test]
fn profile_target_and_features_are_those_that_were_asked_for() {
    let names = [
        "PROFILE",
        "OPT_LEVEL",
        "TARGET",
        "CARGO_FEATURE_DEFAULT",
        "CARGO_FEATURE_A",
        "CARGO_FEATURE_B",
    ];
    let fixture = logged(&names);
    let manifest = std::fs::read_to_string(fixture.root().join("Cargo.toml")).unwrap()
        + "[features]\ndefault = [\"a\"]\na = []\nb = []\n[profile.mine]\ninherits = \"dev\"\nopt-level = 1\n";
    fixture.write("Cargo.toml", manifest);
    fixture.commit("features");
    fixture.write("src/lib.rs", "pub const A: u32 = 1;\n");
    fixture.commit("head");
    let host = host_triple();
    for (arguments, expected) in [
        (&[][..], format!("release 3 {host} 1 1 ")),
        (&["--no-default-features"], format!("release 3 {host}   ")),
        (&["--no-default-features", "-F", "b"], format!("release 3 {host}   1")),
        (&["--all-features", "--profile", "mine"], format!("debug 1 {host} 1 1 1")),
        (&["--target", &host], format!("release 3 {host} 1 1 ")),
    ] {
        let seen = seen_by_builds(&fixture, &[&["HEAD~1..HEAD"], arguments].concat(), &[]);
        assert_eq!(seen, [expected.clone(), expected], "{arguments:?}");
    }
}

#[test]
fn a_toolchain_file_counts_for_its_revision_unless_the_user_forces_another() {
    let installed = Command::new("rustup").args(["toolchain", "list"]).output();
    let installed = installed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let installed = installed.unwrap_or_default();
    let has = |name: &str| installed.lines().any(|line| line.starts_with(name));
    if !has("stable-") || !has("1.95.0-") {
        eprintln!("skipped: needs rustup with the toolchains `stable` and `1.95.0`");
        return;
    }
    let fixture = logged(&["RUSTUP_TOOLCHAIN"]);
    fixture.write("rust-toolchain.toml", "[toolchain]\nchannel = \"stable\"\n");
    fixture.commit("stable");
    fixture.write("rust-toolchain.toml", "[toolchain]\nchannel = \"1.95.0\"\n");
    fixture.commit("pinned");
    let host = host_triple();
    let channels = |seen: &[String]| -> Vec<String> {
        seen.iter().map(|name| name.replace(&format!("-{host}"), "")).collect()
    };
    let seen = |range: &str, toolchain: &str, source: &str| {
        let set = [("RUSTUP_TOOLCHAIN", toolchain), ("RUSTUP_TOOLCHAIN_SOURCE", source)];
        channels(&seen_by_builds(&fixture, &[range], &set))
    };
    // As `cargo bench-compare` starts it: rustup names the toolchain that it chose for the user's checkout.
    let chosen = format!("1.95.0-{host}");
    assert_eq!(seen("HEAD~1..HEAD", &chosen, "toolchain-file"), ["stable", "1.95.0"]);
    // As older rustups do.
    assert_eq!(seen("HEAD..HEAD~1", &chosen, ""), ["1.95.0", "stable"]);
    // As `cargo +1.95.0 bench-compare` starts it, and with the variable that the user has set.
    assert_eq!(seen("HEAD~1..HEAD", &chosen, "cli"), ["1.95.0", "1.95.0"]);
    assert_eq!(seen("HEAD..HEAD~1", "stable", ""), ["stable", "stable"]);
}

/// A [`logged`] crate whose build script logs the constant of a git dependency, and that dependency's
/// repository with the branch `main`.
fn with_git_dependency() -> (Fixture, PathBuf) {
    let fixture = logged(&[]);
    let dependency = fixture.outside().join("dependency");
    std::fs::create_dir_all(dependency.join("src")).unwrap();
    let manifest = "[package]\nname = \"dependency\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    std::fs::write(dependency.join("Cargo.toml"), manifest).unwrap();
    git(&dependency, &["init", "--quiet", "--initial-branch=main"]);
    advance(&dependency, "one");
    let manifest = std::fs::read_to_string(fixture.root().join("Cargo.toml")).unwrap();
    let url = dependency.display();
    let build = format!("[build-dependencies]\ndependency = {{ git = \"file://{url}\" }}\n");
    fixture.write("Cargo.toml", manifest + &build);
    fixture.write(
        "build.rs",
        "use std::io::Write;\nfn main() {\nlet log = std::env::var(\"BUILD_LOG\").unwrap();\n\
         let mut log = std::fs::File::options().create(true).append(true).open(log).unwrap();\n\
         writeln!(log, \"{}\", dependency::VERSION).unwrap();\n\
         if let Ok(script) = std::env::var(\"MEANWHILE\") {\n\
         assert!(std::process::Command::new(script).status().unwrap().success()); }\n}\n",
    );
    fixture.commit("first");
    fixture.write("src/lib.rs", "pub const A: u32 = 1;\n");
    fixture.commit("second");
    (fixture, dependency)
}

/// A new commit of the dependency.
fn advance(dependency: &Path, version: &str) {
    let source = format!("pub const VERSION: &str = {version:?};\n");
    std::fs::write(dependency.join("src/lib.rs"), source).unwrap();
    git(dependency, &["add", "--all"]);
    git(dependency, &["commit", "--quiet", "-m", version]);
}

fn resolve(fixture: &Fixture) {
    let mut command = Command::new("cargo");
    command.args(["update", "--quiet"]).current_dir(fixture.root());
    assert!(command.status().unwrap().success());
}

#[test]
#[cfg(unix)]
fn both_sides_use_one_resolution_unless_each_has_its_own_lockfile() {
    let (fixture, dependency) = with_git_dependency();
    let versions = |arguments: &[&str]| seen_by_builds(&fixture, arguments, &[]);

    // The user's own, ignored lockfile, though the branch has moved since.
    resolve(&fixture);
    advance(&dependency, "two");
    assert_eq!(versions(&["HEAD~1..HEAD"]), ["one", "one"]);

    // No lockfile at all, and the branch moves while base is built.
    std::fs::remove_file(fixture.root().join("Cargo.lock")).unwrap();
    let script = fixture.outside().join("meanwhile");
    let commit = format!(
        "#!/bin/sh\ncd {} && echo 'pub const VERSION: &str = \"three\";' > src/lib.rs && \
         git -c user.name=t -c user.email=t@t -c commit.gpgsign=false commit --quiet --allow-empty -am three\n",
        dependency.display()
    );
    write_program(&script, &commit);
    let meanwhile = [("MEANWHILE", script.to_str().unwrap())];
    assert_eq!(seen_by_builds(&fixture, &["HEAD~1..HEAD"], &meanwhile), ["two", "two"]);

    // Committed lockfiles count, each for its own revision.
    fixture.write(".gitignore", "");
    resolve(&fixture);
    fixture.commit("three locked");
    advance(&dependency, "four");
    resolve(&fixture);
    fixture.commit("four locked");
    assert_eq!(versions(&["HEAD~1..HEAD"]), ["three", "four"]);
    // All is there now; the sources must be new for the build script to run again.
    fixture.write("src/lib.rs", "pub const A: u32 = 2;\n");
    fixture.commit("five");
    assert_eq!(versions(&["HEAD~1..HEAD", "--offline", "--locked"]), ["four", "four"]);

    let manifest = std::fs::read_to_string(fixture.root().join("Cargo.toml")).unwrap();
    fixture.write("Cargo.toml", manifest.replace("0.1.0", "0.2.0"));
    fixture.commit("stale");
    let stale = build(&fixture, &["HEAD~1..HEAD", "--locked"], &[]);
    assert!(stale.stderr.contains("--locked was passed"), "{}", stale.stderr);
    assert!(stale.stderr.contains("error: head (HEAD, "), "{}", stale.stderr);
    fixture.assert_nothing_left_behind();
}

/// How a process was started.
#[derive(Debug, PartialEq, Eq)]
struct Started {
    arguments: Vec<String>,
    directory: String,
    environment: BTreeMap<String, String>,
}

/// Written by a bench executable into the file that `LAUNCH_FILE` names.
const RECORD_LAUNCH: &str = r#"
    if let Some(file) = std::env::var_os("LAUNCH_FILE") {
        let mut text = std::env::current_dir().unwrap().display().to_string();
        for argument in std::env::args() { text += &format!("\0A{argument}"); }
        for (name, value) in std::env::vars() { text += &format!("\0E{name}={value}"); }
        std::fs::write(file, text).unwrap();
    }
"#;

impl Started {
    /// What the command's bench executable wrote, with these texts replaced.
    fn by(mut command: Command, file: &Path, replace: &[(String, &str)]) -> Self {
        let output = command.env("LAUNCH_FILE", file).output().unwrap();
        let text = std::fs::read_to_string(file)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        std::fs::remove_file(file).unwrap();
        let text = replace.iter().fold(text, |text, (from, to)| text.replace(from, to));
        let mut parts = text.split('\0');
        let mut started = Self {
            directory: parts.next().unwrap().to_owned(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
        };
        for part in parts {
            match (part.split_at(1), part[1..].split_once('=')) {
                (("A", argument), _) => started.arguments.push(argument.to_owned()),
                (_, Some((name, value))) => {
                    started.environment.insert(name.to_owned(), value.to_owned());
                }
                _ => panic!("{part}"),
            }
        }
        started
    }
}

#[test]
#[cfg(unix)]
fn a_benchmark_is_started_exactly_as_cargo_bench_starts_it() {
    let fixture = Fixture::named("it's a \"sample\"");
    fixture.write("Cargo.toml", manifest("sample", &["timing"]));
    fixture
        .write("build.rs", "fn main() { println!(\"cargo:rustc-env=FROM_BUILD_SCRIPT=yes\"); }\n");
    fixture.write("src/lib.rs", "");
    fixture.write("src/bin/helper.rs", "fn main() {}\n");
    fixture.write("benches/timing.rs", bench(&(RECORD_LAUNCH.to_owned() + &steady("time", "1"))));
    fixture.write(
        ".cargo/config.toml",
        "[env]\nFROM_CONFIG = \"yes\"\nRELATIVE = { value = \"benches\", relative = true }\n\
         [target.'cfg(unix)']\nrunner = [\"tools/runner\", \"of the revision\"]\n",
    );
    let runner = "#!/bin/sh\nexport RAN_BY=\"$0 $1\"; shift; exec \"$@\"\n";
    write_program(&fixture.root().join("tools/runner"), runner);
    let user_runner = fixture.outside().join("user-runner");
    write_program(&user_runner, runner);
    fixture.write(".gitignore", "Cargo.lock\n");
    fixture.lock("sample");
    fixture.commit("base");

    let triple = host_triple().to_uppercase().replace('-', "_");
    let variable = format!("CARGO_TARGET_{triple}_RUNNER");
    let user = format!("{} user", user_runner.display());
    let spaced = fixture.outside().join("with space/cargo-bench-compare");
    std::fs::create_dir_all(spaced.parent().unwrap()).unwrap();
    std::fs::copy(crate::support::PROGRAM, &spaced).unwrap();
    let plain = fixture.outside().join("plain");
    git(fixture.outside(), &["clone", "--quiet", fixture.root().to_str().unwrap(), "plain"]);
    std::fs::copy(fixture.root().join("Cargo.lock"), plain.join("Cargo.lock")).unwrap();

    let outside = fixture.outside().canonicalize().unwrap();
    for (name, program, runner, ran_by) in [
        (
            "own program",
            Path::new(crate::support::PROGRAM),
            None,
            "CHECKOUT/tools/runner of the revision",
        ),
        ("program with a space", &spaced, None, "CHECKOUT/tools/runner of the revision"),
        (
            "user's runner",
            Path::new(crate::support::PROGRAM),
            Some(&user),
            "OUTSIDE/user-runner user",
        ),
    ] {
        let prepare = |program: &Path, directory: &Path| {
            let mut command = Command::new(program);
            let template = fixture.command(&[]);
            for (name, value) in template.get_envs() {
                match value {
                    Some(value) => command.env(name, value),
                    None => command.env_remove(name),
                };
            }
            command.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN").current_dir(directory);
            if let Some(runner) = runner {
                command.env(&variable, runner);
            }
            command
        };
        let file = fixture.outside().join("launch");
        let mut command = prepare(program, &fixture.root());
        // Identical code is started for base alone.
        command.args(["list", "HEAD..HEAD"]);
        let slot = cargo_bench_compare_slot(&fixture);
        let root = fixture.root().canonicalize().unwrap();
        let checkout = format!("{slot}/base/tree{}", root.display());
        let mut seen = Started::by(
            command,
            &file,
            &[
                (checkout, "CHECKOUT"),
                (format!("{slot}/base/target"), "TARGET"),
                (outside.display().to_string(), "OUTSIDE"),
            ],
        );
        let mut command = prepare(Path::new("cargo"), &plain);
        let arguments = &seen.arguments[1..seen.arguments.len() - 1];
        command.args(["bench", "--bench", "timing", "--"]).args(arguments);
        let mut expected = Started::by(
            command,
            &file,
            &[
                (plain.canonicalize().unwrap().display().to_string(), "CHECKOUT"),
                (warm_target().display().to_string(), "TARGET"),
                (outside.display().to_string(), "OUTSIDE"),
            ],
        );
        assert!(seen.environment.remove("CARGO_CRITERION_PORT").is_some());
        assert_eq!(
            seen.environment.remove("CARGO_TARGET_DIR"),
            Some(warm_target().display().to_string())
        );
        assert_eq!(expected.environment.remove("CARGO_TARGET_DIR").as_deref(), Some("TARGET"));
        assert_eq!(seen.environment.get("RAN_BY").map(String::as_str), Some(ran_by), "{name}");
        assert_eq!(seen, expected, "{name}");
    }
}

/// The directory of the only slot, made by a first run.
fn cargo_bench_compare_slot(fixture: &Fixture) -> String {
    let repository = std::fs::read_dir(fixture.cache()).into_iter().flatten().flatten().next();
    match repository {
        Some(repository) => {
            repository.path().canonicalize().unwrap().join("slot-0").display().to_string()
        }
        None => {
            fixture.run(&["list", "HEAD..HEAD"]).exits_with(0);
            cargo_bench_compare_slot(fixture)
        }
    }
}
