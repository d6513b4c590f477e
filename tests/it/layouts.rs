//! Random code layouts: that functions move from launch to launch, that everything else stays as it was, and that it is
//! said where that cannot be done.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};

use cargo_bench_compare::results::{LaunchValues, Results};

use crate::support::{Fixture, Run, bench, host_triple, manifest, steady, walk, write_program};

/// Adds a line to the file that `LAYOUT_LOG` names: the first argument, the path of the executable, and the order of
/// some functions in memory.
const LOGGER: &str = r#"
macro_rules! functions { ($($name:ident)*) => {
    $(#[inline(never)] fn $name(x: u64) -> u64 { black_box(x) + black_box(stringify!($name).len() as u64) })*
    const FUNCTIONS: &[(&str, fn(u64) -> u64)] = &[$((stringify!($name), $name)),*];
} }
functions!(a b c d e f g h i j k l);

pub fn log() {
    use std::io::Write;
    let mut functions = FUNCTIONS.to_vec();
    functions.sort_by_key(|(_, function)| *function as usize);
    let order: String = functions.iter().map(|(name, _)| *name).collect();
    let path = std::env::current_exe().unwrap();
    assert!(path.parent().unwrap().read_dir().unwrap().count() > 1, "it does not lie where cargo put it");
    let Ok(log) = std::env::var("LAYOUT_LOG") else { return };
    let mut log = std::fs::File::options().create(true).append(true).open(log).unwrap();
    writeln!(log, "{} {} {order}", std::env::args().next().unwrap(), path.display()).unwrap();
}
"#;

/// A repository with one benchmark, which logs its layout, to be [committed](Fixture::commit_two_times).
fn fixture(manifest_additions: &str, more_files: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::new();
    fixture.write("Cargo.toml", manifest("sample", &["timing"]) + manifest_additions);
    fixture.write(
        "benches/timing.rs",
        bench(&format!("    log();\n{}", steady("steady", "sample::TIME"))) + LOGGER,
    );
    fixture.write(".gitignore", "/target\nCargo.lock\n");
    fixture.lock("sample");
    for (path, content) in more_files {
        fixture.write(path, content);
    }
    fixture
}

/// Compares both commits. Gives the results, what was printed beside them, and the log.
#[track_caller]
fn compare(fixture: &Fixture, arguments: &[&str]) -> (Results, Run, Vec<Line>) {
    let log = fixture.outside().join("layouts.log");
    let _ = std::fs::remove_file(&log);
    let seed: &[&str] = if arguments.contains(&"--seed") { &[] } else { &["--seed", "5"] };
    let arguments = [&["base..HEAD", "--runs", "3", "--format", "json"], seed, arguments].concat();
    let mut command = fixture.command(&arguments);
    let run = Run::of(command.env("LAYOUT_LOG", &log).output().unwrap()).exits_with(0);
    let log = std::fs::read_to_string(&log).unwrap();
    fixture.assert_nothing_left_behind();
    assert_eq!(layouts_in(fixture), Vec::<PathBuf>::new());
    (run.results(), run, log.lines().map(Line::new).collect())
}

/// One line of the log.
#[derive(Debug)]
struct Line {
    name: String,
    path: PathBuf,
    order: String,
}

impl Line {
    fn new(text: &str) -> Self {
        let words: Vec<&str> = text.split(' ').collect();
        Self { name: words[0].to_owned(), path: words[1].into(), order: words[2].to_owned() }
    }

    fn is_as_built(&self) -> bool {
        self.path == Path::new(&self.name)
    }
}

fn layouts_in(fixture: &Fixture) -> Vec<PathBuf> {
    let files = walk(&fixture.cache(), 10).into_iter();
    files.filter(|path| path.file_name().unwrap().to_str().unwrap().contains("-layout")).collect()
}

fn launches(results: &Results) -> &[LaunchValues] {
    &results.measured[0].launches
}

/// The seeds of all launches; each of them must be there.
fn seeds(results: &Results) -> Vec<u32> {
    let launches = launches(results).iter();
    launches.flat_map(|launch| &launch.layouts).map(|seed| seed.unwrap()).collect()
}

/// The orders of functions in launches that were not as built, sorted, each once: one that turns out to be unfit for
/// lock-step is launched twice.
fn shuffled_orders(log: &[Line]) -> Vec<&str> {
    let mut orders: Vec<&str> =
        log.iter().filter(|line| !line.is_as_built()).map(|line| line.order.as_str()).collect();
    orders.sort_unstable();
    orders.dedup();
    orders
}

fn distinct<T: Clone + Ord>(values: &[T]) -> usize {
    values.iter().collect::<std::collections::BTreeSet<_>>().len()
}

/// A library of the system's own kind, options for the linker and files that it reads, all from a build script.
const BUILD_SCRIPT: &str = r#"
fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    let write = |name: &str, text: &str| std::fs::write(format!("{out}/{name}"), text).unwrap();
    write("plus.c", "int plus(int a, int b) { return a + b; }\n");
    write("list", "{ exported_by_list; };\n");
    let cc = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"]).arg(format!("{out}/libplus.so")).arg(format!("{out}/plus.c"))
        .status().unwrap();
    assert!(cc.success());
    println!("cargo:rustc-link-search=native={out}");
    println!("cargo:rustc-link-lib=dylib=plus");
    println!("cargo:rustc-link-arg-benches=-Wl,--dynamic-list={out}/list,-z,now");
    println!("cargo:rerun-if-changed=build.rs");
}
"#;

