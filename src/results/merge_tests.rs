//! What can be merged, what comes of it, and what is refused.

use proptest::prelude::*;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use super::*;
use crate::stats::Verdict;

/// A benchmark whose head takes `factor` times as long, give or take some hundredths of a percent.
fn measured(id: &str, factor: f64, speed: f64, pairs: u32) -> Value {
    let launches: Vec<Value> = (0..pairs)
        .map(|pair| {
            let off = 1.0 + f64::from(pair * 7 % pairs) * 1e-4 / f64::from(pairs);
            let values = [100.0 / speed, 100.0 / speed * factor * off];
            json!({"group": pair + 1, "order": [0, 1], "values": values})
        })
        .collect();
    json!({"package": "p", "target": "t", "benchmark": id, "unit": "ns", "identical": [],
        "launches": launches, "seconds": 1.5})
}

fn file(name: &str, seed: u64, shard: Option<(u32, u32)>, measured: &[Value]) -> NamedResults {
    with(name, seed, shard, measured, |_| {})
}

fn with(
    name: &str,
    seed: u64,
    shard: Option<(u32, u32)>,
    measured: &[Value],
    change: impl Fn(&mut Value),
) -> NamedResults {
    let revision = |label, commit| json!({"label": label, "commit": commit, "dirty": false, "rustc": "rustc 1.95.0"});
    let mut content = json!({
        "schema_version": 1, "generator": "", "command": "cargo bench-compare main..HEAD",
        "complete": true, "seed": seed, "runs": 12, "margin_percent": 2.0,
        "revisions": [revision("main", "1111111111111"), revision("HEAD", "2222222222222")],
        "environment": {"system": "linux x86_64", "cpu": format!("Processor {seed}"), "cores": 4},
        "comparisons": [], "added": [], "removed": [], "failed": [], "notes": [],
        "measured": measured,
    });
    if let Some((number, of)) = shard {
        content["shard"] = json!({"number": number, "of": of, "split": "s"});
    }
    change(&mut content);
    (name.to_owned(), Results::from_json(&content.to_string()).unwrap())
}

#[test]
fn shards_make_one_comparison() {
    let (one, other) = (measured("a", 1.2, 1.0, 12), measured("b", 1.0, 1.0, 12));
    let merged = merge(vec![
        file("2.json", 2, Some((2, 2)), &[other]),
        file("1.json", 1, Some((1, 2)), &[one]),
    ])
    .unwrap();
    let verdicts: Vec<(&str, Verdict, usize)> =
        merged.comparisons.iter().map(|c| (c.benchmark.as_str(), c.verdict, c.pairs)).collect();
    assert_eq!(verdicts, [("a", Verdict::Regressed, 12), ("b", Verdict::Regressed, 12)]);
    assert!(merged.comparisons.iter().all(|c| c.strata.is_empty()));
    assert_eq!((merged.shard, merged.parts.len()), (None, 2));
    let note = "merged from 2 shards, each of which counts for itself, on: linux x86_64, \
                Processor 1, 4 cores | linux x86_64, Processor 2, 4 cores";
    assert_eq!(merged.notes, [note]);
}

#[test]
fn machines_are_strata_and_their_times_are_not_averaged() {
    let files = [(1.0, 1), (4.0, 2)].map(|(speed, seed)| {
        let measured = [measured("a", 1.01, speed, 12)];
        with(&format!("{seed}.json"), seed, None, &measured, |file: &mut Value| {
            file["measuring_seconds"] = json!(speed);
        })
    });
    let merged = merge(files.to_vec()).unwrap();
    let [a] = &merged.comparisons[..] else { panic!("{:?}", merged.comparisons) };
    assert_eq!((a.pairs, &a.strata[..]), (24, &[12, 12][..]));
    assert_eq!(a.confidence.stars(), "***");
    assert_eq!(merged.measuring_seconds, Some(5.0));
    // The geometric mean of 100 and 25.
    assert!((a.base.nanoseconds.unwrap() - 50.0).abs() < 1e-9);
    // What was merged can be read again, and merged with more.
    let again = Results::from_json(&merged.to_json()).unwrap();
    assert_eq!(again, merged);
    let third = file("3.json", 3, None, &[measured("a", 1.01, 2.0, 18)]);
    let three = merge(vec![("m".to_owned(), merged), third]).unwrap();
    assert_eq!(three.comparisons[0].strata.iter().sum::<usize>(), 42);
    assert_eq!((three.parts.len(), three.measured[0].seconds), (3, 4.5));
    // The third says nothing of it.
    assert_eq!(three.measuring_seconds, None);
}

