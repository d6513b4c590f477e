//! Whole comparisons of criterion crates.

use cargo_bench_compare::results::{Comparison, Method, Results};
use cargo_bench_compare::stats::{Confidence, StoppedBy, Verdict};

use crate::support::{Fixture, bench, steady};

/// One benchmark that gets slower, one that gets faster, one that stays, and one each that goes and comes.
fn changed_speeds() -> Fixture {
    let library = |a: u64, b: u64| {
        format!(
            "pub const SLOWER: u64 = {a};\npub const FASTER: u64 = {b};\npub const SAME: u64 = 500;\n"
        )
    };
    let common = steady("slower", "sample::SLOWER")
        + &steady("faster/len=16", "sample::FASTER")
        + &steady("faster/len=4", "sample::FASTER")
        + &steady("same", "sample::SAME");
    let fixture =
        Fixture::with_bench(&library(1000, 3000), &bench(&(common.clone() + &steady("old", "1"))));
    fixture.write("src/lib.rs", library(1200, 2000));
    fixture.write("benches/timing.rs", bench(&(common + &steady("new", "1"))));
    fixture.commit("head");
    fixture
}

fn comparison<'a>(results: &'a Results, benchmark: &str) -> &'a Comparison {
    let found = results.comparisons.iter().find(|comparison| comparison.benchmark == benchmark);
    found.unwrap_or_else(|| panic!("no {benchmark} in {:?}", results.comparisons))
}

#[test]
fn changes_are_found_with_their_size_and_the_rest_is_told() {
    let fixture = changed_speeds();
    let run = fixture.run(&["base..HEAD", "--format", "json"]).exits_with(0);
    let results = run.results();
    assert!(results.complete);

    let slower = comparison(&results, "slower");
    assert_eq!(slower.verdict, Verdict::Regressed);
    assert_eq!(slower.confidence, Confidence::Three);
    assert_eq!((slower.pairs, slower.stopped_by), (18, Some(StoppedBy::Efficacy)));
    assert!((slower.improvement_percent.unwrap().value() - -100.0 / 6.0).abs() < 0.01);
    assert_eq!(slower.base.nanoseconds, Some(1000.0));
    assert_eq!(slower.head.nanoseconds, Some(1200.0));

    let faster = comparison(&results, "faster/len=4");
    assert_eq!(faster.verdict, Verdict::Improved);
    assert!((faster.improvement_percent.unwrap().value() - 50.0).abs() < 0.01);

    let same = comparison(&results, "same");
    assert_eq!((same.verdict, same.p_value), (Verdict::Equivalent, Some(1.0)));
    assert_eq!((same.pairs, same.stopped_by), (12, Some(StoppedBy::Precision)));

    assert_eq!(results.removed[0].benchmark, "old");
    assert_eq!(results.added[0].benchmark, "new");

    // Where each is written at head.
    let bench = std::fs::read_to_string(fixture.root().join("benches/timing.rs")).unwrap();
    for measured in &results.measured {
        let place = measured.source.as_ref().expect("it is known");
        let line = bench.lines().nth(place.line as usize - 1).unwrap();
        assert_eq!(place.path, "benches/timing.rs");
        assert!(line.contains(&format!("{:?}", measured.benchmark)), "{measured:?}: {line}");
    }
    fixture.assert_nothing_left_behind();
}

#[test]
fn a_change_that_leaves_the_code_alone_is_not_measured() {
    let fixture =
        Fixture::with_bench("pub const A: u64 = 10;\n", &bench(&steady("a", "sample::A")));
    fixture.write("README.md", "More about it.\n");
    fixture.write("src/lib.rs", "// A comment at the end of a line.\npub const A: u64 = 10;\n");
    fixture.commit("comment");
    let results = fixture.run(&["base..HEAD", "--format", "json"]).exits_with(0).results();
    let a = comparison(&results, "a");
    assert_eq!((a.verdict, a.method, a.pairs), (Verdict::IdenticalCode, Method::None, 0));
}

#[test]
fn twenty_percent_more_work_is_a_regression_of_about_twenty_percent() {
    let library = |rounds: u32| {
        format!(
            "pub fn work(x: u64) -> u64 {{ (0..{rounds}u64).fold(x, |x, i| (x ^ i).wrapping_mul(0x100_0000_01b3)) }}\n"
        )
    };
    let body = "    c.bench_function(\"work\", |b| b.iter(|| sample::work(black_box(7))));\n";
    let fixture = Fixture::with_bench(&library(5000), &bench(body));
    fixture.write("src/lib.rs", library(6000));
    fixture.commit("head");
    // Other tests disturb this one: more launches than usual.
    let arguments = ["base..HEAD", "--runs", "30", "--format", "json"];
    let results = fixture.run(&arguments).exits_with(0).results();
    let work = comparison(&results, "work");
    assert_eq!((work.verdict, work.confidence), (Verdict::Regressed, Confidence::Three));
    let more = work.improvement_percent.unwrap().to_log_ratio().exp_m1();
    assert!((0.15..0.25).contains(&more), "{more}");
}
