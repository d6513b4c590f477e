//! `#[bench]`, on a stable compiler that passes for an unstable one.

use cargo_bench_compare::results::Method;

use super::{Crate, assert_much_slower, comparison, ids};
use crate::support::Run;

const BENCHES: &str = r#"#![feature(test)]
extern crate test;
use test::Bencher;

#[bench] fn slower(b: &mut Bencher) { b.iter(|| sample::spin(sample::N)) }
#[bench] fn slower_and_longer_name(b: &mut Bencher) { b.bytes = 4000; b.iter(|| sample::spin(sample::N)) }
#[bench] #[ignore] fn ignored(_: &mut Bencher) { panic!("nobody runs me") }
#[bench] fn prints(b: &mut Bencher) {
    println!("test prints ... bench: 5 ns/iter (+/- 3)\n{{\"type\": \"bench\"}}");
    b.iter(|| sample::spin(sample::N))
}
#[test] fn a_test() { panic!("nobody runs me") }
mod größe { #[bench] fn ünï(b: &mut super::Bencher) { b.iter(|| sample::spin(sample::N)) } }
#[bench] fn threads(b: &mut Bencher) { b.iter(|| std::thread::spawn(|| 1).join().unwrap()) }
"#;

fn libtest(more: &'static str) -> Crate {
    Crate { dependency: None, targets: vec![("plain", true), ("empty", true)], more }
}

#[test]
fn benchmarks_of_libtest_are_measured_in_step_and_nothing_else_is_run() {
    let package = libtest("\n[features]\nspecial = []\n");
    let library = "#![cfg_attr(test, feature(test))]\n#[cfg(test)] extern crate test;\n\
        #[cfg(test)] mod tests {\n    #[bench] fn inside(b: &mut test::Bencher) { b.iter(|| crate::spin(crate::N)) }\n    \
        #[cfg(feature = \"special\")] #[bench] fn special(b: &mut test::Bencher) { b.iter(|| crate::spin(crate::N)) }\n    \
        #[test] fn a_test() { panic!(\"nobody runs me\") }\n}\n";
    let fixture = package.fixture(&[("benches/plain.rs", BENCHES), ("benches/empty.rs", "")]);
    for (revision, n) in [("before", 1000), ("after", 3000)] {
        fixture.write("src/lib.rs", library.to_owned() + &super::library(n));
        fixture.commit(revision);
        fixture.git(&["tag", revision]);
    }
    let run = |more: &[&str]| {
        let arguments = ["before..after", "--runs", "3", "--layouts", "off", "--format", "json"];
        package.run(&fixture, &[&arguments, more].concat()).exits_with(0).results()
    };
    let results = run(&[]);
    let expected =
        ["größe::ünï", "prints", "slower", "slower_and_longer_name", "threads", "tests::inside"];
    assert_eq!(ids(&results), expected);
    for id in expected.iter().filter(|id| **id != "threads") {
        let found = comparison(&results, id);
        assert_eq!((found.method, found.pairs), (Method::Lockstep, 3), "{id}");
        assert_much_slower(found);
    }
    let threads = comparison(&results, "threads");
    assert_eq!(threads.method, Method::Process);
    assert!(threads.notes[0].contains("it starts threads"), "{threads:?}");
    let throughput = comparison(&results, "slower_and_longer_name").throughput.as_ref().unwrap();
    assert!(throughput.unit == "bytes" && throughput.amount > 3000.0, "{throughput:?}");
    assert!(results.failed.is_empty() && results.notes.is_empty(), "{results:?}");

    // What is behind a feature, and not in step.
    let results = run(&["--features", "special", "--lockstep", "off", "--filter", "special"]);
    assert_eq!(ids(&results), ["tests::special"]);
    assert_eq!(results.comparisons[0].method, Method::Process);
    assert_much_slower(&results.comparisons[0]);
}

#[test]
fn whatever_a_benchmark_of_libtest_does_the_others_go_on() {
    let benches = r#"#![feature(test)]
extern crate test;
use test::Bencher;
const IS_HEAD: bool = sample::N > 1000;

#[bench] fn a_first(b: &mut Bencher) { b.iter(|| sample::spin(sample::N)) }
#[bench] fn exits(b: &mut Bencher) { b.iter(|| if IS_HEAD { std::process::exit(0) }) }
#[bench] fn hangs(b: &mut Bencher) { b.iter(|| while IS_HEAD { test::black_box(1); }) }
#[bench] fn is_killed(b: &mut Bencher) { b.iter(|| if IS_HEAD { std::process::abort() }) }
#[bench] fn panics(b: &mut Bencher) { b.iter(|| assert!(!IS_HEAD, "no luck")) }
#[bench] fn times_nothing(b: &mut Bencher) { if !IS_HEAD { b.iter(|| 1) } }
#[bench] fn z_last(b: &mut Bencher) { b.iter(|| sample::spin(sample::N)) }
"#;
    let package = libtest("");
    let fixture = package.fixture(&[("benches/plain.rs", benches), ("benches/empty.rs", "")]);
    let results = package.compare(&fixture, "2", &["--timeout", "3s"], 3);
    assert_eq!(ids(&results), ["a_first", "z_last"]);
    for found in &results.comparisons {
        assert_eq!((found.method, found.pairs), (Method::Lockstep, 2));
    }
    let reasons: Vec<(&str, &str)> = results
        .failed
        .iter()
        .map(|f| (f.benchmark.as_deref().unwrap(), f.error.as_str()))
        .collect();
    for (failure, (id, words)) in reasons.iter().zip([
        ("exits", "did not report a time"),
        ("hangs", "no sign of progress for 3s"),
        ("is_killed", "SIGABRT"),
        ("panics", "no luck"),
        ("times_nothing", "timed nothing"),
    ]) {
        assert!(failure.0 == id && failure.1.contains(words), "{failure:?}");
    }
    assert!(results.failed.len() == 5 && results.failed.iter().all(|f| f.side == "head"));
}

#[test]
fn a_stable_compiler_that_refuses_features_is_told_how_to_accept_them() {
    let package = libtest("");
    let fixture = package.fixture(&[("benches/plain.rs", BENCHES), ("benches/empty.rs", "")]);
    let mut command = fixture.command(&["base..HEAD"]);
    command.env("RUSTUP_TOOLCHAIN", "stable").env_remove("RUSTC_BOOTSTRAP");
    let run = Run::of(command.output().unwrap()).exits_with(3);
    assert!(run.stderr.contains("error[E0554]"), "{}", run.stderr);
    let help = run.stderr.lines().find(|line| line.contains("help: `#[bench]`"));
    assert!(help.is_some_and(|line| line.contains("RUSTC_BOOTSTRAP=1")), "{}", run.stderr);
}
