//! Both sides are built from their own sources, and what is the same is built once and told so.

use cargo_bench_compare::results::{Comparison, Results};
use cargo_bench_compare::stats::Verdict;

#[cfg(unix)]
use crate::support::write_program;
use crate::support::{Fixture, Run, bench, lockfile, manifest, quick_to_build, steady};

/// `pub const NANOSECONDS`, which the benchmark `time` of [`constant`] reports.
fn nanoseconds(value: u64) -> String {
    format!("pub const NANOSECONDS: u64 = {value};\n")
}

/// A crate whose one benchmark takes as long as a constant of its library says: 100 at the tag `base`.
fn constant() -> Fixture {
    let fixture =
        Fixture::with_bench(&nanoseconds(100), &bench(&steady("time", "sample::NANOSECONDS")));
    for (tag, value) in [("second", 250), ("third", 400)] {
        fixture.write("src/lib.rs", nanoseconds(value));
        fixture.commit(tag);
        fixture.git(&["tag", tag]);
    }
    fixture
}

/// The times of the only benchmark, base first.
#[track_caller]
fn times(run: &Run) -> (f64, f64) {
    let results = run.results();
    let [only] = &results.comparisons[..] else { panic!("{:?}", results.comparisons) };
    (only.base.nanoseconds.unwrap(), only.head.nanoseconds.unwrap())
}

fn comparison<'a>(results: &'a Results, package: &str) -> &'a Comparison {
    let found = results.comparisons.iter().find(|comparison| comparison.package == package);
    found.unwrap_or_else(|| panic!("no {package} in {:?}", results.comparisons))
}

/// The crates that cargo compiled for base and for head.
#[track_caller]
fn compiled(run: &Run) -> (Vec<String>, Vec<String>) {
    let parts: Vec<&str> = run.stderr.split("Building ").collect();
    let [_, base, head] = parts[..] else { panic!("{}", run.stderr) };
    let crates = |part: &str| {
        let lines = part.lines().filter_map(|line| line.trim().strip_prefix("Compiling "));
        lines.map(|line| line.split(" (").next().unwrap().to_owned()).collect()
    };
    (crates(base), crates(head))
}

const MEASURE: [&str; 4] = ["--runs", "2", "--format", "json"];

fn measure(fixture: &Fixture, range: &str) -> Run {
    fixture.run(&[&[range], &MEASURE[..]].concat())
}

#[test]
fn each_side_is_built_from_its_own_sources_whatever_was_built_before() {
    let fixture = constant();
    let ours = || vec!["sample v0.1.0".to_owned()];
    let mut seen = Vec::new();
    for (range, expected) in [
        ("base..second", (100.0, 250.0)),
        ("second..base", (250.0, 100.0)),
        ("base..third", (100.0, 400.0)),
        ("base..second", (100.0, 250.0)),
    ] {
        let run = measure(&fixture, range).exits_with(0);
        assert_eq!(times(&run), expected, "{range}");
        // Criterion and all that it needs was there.
        assert_eq!(compiled(&run).1, ours(), "{range}\n{}", run.stderr);
        seen.push(compiled(&run).0);
    }
    // Base of the last run is what the run before had.
    assert_eq!(seen, [ours(), ours(), ours(), vec![]]);

    let again = measure(&fixture, "base..second").exits_with(0);
    assert_eq!(times(&again), (100.0, 250.0));
    assert_eq!(compiled(&again), (vec![], vec![]), "nothing changed");

    // The library of this commit compiles and gets into the target directory, its benchmark does not.
    fixture.write("src/lib.rs", nanoseconds(999));
    fixture.write("benches/timing.rs", "fn main() { nonsense }\n");
    fixture.commit("broken");
    let broken = measure(&fixture, "base..HEAD").exits_with(3);
    assert!(broken.stderr.contains("cannot find value `nonsense`"), "{}", broken.stderr);
    let after = measure(&fixture, "base..second").exits_with(0);
    assert_eq!(times(&after), (100.0, 250.0));
    fixture.assert_nothing_left_behind();
}