const LINKED: &str = r#"
extern "C" { fn plus(a: i32, b: i32) -> i32; fn dlsym(handle: *mut u8, name: *const u8) -> *mut u8; }
#[no_mangle] pub extern "C" fn exported_by_list() -> i32 { 7 }
pub fn check() {
    assert_eq!(unsafe { plus(black_box(2), exported_by_list()) }, 9);
    let name = b"exported_by_list\0";
    assert!(!unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) }.is_null(), "the list was lost");
}
"#;

#[test]
fn functions_move_from_launch_to_launch_and_everything_else_stays() {
    let fixture = fixture("", &[("build.rs", BUILD_SCRIPT)]);
    let bench = std::fs::read_to_string(fixture.root().join("benches/timing.rs")).unwrap();
    let manifest = std::fs::read_to_string(fixture.root().join("Cargo.toml")).unwrap();
    fixture.write(
        "Cargo.toml",
        manifest.replace("[lib]\n", "[lib]\ncrate-type = [\"lib\", \"cdylib\"]\n"),
    );
    fixture.write("benches/timing.rs", bench.replace("    log();", "    log(); check();") + LINKED);
    fixture.commit_two_times();

    let (results, run, log) = compare(&fixture, &[]);
    assert!(!run.stderr.contains("not varied"), "{}", run.stderr);
    assert_eq!(distinct(&seeds(&results)), 6, "{:?}", launches(&results));
    // Once for each side it was listed, as it was built.
    assert_eq!(log.iter().filter(|line| line.is_as_built()).count(), 2, "{log:?}");
    let orders = shuffled_orders(&log);
    assert_eq!(orders.len(), 6, "{log:?}");
    for line in &log {
        let (path, name) = (line.path.to_str().unwrap(), &line.name);
        assert_eq!(path.len(), name.len(), "{line:?}");
        assert_eq!(line.path.parent(), Path::new(name).parent());
    }
    let improvement = results.comparisons[0].improvement_percent.unwrap().value();
    assert!((improvement + 20.0).abs() < 1e-6, "{improvement}");

    // The same seed gives the same layouts, of executables that were built and linked long ago.
    let stray = log.iter().find(|line| !line.is_as_built()).unwrap().path.clone();
    std::fs::write(&stray, "left over by a killed run").unwrap();
    let (again, run, same) = compare(&fixture, &[]);
    assert!(!run.stderr.contains("Compiling"), "{}", run.stderr);
    assert_eq!(seeds(&again), seeds(&results));
    assert_eq!(shuffled_orders(&same), orders);
    let (other, _, _) = compare(&fixture, &["--seed", "6"]);
    assert!(seeds(&other).iter().all(|seed| !seeds(&results).contains(seed)));
}

#[test]
fn without_layouts_what_was_built_is_launched_and_links_that_were_missed_are_made_up_for() {
    let fixture = fixture("", &[]);
    fixture.commit_two_times();
    let (results, run, log) = compare(&fixture, &["--layouts", "off"]);
    assert!(!run.stderr.contains("Linking"), "{}", run.stderr);
    assert!(launches(&results).iter().all(|launch| launch.layouts.is_empty()));
    assert!(log.iter().all(Line::is_as_built));
    assert!(walk(&fixture.cache(), 5).iter().all(|path| path.file_name().unwrap() != "links"));

    // Only the bench executable is built once more, and then it is known.
    let (results, run, _) = compare(&fixture, &[]);
    assert_eq!(run.stderr.matches("Compiling").count(), 2, "{}", run.stderr);
    assert_eq!(seeds(&results).len(), 6);
    let (results, run, _) = compare(&fixture, &[]);
    assert!(!run.stderr.contains("Compiling"), "{}", run.stderr);
    assert_eq!(seeds(&results).len(), 6);
}

