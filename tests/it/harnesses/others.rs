//! bencher, programs with harnesses of their own, and a harness that changes.

use cargo_bench_compare::results::Method;

use super::{Crate, assert_much_slower, comparison, ids};

const BENCHER: (&str, &str) =
    ("bencher = \"=0.1.5\"", include_str!("../../fixtures/harnesses/bencher-0.1.5.lock"));

const BENCHES: &str = r#"use bencher::{Bencher, benchmark_group, benchmark_main};

fn slower(b: &mut Bencher) { b.bytes = 4000; b.iter(|| sample::spin(sample::N)) }
fn slower_and_longer_name(b: &mut Bencher) { b.iter(|| sample::spin(sample::N)) }
benchmark_group!(all, slower, slower_and_longer_name);
benchmark_main!(all);
"#;

#[test]
fn benchmarks_of_bencher_are_known_from_running_them() {
    let package = Crate { dependency: Some(BENCHER), targets: vec![("timing", false)], more: "" };
    let fixture = package.fixture(&[("benches/timing.rs", BENCHES)]);
    let results = package.compare(&fixture, "3", &[], 0);
    assert_eq!(ids(&results), ["slower", "slower_and_longer_name"]);
    for found in &results.comparisons {
        assert_eq!((found.method, found.pairs), (Method::Lockstep, 3));
        assert_much_slower(found);
    }
}

#[test]
fn another_harness_on_head_is_compared_by_ids_and_said() {
    let package = Crate { dependency: Some(BENCHER), targets: vec![("timing", false)], more: "" };
    let fixture = package.fixture(&[("benches/timing.rs", BENCHES)]);
    let libtest = "#![feature(test)]\nextern crate test;\n\
        #[bench] fn slower(b: &mut test::Bencher) { b.iter(|| sample::spin(sample::N)) }\n\
        #[bench] fn new(b: &mut test::Bencher) { b.iter(|| sample::spin(sample::N)) }\n";
    let manifest = std::fs::read_to_string(fixture.root().join("Cargo.toml")).unwrap();
    fixture.write("Cargo.toml", manifest.replace("harness = false", "harness = true"));
    fixture.write("benches/timing.rs", libtest);
    fixture.commit("libtest");
    let results = package.compare(&fixture, "3", &[], 0);
    assert_eq!(ids(&results), ["slower"]);
    assert_much_slower(&results.comparisons[0]);
    let note = results.notes.iter().find(|note| note.contains("uses bencher at base"));
    assert!(note.is_some_and(|note| note.contains("libtest at head")), "{:?}", results.notes);
    assert_eq!(results.added[0].benchmark, "new");
    assert_eq!(results.removed[0].benchmark, "slower_and_longer_name");
}

#[test]
fn programs_with_a_harness_of_their_own_are_run_as_the_configuration_says() {
    let json = r#"
fn main() {
    if std::env::var_os("CARGO_BENCH_COMPARE_LIST").is_some() {
        println!("{{\"benchmark\": \"parse\"}}\n{{\"benchmark\": \"memory\"}}\n{{\"benchmark\": \"bad\"}}");
        return;
    }
    println!("warming up");
    for _ in 0..5 {
        println!("{{\"benchmark\": \"parse\", \"nanoseconds\": {}, \"iterations\": 10}}", 10 * sample::N);
    }
    println!("{{\"benchmark\": \"memory\", \"value\": {}, \"unit\": \"MB\"}}", sample::N);
    assert!(sample::N == 1000, "no luck");
    println!("{{\"benchmark\": \"bad\", \"nanoseconds\": 1}}");
}
"#;
    let lines =
        "fn main() { println!(\"test a b ... bench: {:>11} ns/iter (+/- 3)\", sample::N) }\n";
    let package = Crate {
        dependency: None,
        targets: vec![("json", false), ("lines", false), ("wrong", false), ("unknown", false)],
        more: "",
    };
    let unknown = "fn main() { panic!(\"nobody runs me\") }\n";
    let fixture = package.fixture(&[
        ("benches/json.rs", json),
        ("benches/lines.rs", lines),
        ("benches/wrong.rs", lines),
        ("benches/unknown.rs", unknown),
        (
            "bench-compare.toml",
            "[target.json]\nharness = \"json-lines\"\n\n[target.lines]\nharness = \"libtest\"\n\n\
             [target.wrong]\nharness = \"json-lines\"\n",
        ),
    ]);
    let results = package.compare(&fixture, "2", &[], 3);
    assert_eq!(ids(&results), ["parse", "memory", "a b"]);
    for found in &results.comparisons {
        assert_eq!((found.method, found.pairs), (Method::Process, 2));
        assert_eq!((found.base.nanoseconds, found.head.nanoseconds), (Some(1000.0), Some(3000.0)));
    }
    assert_eq!(comparison(&results, "memory").unit, "MB");
    let failed: Vec<(&str, Option<&str>)> =
        results.failed.iter().map(|f| (f.target.as_str(), f.benchmark.as_deref())).collect();
    assert_eq!(failed, [("wrong", None), ("wrong", None), ("json", Some("bad"))]);
    assert!(results.failed[0].error.contains("it printed no JSON lines"), "{:?}", results.failed);
    assert!(results.failed[2].error.contains("no luck"), "{:?}", results.failed);
    let [note] = &results.notes[..] else { panic!("{:?}", results.notes) };
    assert!(note.starts_with("`sample::unknown` is left out"), "{note}");
}