#[test]
#[cfg(unix)]
fn compilers_that_differ_are_told() {
    let fixture = constant();
    // A compiler that says another version in head's directory, and only to people.
    let compiler = fixture.outside().join("rustc");
    let text = "#!/bin/sh\ncase \"$PWD $*\" in */head/tree/*' --version') echo 'rustc 1.2.3 (of head)'; exit;; esac\n\
                exec rustc \"$@\"\n";
    write_program(&compiler, text);
    let mut command = fixture.command(&["base..second", "--runs", "1"]);
    let run = Run::of(command.env("RUSTC", &compiler).output().unwrap()).exits_with(0);
    let compilers = run.stdout.lines().find(|line| line.starts_with("compilers ")).unwrap();
    assert!(compilers.contains("they differ"), "{compilers}");
    assert!(compilers.ends_with(" | rustc 1.2.3 (of head)"), "{compilers}");
}

/// Whatever makes cargo blind to a change, its artifact of another revision is never measured.
#[test]
#[cfg(unix)]
fn a_path_crate_that_cargo_does_not_rebuild_stops_the_comparison() {
    let fixture = constant();
    // A cargo for which all sources are old, so that whatever is built is up to date.
    let path = std::env::var("PATH").unwrap();
    let blind = format!(
        "#!/bin/sh\ncase \"$*\" in *--no-run*) find . -type f -exec touch -t 200101010000 {{}} + ;; esac\n\
         PATH='{path}' exec '{}' \"$@\"\n",
        env!("CARGO")
    );
    let bin = fixture.outside().join("bin");
    write_program(&bin.join("cargo"), &blind);
    let run = |range: &str| {
        let mut command = fixture.command(&["list", range]);
        command
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("CARGO", bin.join("cargo"))
            .env("RUSTUP_TOOLCHAIN", std::env::var("RUSTUP_TOOLCHAIN").unwrap_or_default());
        Run::of(command.output().unwrap())
    };
    run("base..second").exits_with(0);
    let stale = run("base..third").exits_with(3);
    assert!(stale.stderr.contains("): cargo did not rebuild `sample` of head"), "{}", stale.stderr);
    assert!(stale.stderr.contains("cargo bench-compare clean"), "{}", stale.stderr);
    fixture.assert_nothing_left_behind();
}

/// Crates often have an older release of themselves among the dependencies of their bench harness.
#[test]
fn dependencies_are_compiled_once_even_if_they_have_the_name_of_the_crate() {
    let fixture = Fixture::new();
    let manifest = manifest("itoa", &["timing"]).replace("0.1.0", "99.0.0");
    fixture.write("Cargo.toml", manifest);
    let lock = lockfile("itoa")
        .replace("name = \"itoa\"\nversion = \"0.1.0\"", "name = \"itoa\"\nversion = \"99.0.0\"")
        .replace(" \"itoa\",", " \"itoa 1.0.19\",");
    fixture.write("Cargo.lock", lock);
    fixture.write(".gitignore", "Cargo.lock\n");
    fixture.write("benches/timing.rs", bench(&steady("time", "itoa::NANOSECONDS")));
    for value in [100, 200] {
        fixture.write("src/lib.rs", nanoseconds(value));
        fixture.commit("next");
    }
    let run = measure(&fixture, "HEAD~1..HEAD").exits_with(0);
    assert_eq!(times(&run), (100.0, 200.0));
    let (base, head) = compiled(&run);
    assert!(!base.iter().any(|name| name.starts_with("regex")), "criterion was there: {base:?}");
    assert_eq!(head, ["itoa v99.0.0"]);
}

/// The manifest of a criterion crate that is not its workspace's root.
fn member(package: &str, benches: &[&str]) -> String {
    manifest(package, benches).replace(&quick_to_build(package), "")
}