#[test]
fn a_linker_and_a_compiler_wrapper_of_the_users_own_stay_in_place() {
    let fixture = fixture("", &[]);
    let (linker, wrapper) = (fixture.outside().join("my-cc"), fixture.outside().join("my-wrapper"));
    let (linked, compiled) = (fixture.outside().join("linked"), fixture.outside().join("compiled"));
    write_program(
        &linker,
        &format!(
            "#!/bin/sh\necho \"$@\" >> {log}\n\
             [ \"$(grep -c shuffle-sections {log})\" -gt \"${{FAIL_AFTER:-100}}\" ] && \
             echo 'error: no luck' >&2 && exit 1\nexec cc \"$@\"\n",
            log = linked.display()
        ),
    );
    write_program(
        &wrapper,
        &format!("#!/bin/sh\necho \"$@\" >> {}\nexec \"$@\"\n", compiled.display()),
    );
    let config = format!(
        "[build]\nrustc-wrapper = {wrapper:?}\n[target.{}]\nlinker = {linker:?}\n",
        host_triple()
    );
    fixture.write(".cargo/config.toml", config);
    fixture.commit_two_times();
    let (results, run, _) = compare(&fixture, &[]);
    assert_eq!(seeds(&results).len(), 6, "{}", run.stderr);
    let linked_by_it = std::fs::read_to_string(&linked).unwrap();
    assert_eq!(linked_by_it.matches("--shuffle-sections").count(), 6, "{linked_by_it}");
    let compiled_by_it = std::fs::read_to_string(&compiled).unwrap();
    assert_eq!(compiled_by_it.matches("--crate-name timing").count(), 2, "{compiled_by_it}");

    // It fails for the second launch pair.
    std::fs::remove_file(&linked).unwrap();
    let log = fixture.outside().join("layouts.log");
    let mut command = fixture.command(&["base..HEAD", "--runs", "3", "--format", "json"]);
    command.env("FAIL_AFTER", "3").env("LAYOUT_LOG", &log);
    let run = Run::of(command.output().unwrap()).exits_with(0);
    let note = "from launch 2 on the code layout of `sample::timing` is not varied, because linking failed (error: \
                no luck): differences below about 3 % may come from where the code lies in memory";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    let results = run.results();
    assert!(results.notes.contains(&note.to_owned()), "{:?}", results.notes);
    let with_layouts: Vec<usize> =
        launches(&results).iter().map(|launch| launch.layouts.len()).collect();
    assert_eq!(with_layouts, [2, 0, 0]);
    assert_eq!(layouts_in(&fixture), Vec::<PathBuf>::new());
}

#[test]
fn mold_shuffles_in_its_own_way_behind_a_wrapper_of_the_environment() {
    if std::process::Command::new("mold").arg("--version").output().is_err() {
        eprintln!("not tested: there is no mold on this machine");
        return;
    }
    let script = "fn main() { println!(\"cargo:rustc-link-arg-benches=-fuse-ld=mold\"); }\n";
    let fixture = fixture("", &[("build.rs", script)]);
    let bench = std::fs::read_to_string(fixture.root().join("benches/timing.rs")).unwrap();
    // Every executable, what cargo built and each that is launched, looks for what its linker has left in it. (The
    // text must not be there for being looked for.)
    let check = r#"
pub fn check() {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let mark = format!("(compatible {} GNU ld)", black_box("with"));
    let is_there = program.windows(mark.len()).any(|part| part == mark.as_bytes());
    assert!(is_there, "another linker than mold");
}
"#;
    fixture.write("benches/timing.rs", bench.replace("    log();", "    log(); check();") + check);
    let (wrapper, compiled) =
        (fixture.outside().join("my-wrapper"), fixture.outside().join("compiled"));
    write_program(
        &wrapper,
        &format!("#!/bin/sh\necho \"$@\" >> {}\nexec \"$@\"\n", compiled.display()),
    );
    fixture.commit_two_times();
    let log = fixture.outside().join("layouts.log");
    let mut command = fixture.command(&["base..HEAD", "--runs", "3", "--format", "json"]);
    command.env("RUSTC_WRAPPER", &wrapper).env("LAYOUT_LOG", &log);
    let run = Run::of(command.output().unwrap()).exits_with(0);
    let results = run.results();
    assert_eq!(distinct(&seeds(&results)), 6, "{}", run.stderr);
    let log: Vec<Line> = std::fs::read_to_string(&log).unwrap().lines().map(Line::new).collect();
    assert_eq!(shuffled_orders(&log).len(), 6, "{log:?}");
    let compiled_by_it = std::fs::read_to_string(&compiled).unwrap();
    assert_eq!(compiled_by_it.matches("--crate-name timing").count(), 2, "{compiled_by_it}");
}

#[test]
fn a_linker_that_cannot_shuffle_is_named_once_with_the_consequence() {
    let script = "fn main() { println!(\"cargo:rustc-link-arg-benches=-fuse-ld=bfd\"); }\n";
    let fixture =
        fixture("\n[[bench]]\nname = \"other\"\nharness = false\n", &[("build.rs", script)]);
    fixture.write("benches/other.rs", bench(&steady("other", "sample::TIME")));
    fixture.commit_two_times();
    let (results, run, log) = compare(&fixture, &[]);
    let says: Vec<&str> = run.stderr.lines().filter(|line| line.contains("not varied")).collect();
    assert_eq!(says.len(), 1, "{}", run.stderr);
    assert!(
        says[0]
            .contains("code layouts are not varied, because the linker cannot shuffle functions"),
        "{says:?}"
    );
    assert!(says[0].contains("differences below about 3 %"), "{says:?}");
    assert!(results.notes.iter().any(|note| says[0].ends_with(note)), "{:?}", results.notes);
    assert_eq!(results.comparisons.len(), 2);
    assert!(launches(&results).iter().all(|launch| launch.layouts.is_empty()));
    assert!(log.iter().all(Line::is_as_built));
    // It has not been found out anew, by building anew.
    let (_, run, _) = compare(&fixture, &[]);
    assert!(!run.stderr.contains("Compiling"), "{}", run.stderr);
}
