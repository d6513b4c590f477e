//! divan, old and new.

use cargo_bench_compare::results::Method;
use cargo_bench_compare::stats::Verdict;

use super::{Crate, assert_much_slower, comparison, ids};

const NEW: (&str, &str) =
    ("divan = \"=0.1.21\"", include_str!("../../fixtures/harnesses/divan-0.1.21.lock"));
/// The last but one that does not list its benchmarks for other programs.
const OLD: (&str, &str) =
    ("divan = \"=0.1.14\"", include_str!("../../fixtures/harnesses/divan-0.1.14.lock"));

fn benches() -> String {
    let long = "a name of many letters ".repeat(5);
    BENCHES.replace("LONG", long.trim_end())
}

const BENCHES: &str = r#"use divan::{Bencher, counter::ItemsCount};
use sample::{N, spin};

fn main() { divan::main() }
#[divan::bench] fn plain() -> u64 { spin(N) }
#[divan::bench(name = "a/b c │ d ├─ x")] fn odd() -> u64 { spin(N) }
#[divan::bench(name = "LONG")] fn long() -> u64 { spin(N) }
#[divan::bench(args = ["x y", "│ 1 ns │ 2", "ünï"])] fn args(_: &str) -> u64 { spin(N) }
#[divan::bench(types = [Vec<u8>, String])] fn of_type<T: Default>() -> (T, u64) { (T::default(), spin(N)) }
#[divan::bench(threads = [1, 2])] fn threads() -> u64 { spin(N) }
#[divan::bench(ignore)] fn ignored() { panic!("nobody runs me") }
#[divan::bench(name = "twice")] fn first() -> u64 { spin(N) }
#[divan::bench(name = "twice")] fn second() -> u64 { spin(N) }
#[divan::bench(sample_count = 1000000)] fn many_samples() -> u64 { spin(N) }
#[divan::bench_group(name = "group │ one")]
mod group {
    use super::*;
    #[divan::bench] fn items(bencher: Bencher) { bencher.counter(ItemsCount::new(5usize)).bench(|| spin(N)) }
    #[divan::bench] fn panics(bencher: Bencher) {
        assert!(N == 1000, "no luck");
        bencher.bench(|| spin(N))
    }
}
"#;

fn package(dependency: (&'static str, &'static str)) -> Crate {
    Crate {
        dependency: Some(dependency),
        targets: vec![("tree", false), ("empty", false)],
        more: "\n[features]\nspecial = []\n\n[[bench]]\nname = \"allocations\"\nharness = false\n\
               required-features = [\"special\"]\n",
    }
}

const EMPTY: &str = "fn main() { divan::main() }\n";

#[test]
fn benchmarks_of_divan_are_measured_whatever_they_are_called() {
    let package = package(NEW);
    let fixture = package.fixture(&[
        ("benches/tree.rs", &benches()),
        ("benches/empty.rs", EMPTY),
        ("benches/allocations.rs", EMPTY),
    ]);
    let results = package.compare(&fixture, "3", &[], 3);
    let long = "a name of many letters ".repeat(5);
    let mut expected = vec![
        "plain",
        "a/b c │ d ├─ x",
        long.trim_end(),
        "args::x y",
        "args::│ 1 ns │ 2",
        "args::ünï",
        "of_type::Vec<u8>",
        "of_type::String",
        "threads::t=1",
        "threads::t=2",
        "twice",
        "twice #2",
        "many_samples",
        "group │ one::items",
    ];
    let mut found = ids(&results);
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    for found in &results.comparisons {
        let with_threads = found.benchmark == "threads::t=2";
        let method = if with_threads { Method::Process } else { Method::Lockstep };
        assert_eq!((found.method, found.pairs), (method, 3), "{found:?}");
        if !with_threads {
            assert_much_slower(found);
        }
    }
    let items = comparison(&results, "group │ one::items").throughput.as_ref().unwrap();
    assert_eq!((items.amount, items.unit.as_str()), (5.0, "items"));
    let [failure] = &results.failed[..] else { panic!("{:?}", results.failed) };
    assert_eq!(failure.benchmark.as_deref(), Some("group │ one::panics"));
    assert!(failure.side == "head" && failure.error.contains("no luck"), "{failure:?}");
}

#[test]
fn allocations_are_compared_exactly_and_only_if_they_change() {
    let bench = r#"use sample::{N, spin};
#[global_allocator] static ALLOC: divan::AllocProfiler = divan::AllocProfiler::system();
fn main() { divan::main() }
#[divan::bench] fn more() -> (Vec<u8>, u64) { (vec![1; N as usize], spin(N)) }
#[divan::bench] fn same() -> (Vec<u8>, u64) { (vec![1; 77], spin(N)) }
"#;
    let package = package(NEW);
    let files = [
        ("benches/tree.rs", EMPTY),
        ("benches/empty.rs", EMPTY),
        ("benches/allocations.rs", bench),
    ];
    let fixture = package.fixture(&files);
    let results = package.compare(&fixture, "2", &["--features", "special"], 0);
    let mut found = ids(&results);
    found.sort_unstable();
    assert_eq!(found, ["more", "more [allocated bytes]", "more [most bytes at once]", "same"]);
    let bytes = comparison(&results, "more [allocated bytes]");
    assert_eq!((bytes.method, bytes.verdict), (Method::Count, Verdict::Regressed));
    assert_eq!((bytes.base.nanoseconds, bytes.head.nanoseconds), (Some(1000.0), Some(3000.0)));
    assert_eq!((bytes.unit.as_str(), bytes.p_value), ("bytes", None));
    let counted: Vec<&str> = results
        .measured
        .iter()
        .filter(|measured| measured.counted_beside.as_deref() == Some("same"))
        .map(|measured| measured.benchmark.as_str())
        .collect();
    assert!(counted.contains(&"same [allocations]"), "{counted:?}");
}

#[test]
fn a_divan_that_lists_nothing_for_others_is_read_from_its_tree() {
    let package = package(OLD);
    let bench = benches().replace("assert!(N == 1000, \"no luck\");", "");
    let files = [
        ("benches/tree.rs", &bench[..]),
        ("benches/empty.rs", EMPTY),
        ("benches/allocations.rs", EMPTY),
    ];
    let fixture = package.fixture(&files);
    let skip = ["--skip", "letters|of_type|items|many"];
    let results = package.compare(&fixture, "3", &skip, 0);
    let mut found = ids(&results);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "a/b c │ d ├─ x",
            "args::x y",
            "args::ünï",
            "args::│ 1 ns │ 2",
            "group │ one::panics",
            "plain",
            "threads::t=1",
            "threads::t=2",
            "twice",
            "twice #2",
        ]
    );
    assert_much_slower(comparison(&results, "args::│ 1 ns │ 2"));
}