/// In the repository: a workspace in a directory `space` with two members, and a package outside the
/// workspace. Beside the repository: another package. `first` depends on both, `second` on nothing.
fn workspace() -> Fixture {
    let fixture = Fixture::new();
    let root = "[workspace]\nmembers = [\"first\", \"second\"]\nresolver = \"2\"\n".to_owned();
    fixture.write("space/Cargo.toml", root + &quick_to_build("first") + &quick_to_build("second"));
    let first = member("first", &["timing"])
        + "\n[dependencies]\ninner = { path = \"../../inner\" }\nsibling = { path = \"../../../sibling\" }\n";
    fixture.write("space/first/Cargo.toml", first);
    fixture.write("space/first/src/lib.rs", "");
    let body = steady("time", "(inner::NANOSECONDS + sibling::NANOSECONDS)");
    fixture.write("space/first/benches/timing.rs", bench(&body));
    fixture.write("space/second/Cargo.toml", member("second", &["timing", "other"]));
    fixture.write("space/second/src/lib.rs", nanoseconds(7));
    for name in ["timing", "other"] {
        let body = steady("time", "second::NANOSECONDS");
        fixture.write(&format!("space/second/benches/{name}.rs"), bench(&body));
    }
    for (package, value) in [("inner", 100), ("../sibling", 11)] {
        let name = package.trim_start_matches("../");
        let text =
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
        fixture.write(&format!("{package}/Cargo.toml"), text);
        fixture.write(&format!("{package}/src/lib.rs"), nanoseconds(value));
    }
    let entry = |name: &str, dependencies: &str| {
        format!("\n[[package]]\nname = \"{name}\"\nversion = \"0.1.0\"\n{dependencies}")
    };
    let lock = lockfile("first").replace(
        "name = \"first\"\nversion = \"0.1.0\"\ndependencies = [\n \"criterion\",\n",
        "name = \"first\"\nversion = \"0.1.0\"\ndependencies = [\n \"criterion\",\n \"inner\",\n \"sibling\",\n",
    );
    let others =
        [("inner", ""), ("sibling", ""), ("second", "dependencies = [\n \"criterion\",\n]\n")];
    let lock = others.iter().fold(lock, |lock, (name, rest)| lock + &entry(name, rest));
    fixture.write("space/Cargo.lock", lock);
    fixture.write(".gitignore", "Cargo.lock\n");
    fixture.commit("base");
    fixture.git(&["tag", "base"]);
    fixture
}

#[test]
fn packages_inside_and_outside_the_workspace_are_built_and_selected_as_cargo_does() {
    let fixture = workspace();
    fixture.write("inner/src/lib.rs", nanoseconds(200));
    fixture.write("space/first/src/lib.rs", "// A remark.\n");
    fixture.commit("head");
    let run = |directory: &str, arguments: &[&str]| {
        let mut command = fixture.command(arguments);
        Run::of(command.current_dir(fixture.root().join(directory)).output().unwrap())
    };

    let all = run("space", &[&["base..HEAD"], &MEASURE[..]].concat()).exits_with(0);
    let results = all.results();
    let first = comparison(&results, "first");
    assert_eq!(first.base.nanoseconds, Some(111.0));
    assert_eq!(first.head.nanoseconds, Some(211.0));
    assert_eq!(comparison(&results, "second").verdict, Verdict::IdenticalCode);
    let (_, head) = compiled(&all);
    assert!(head.iter().all(|name| name.ends_with(" v0.1.0")), "{head:?}");

    let list = |directory: &str, arguments: &[&str]| {
        let arguments = [&["list", "base..HEAD"], arguments].concat();
        let listed = run(directory, &arguments).exits_with(0);
        listed.stdout.replace("  (identical code)", "")
    };
    let (first, second) = ("first::timing::time\n", "second::other::time\nsecond::timing::time\n");
    assert_eq!(list("space", &[]), format!("{first}{second}"));
    assert_eq!(list("space", &["-p", "first"]), first);
    assert_eq!(list("space", &["--workspace", "--exclude", "first"]), second);
    assert_eq!(list("space/second", &[]), second);
    assert_eq!(list("space/second", &["--workspace"]), format!("{first}{second}"));
    assert_eq!(
        list("space/second", &["-p", "second", "--bench", "other"]),
        "second::other::time\n"
    );
    assert_eq!(list("", &["--manifest-path", "space/first/Cargo.toml"]), first);

    // Nothing but a remark changes, and yet the code of `first` may differ: see `build::sections`.
    fixture.write("space/first/src/lib.rs", "// Another remark.\n");
    fixture.commit("remark");
    let listed = run("space", &["list", "HEAD~1..HEAD"]).exits_with(0);
    let lines: Vec<&str> = listed.stdout.lines().collect();
    let identical = ["second::other::time", "second::timing::time"];
    let identical = identical.map(|name| format!("{name}  (identical code)"));
    assert_eq!(lines, ["first::timing::time", &identical[0], &identical[1]]);
    fixture.assert_nothing_left_behind();
}