#[test]
fn code_that_is_identical_in_some_runs_only_counts_where_it_was_measured() {
    let mut identical = measured("a", 1.0, 1.0, 12);
    identical["launches"] = json!([]);
    identical["identical"] = json!([1]);
    let merged = merge(vec![
        file("1.json", 1, None, &[identical]),
        file("2.json", 2, None, &[measured("a", 1.2, 1.0, 12)]),
    ])
    .unwrap();
    assert_eq!(
        (merged.comparisons[0].verdict, merged.comparisons[0].pairs),
        (Verdict::Regressed, 12)
    );
    assert!(merged.comparisons[0].notes[0].contains("in some runs only"));
}

#[track_caller]
fn refusal(files: Vec<NamedResults>) -> String {
    merge(files).expect_err("they cannot be merged").to_string()
}

#[test]
fn what_does_not_belong_together_is_refused_in_words() {
    let a = || [measured("a", 1.2, 1.0, 12)];
    let plain = || file("a.json", 1, None, &a());
    let changed = |change: &dyn Fn(&mut Value)| with("b.json", 2, None, &a(), change);
    let of_two = |change: &dyn Fn(&mut Value)| refusal(vec![plain(), changed(change)]);
    assert_data_eq!(
        of_two(&|f| f["revisions"][1]["commit"] = json!("3333333333333")),
        str![[r#"
a.json and b.json have different revisions
  because: a.json: main (111111111), HEAD (222222222)
  because: b.json: main (111111111), HEAD (333333333)
  help: only results of the same commits, in the same order, can be merged
"#]]
    );
    assert_data_eq!(
        of_two(&|f| {
            f["revisions"][0]["commit"] = json!("2222222222222");
            f["revisions"][1]["commit"] = json!("1111111111111");
        }),
        str![[r#"
a.json and b.json have different revisions
  because: a.json: main (111111111), HEAD (222222222)
  because: b.json: main (222222222), HEAD (111111111)
  because: they are the same, in another order
  help: `cargo bench-compare report b.json --against LABEL --format json` puts another one first
"#]]
    );
    let dirty = |name: &str, seed, sources: Option<&str>| {
        with(name, seed, None, &a(), |f| {
            f["revisions"][1]["dirty"] = json!(true);
            f["revisions"][1]["sources"] = json!(sources);
        })
    };
    assert_data_eq!(
        refusal(vec![dirty("a.json", 1, Some("x")), dirty("b.json", 2, Some("y"))]),
        str![[r#"
a.json and b.json have different uncommitted changes, or nobody can tell
  help: commit the changes, and measure the commit
"#]]
    );
    assert!(merge(vec![dirty("a", 1, Some("x")), dirty("b", 2, Some("x"))]).is_ok());
    assert_data_eq!(
        of_two(&|f| f["margin_percent"] = json!(5.0)),
        str![[r#"
a.json and b.json have different margins
  because: a.json: 2 %
  because: b.json: 5 %
  help: choose one with --margin
"#]]
    );
    assert_data_eq!(
        of_two(&|f| f["benches_from"] = json!("HEAD")),
        str![[r#"
a.json and b.json have different benchmarks
  because: a.json: each revision's own benchmarks
  because: b.json: the benchmarks of HEAD on all revisions
"#]]
    );
    assert_data_eq!(
        of_two(&|f| f["measured"][0]["unit"] = json!("cycles")),
        str!["`a` is measured in ns in a.json, and in cycles in b.json"]
    );
    let twice = ("copy.json".to_owned(), plain().1);
    assert_data_eq!(
        refusal(vec![plain(), twice]),
        str![[r#"
a.json and copy.json are the same results
  help: name every results file once
"#]]
    );
    assert_data_eq!(
        refusal(Vec::new()),
        str![[r#"
there is nothing to merge
  help: name the results files
"#]]
    );
}

#[test]
fn shards_that_are_missing_or_too_many_are_named() {
    let shard = |name: &str, number, of| {
        file(name, u64::from(number), Some((number, of)), &[measured(name, 1.2, 1.0, 12)])
    };
    assert_data_eq!(
        refusal(vec![shard("3.json", 3, 4), shard("1.json", 1, 4)]),
        str![[r#"
shards 2/4, 4/4 are missing
  because: there are: 1/4, 3/4
  help: name the results of all shards
"#]]
    );
    assert_data_eq!(
        refusal(vec![shard("1.json", 1, 2)]),
        str![[r#"
shard 2/2 is missing
  because: there are: 1/2
  help: name the results of all shards
"#]]
    );
    assert_data_eq!(
        refusal(vec![shard("1.json", 1, 2), shard("2.json", 2, 2), shard("again.json", 2, 2)]),
        str![[r#"
shard 2/2 is there more often than others: 2.json, again.json
  help: name each shard of a run once
"#]]
    );
    assert_data_eq!(
        refusal(vec![shard("1.json", 1, 2), shard("2.json", 2, 3)]),
        str![[r#"
1.json is shard 1/2, and 2.json is shard 2/3
  help: measure all shards of the same revisions with the same options
"#]]
    );
    assert_data_eq!(
        refusal(vec![shard("1.json", 1, 2), file("whole.json", 9, None, &[])]),
        str![[r#"
1.json is shard 1/2, and whole.json has all benchmarks
  help: merge the shards first, and then the result with the other
"#]]
    );
    let other = with("2.json", 2, Some((2, 2)), &[], |f| f["shard"]["split"] = json!("other"));
    assert_data_eq!(
        refusal(vec![shard("1.json", 1, 2), other]),
        str![[r#"
1.json and 2.json were split differently: a benchmark may be in both or in none
  because: their benchmarks, their filters or the results given with --shard-by were not the same
  help: measure all shards of the same revisions with the same options
"#]]
    );
    // Both shards on both of two machines.
    let all = [("a", 1, 1), ("b", 2, 2), ("c", 1, 3), ("d", 2, 4)].map(|(name, number, seed)| {
        file(name, seed, Some((number, 2)), &[measured(&number.to_string(), 1.2, 1.0, 12)])
    });
    let merged = merge(all.to_vec()).unwrap();
    assert!(merged.comparisons.iter().all(|c| c.strata == [12, 12]), "{merged:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn the_order_of_the_files_does_not_matter_and_nothing_is_lost(
        shape in proptest::collection::vec((0.5..2.0f64, 1u32..9, "[abc]"), 1..5).prop_shuffle(),
        order in any::<u64>(),
    ) {
        let files: Vec<NamedResults> = shape
            .iter()
            .enumerate()
            .map(|(seed, (factor, pairs, id))| {
                file(&seed.to_string(), seed as u64, None, &[measured(id, *factor, 1.0, *pairs)])
            })
            .collect();
        let mut shuffled = files.clone();
        fastrand::Rng::with_seed(order).shuffle(&mut shuffled);
        let merged = merge(files).unwrap();
        prop_assert_eq!(&merged, &merge(shuffled).unwrap());
        let pairs: usize = merged.comparisons.iter().map(|c| c.pairs).sum();
        prop_assert_eq!(pairs as u32, shape.iter().map(|(_, pairs, _)| pairs).sum::<u32>());
    }
}
