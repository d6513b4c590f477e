//! One comparison in parts, and put together again.

use cargo_bench_compare::results::Results;
use snapbox::{assert_data_eq, str};

use crate::support::{Fixture, bench, steady};

#[test]
fn shards_measure_everything_once_and_runs_of_two_machines_count_each_for_itself() {
    let body: String =
        (0..5).map(|i| steady(&format!("b{i}"), &format!("(sample::TIME * {})", i + 1))).collect();
    let fixture = Fixture::with_bench("pub const TIME: u64 = 1000;\n", &bench(&body));
    fixture.write("src/lib.rs", "pub const TIME: u64 = 1250;\n");
    fixture.commit("head");
    let run = |shard: &str, save: &str, more: &[&str]| {
        let arguments = ["base..HEAD", "--runs", "6", "--shard", shard, "--save", save];
        fixture.run(&[&arguments[..], more].concat()).exits_with(0)
    };
    let load = |file: &str| Results::load(&fixture.root().join(file)).unwrap();
    let first = run("1/2", "1.json", &[]);
    assert!(first.stderr.contains("shard 1/2"), "{}", first.stderr);
    let alone = fixture.run(&["merge", "1.json"]).exits_with(2);
    assert_data_eq!(
        alone.stderr,
        str![[r#"
error: shard 2/2 is missing
  because: there are: 1/2
  help: name the results of all shards

"#]]
    );
    run("2/2", "2.json", &[]);
    let merged = fixture.run(&["merge", "2.json", "1.json", "--save", "all.json"]).exits_with(0);
    assert!(merged.stdout.starts_with("5 regressed"), "{}", merged.stdout);
    assert!(merged.stdout.contains("merged from 2 shards"), "{}", merged.stdout);
    let all = load("all.json");
    let names: Vec<&str> = all.comparisons.iter().map(|c| c.benchmark.as_str()).collect();
    assert_eq!(names, ["b0", "b1", "b2", "b3", "b4"]);
    assert!(all.measured.iter().all(|measured| measured.seconds > 0.0));
    assert_eq!(fixture.run(&["report", "all.json"]).exits_with(0).stdout, merged.stdout);

    // Another run, split by the times of the first: it belongs to no shard of that.
    run("1/2", "other.json", &["--shard-by", "all.json"]);
    let mixed = fixture.run(&["merge", "other.json", "2.json"]).exits_with(2);
    assert!(mixed.stderr.contains("were split differently"), "{}", mixed.stderr);
    // A whole run beside it, as if on another machine.
    fixture.run(&["base..HEAD", "--runs", "6", "--save", "whole.json"]).exits_with(0);
    let both = fixture.run(&["merge", "all.json", "whole.json", "--format", "json"]).exits_with(0);
    let both = both.results();
    assert!(both.comparisons.iter().all(|c| c.strata == [6, 6]), "{both:?}");
    fixture.assert_nothing_left_behind();
}