/// A package with everything that can make a benchmark depend on where it was built and what lies there.
/// Each of its benchmarks takes as long as its own source says: files that are read at run time by an
/// absolute and a relative path, a build script's variable and generated code, and a program.
fn dependent_on_surroundings() -> Fixture {
    let fixture = Fixture::new();
    let workspace = "\n[workspace]\nmembers = [\"unrelated\"]\n";
    fixture.write("Cargo.toml", manifest("sample", &["timing"]) + workspace);
    fixture.write(
        "unrelated/Cargo.toml",
        "[package]\nname = \"unrelated\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    fixture.write("unrelated/src/lib.rs", nanoseconds(1));
    fixture.write("src/lib.rs", "include!(concat!(env!(\"OUT_DIR\"), \"/generated.rs\"));\n");
    fixture.write(
        "build.rs",
        "fn main() {\n\
         let value = std::fs::read_to_string(\"script.txt\").unwrap();\n\
         let code = format!(\"pub const GENERATED: u64 = {value};\");\n\
         let directory = std::env::var(\"OUT_DIR\").unwrap();\n\
         std::fs::write(directory + \"/generated.rs\", code).unwrap();\n\
         println!(\"cargo:rustc-env=FROM_SCRIPT={value}\");\n\
         println!(\"cargo:rerun-if-changed=script.txt\");\n}\n",
    );
    fixture.write("src/bin/helper.rs", "fn main() { print!(\"140\"); }\n");
    let body = "    let number = |text: &str| text.trim().parse::<u64>().unwrap();\n\
        let read = |path: &str| number(&std::fs::read_to_string(path).unwrap());\n\
        let absolute = read(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/data/absolute.txt\"));\n\
        let absolute = absolute + std::env::var(\"ADDITION\").map_or(0, |text| number(&text));\n\
        let relative = read(\"data/relative.txt\");\n\
        let program = std::process::Command::new(env!(\"CARGO_BIN_EXE_helper\")).output().unwrap();\n\
        let program = number(&String::from_utf8(program.stdout).unwrap());\n\
        let variable = number(env!(\"FROM_SCRIPT\"));\n\
        let generated = sample::GENERATED;\n";
    let names = ["absolute", "relative", "variable", "generated", "program"];
    let benchmarks: String = names.iter().map(|name| steady(name, name)).collect();
    fixture.write("benches/timing.rs", bench(&(body.to_owned() + &benchmarks)));
    fixture.write("data/absolute.txt", "110");
    fixture.write("data/relative.txt", "120");
    fixture.write("script.txt", "130");
    fixture.write(".gitignore", "Cargo.lock\n");
    fixture.lock("sample");
    fixture.commit("base");
    fixture
}

#[test]
fn each_side_has_its_own_surroundings_and_only_what_can_matter_is_measured() {
    let fixture = dependent_on_surroundings();
    let names = ["absolute", "relative", "variable", "generated", "program"];
    let check = |before: [f64; 5], after: [f64; 5], because: &str| {
        let run = measure(&fixture, "HEAD~1..HEAD").exits_with(0);
        let results = run.results();
        for (name, (before, after)) in names.iter().zip(before.into_iter().zip(after)) {
            let found = results.comparisons.iter().find(|found| &found.benchmark == name).unwrap();
            let times = (found.base.nanoseconds, found.head.nanoseconds);
            assert_eq!(times, (Some(before), Some(after)), "{name}\n{}", run.stderr);
        }
        assert_eq!(results.notes, because.lines().collect::<Vec<_>>());
    };
    let note = |file: &str| {
        format!("`sample::timing` is identical code, but was measured because `{file}` changed")
    };

    fixture.write("data/absolute.txt", "210");
    fixture.write("data/relative.txt", "220");
    fixture.commit("data");
    let base = [110.0, 120.0, 130.0, 130.0, 140.0];
    let data = [210.0, 220.0, 130.0, 130.0, 140.0];
    check(base, data, &note("data/absolute.txt"));

    fixture.write("script.txt", "230");
    fixture.commit("script");
    let script = [210.0, 220.0, 230.0, 230.0, 140.0];
    check(data, script, "");

    fixture.write("src/bin/helper.rs", "fn main() { print!(\"240\"); }\n");
    fixture.commit("program");
    check(script, [210.0, 220.0, 230.0, 230.0, 240.0], &note("target/release/helper"));

    // The same code reads another value at run time.
    fixture.write(".cargo/config.toml", "[env]\nADDITION = \"5\"\n");
    fixture.commit("environment");
    check(
        [210.0, 220.0, 230.0, 230.0, 240.0],
        [215.0, 220.0, 230.0, 230.0, 240.0],
        "`sample::timing` is identical code, but was measured because the environment variable `ADDITION` changed",
    );

    fixture.write("README.md", "More about it.\n");
    fixture.write("docs/figure.svg", "<svg/>");
    fixture.write("unrelated/src/lib.rs", nanoseconds(2));
    let library = std::fs::read_to_string(fixture.root().join("src/lib.rs")).unwrap();
    fixture.write("src/lib.rs", library.replace('\n', " // A remark.\n"));
    fixture.commit("nothing that matters");
    let listed = fixture.run(&["list", "HEAD~1..HEAD", "--workspace"]).exits_with(0);
    let lines: Vec<&str> = listed.stdout.lines().collect();
    assert_eq!(lines.len(), names.len());
    assert!(lines.iter().all(|line| line.ends_with("  (identical code)")), "{lines:?}");
    fixture.assert_nothing_left_behind();
}

/// A second bench target and a second package, which only head has.
#[test]
fn what_only_one_side_has_is_told_and_no_reason_for_the_other_to_fail() {
    let fixture =
        Fixture::with_bench(&nanoseconds(100), &bench(&steady("time", "sample::NANOSECONDS")));
    let both = manifest("sample", &["timing", "other"]) + "required-features = [\"more\"]\n";
    let both = both + "\n[features]\nmore = []\n\n[workspace]\nmembers = [\"new\"]\n";
    fixture.write("Cargo.toml", both + &quick_to_build("new"));
    fixture.write("benches/other.rs", bench(&steady("time", "2")));
    fixture.write("new/Cargo.toml", member("new", &["timing", "late"]));
    fixture.write("new/src/lib.rs", "");
    fixture.write("new/benches/timing.rs", bench(&steady("time", "3")));
    fixture.write("new/benches/late.rs", bench(&steady("time", "4")));
    fixture.commit("head");
    let list =
        |range: &str, arguments: &[&str]| fixture.run(&[&["list", range], arguments].concat());
    let added = |arguments: &[&str]| list("base..HEAD", arguments).exits_with(0).stdout;

    let same = "sample::timing::time  (identical code)\n";
    assert_eq!(added(&[]), same, "`other` requires a feature");
    let with_feature = list("HEAD..HEAD", &["-F", "more"]).exits_with(0).stdout;
    assert_eq!(with_feature, format!("{}{same}", same.replace("timing", "other")));
    assert_eq!(added(&["-p", "new", "--bench", "late"]), "new::late::time  (only on head)\n");
    let all = format!("new::late::time  (only on head)\nnew::timing::time  (only on head)\n{same}");
    assert_eq!(added(&["--workspace"]), all);
    // `timing` is in base, but not in this package, which base has not got.
    assert_eq!(added(&["-p", "new", "--bench", "timing"]), "new::timing::time  (only on head)\n");
    // The same in the other direction.
    let removed = list("HEAD..base", &["-p", "new", "-p", "sample", "--bench", "late"]);
    assert_eq!(removed.exits_with(0).stdout, "new::late::time  (not on head)\n");

    for (arguments, code, messages) in [
        (
            &["-p", "smaple"][..],
            2,
            &["no revision has a package `smaple`", "did you mean `sample`?"][..],
        ),
        (
            &["--bench", "timings"],
            2,
            &["no revision has a bench target `timings`", "did you mean `timing`?"],
        ),
        (&["--bench", "zzz"], 2, &["there are: late, other, timing"]),
        // What the revisions have, but not together, is cargo's to complain about.
        (&["-p", "sample", "--bench", "other"], 3, &["requires the features: `more`"]),
        (&["--bench", "late"], 3, &["no bench target named `late` in default-run packages"]),
    ] {
        let run = list("base..HEAD", arguments).exits_with(code);
        for message in messages {
            assert!(run.stderr.contains(message), "{arguments:?}: {message}\n{}", run.stderr);
        }
    }

    // Base has a `late`, but not in the package that is asked for.
    let more = "\n[[bench]]\nname = \"late\"\nharness = false\n\n[features]";
    let text = std::fs::read_to_string(fixture.root().join("Cargo.toml")).unwrap();
    fixture.write("Cargo.toml", text.replace("\n[features]", more));
    fixture.write("benches/late.rs", bench(&steady("time", "5")));
    fixture.commit("later");
    for package in [&["-p", "sample"][..], &[]] {
        let run = list("HEAD~1..HEAD", &[&["--bench", "late"], package].concat()).exits_with(0);
        assert_eq!(run.stdout, "sample::late::time  (only on head)\n");
    }
    fixture.assert_nothing_left_behind();
}

#[test]
fn a_side_that_cannot_be_built_is_named_below_its_own_error() {
    let fixture = Fixture::new();
    let plain = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    fixture.write("README.md", "No package yet.\n");
    fixture.commit("no manifest");
    fixture.git(&["tag", "empty"]);
    fixture.write("Cargo.toml", plain);
    fixture.write("src/lib.rs", "");
    fixture.write(".gitignore", "Cargo.lock\n");
    fixture.commit("no benchmarks");
    fixture.git(&["tag", "good"]);
    fixture.write("src/lib.rs", "fn broken() -> u32 { \"text\" }\n");
    fixture.commit("broken");
    fixture.git(&["tag", "broken"]);
    let fails = |range: &str, messages: &[&str]| {
        let run = fixture.run(&[range]).exits_with(3);
        assert_eq!(run.stdout, "");
        for message in messages {
            assert!(run.stderr.contains(message), "{range}: {message}\n{}", run.stderr);
        }
        fixture.assert_nothing_left_behind();
    };
    let commit = |tag: &str| fixture.git(&["rev-parse", "--short=9", tag]);
    let broken = commit("broken");
    let messages = ["error[E0308]: mismatched types", "Compiling sample v0.1.0"];
    fails(
        "broken..good",
        &[&messages[..], &[&format!("error: base (broken, {broken}): does not build")]].concat(),
    );
    fails(
        "good..broken",
        &[&messages[..], &[&format!("error: head (broken, {broken}): does not build")]].concat(),
    );
    fails(
        "empty..good",
        &[
            &format!(
                "error: base (empty, {}): has no manifest that cargo can read",
                commit("empty")
            ),
            "could not find `Cargo.toml`",
        ],
    );
    fails(
        "good..good",
        &["no benchmarks to compare", "runs no bench target", "with -p, --workspace or --bench"],
    );
}
