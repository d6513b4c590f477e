//! Several results of one comparison made one: shards that measured different benchmarks, and runs on several machines
//! that measured the same. Pure.
//!
//! What different runs measured is never thrown together: every launch keeps the run that it belongs to, and each run is
//! a stratum of the statistics (`stats::judge_strata`). In which order the files are named makes no difference.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::plan::BenchmarkName;

use super::file::MOST_PARTS;
use super::schema::{LaunchValues, Measured, Part, Results, Revision, Shard};

/// Results, and the name of the file that they come from.
pub type NamedResults = (String, Results);

/// Merges results of the same revisions. Everything that keeps them from being one comparison is an error that names
/// the files.
pub fn merge(mut files: Vec<NamedResults>) -> Result<Results> {
    files.sort_by_cached_key(|(_, results)| {
        let shard = results.shard.as_ref().map_or(0, |shard| shard.number);
        (shard, results.to_json())
    });
    let Some((first, others)) = files.split_first() else {
        return Err(Error::usage("there is nothing to merge").help("name the results files"));
    };
    for other in others {
        refuse_other_comparison(first, other)?;
    }
    refuse_incomplete_shards(&files)?;
    refuse_the_same_twice(&files)?;

    let mut merged = Results { measured: Vec::new(), ..files[0].1.clone() };
    merged.shard = None;
    merged.parts = files.iter().flat_map(|(_, results)| parts(results)).collect();
    merged.complete = files.iter().all(|(_, results)| results.complete);
    if files.iter().any(|(_, results)| results.runs != merged.runs) {
        merged.runs = files.iter().filter_map(|(_, results)| results.runs).max();
    }
    for (_, results) in &files[1..] {
        extend(&mut merged.added, &results.added);
        extend(&mut merged.removed, &results.removed);
        extend(&mut merged.failed, &results.failed);
        extend(&mut merged.set_aside, &results.set_aside);
        extend(&mut merged.notes, &results.notes);
    }
    if merged.parts.len() > MOST_PARTS {
        return Err(Error::usage(format!("more than {MOST_PARTS} runs cannot be merged")));
    }
    merged.measured = merged_measurements(&files)?;
    merged.notes.extend(compiler_notes(&files));
    let note = about_parts(&merged.parts);
    extend(&mut merged.notes, &[note]);
    merged.derive_comparisons();
    Ok(merged)
}

/// The runs that results consist of.
fn parts(results: &Results) -> Vec<Part> {
    if !results.parts.is_empty() {
        return results.parts.clone();
    }
    vec![Part {
        environment: results.environment.clone(),
        command: results.command.clone(),
        seed: results.seed,
        shard: results.shard.clone(),
    }]
}

fn extend<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
}

fn refuse_other_comparison(a: &NamedResults, b: &NamedResults) -> Result<()> {
    let ((a_file, a), (b_file, b)) = (a, b);
    let differ = |what: &str, a: &str, b: &str| {
        Error::usage(format!("{a_file} and {b_file} have different {what}"))
            .because(format!("{a_file}: {a}"))
            .because(format!("{b_file}: {b}"))
    };
    let identities =
        |results: &Results| results.revisions.iter().map(identity).collect::<Vec<String>>();
    let (ours, theirs) = (identities(a), identities(b));
    if ours != theirs {
        let (mut sorted, mut other) = (ours.clone(), theirs.clone());
        sorted.sort();
        other.sort();
        let error = differ("revisions", &described(a), &described(b));
        return Err(if sorted == other {
            error.because("they are the same, in another order").help(format!(
                "`cargo bench-compare report {b_file} --against LABEL --format json` puts another one first"
            ))
        } else {
            error.help("only results of the same commits, in the same order, can be merged")
        });
    }
    for (ours, theirs) in a.revisions.iter().zip(&b.revisions) {
        if ours.dirty && (ours.sources.is_none() || ours.sources != theirs.sources) {
            return Err(Error::usage(format!(
                "{a_file} and {b_file} have different uncommitted changes, or nobody can tell"
            ))
            .help("commit the changes, and measure the commit"));
        }
    }
    if a.margin_percent != b.margin_percent {
        let error = differ("margins", &a.margin_percent.to_string(), &b.margin_percent.to_string());
        return Err(error.help("choose one with --margin"));
    }
    if a.benches_from != b.benches_from {
        let of = |results: &Results| match &results.benches_from {
            Some(label) => format!("the benchmarks of {label} on all revisions"),
            None => "each revision's own benchmarks".to_owned(),
        };
        return Err(differ("benchmarks", &of(a), &of(b)));
    }
    Ok(())
}

/// What makes a revision the same in two files, whatever it is called there.
fn identity(revision: &Revision) -> String {
    let dirty = if revision.dirty { " with uncommitted changes" } else { "" };
    match &revision.program {
        Some(program) => program.clone(),
        None => format!("{}{dirty}", revision.commit),
    }
}

fn described(results: &Results) -> String {
    let short = |revision: &Revision| {
        let identity = identity(revision);
        let commit: String = match revision.program {
            Some(_) => identity,
            None => identity
                .replace(&revision.commit, revision.commit.get(..9).unwrap_or(&revision.commit)),
        };
        format!("{} ({commit})", revision.label)
    };
    results.revisions.iter().map(short).collect::<Vec<_>>().join(", ")
}

/// All shards of a split must be there, each as often as the others.
fn refuse_incomplete_shards(files: &[NamedResults]) -> Result<()> {
    let of_files: Vec<(&str, &Shard)> = files
        .iter()
        .filter_map(|(file, results)| Some((file.as_str(), results.shard.as_ref()?)))
        .collect();
    let Some((first_file, first)) = of_files.first() else { return Ok(()) };
    let help = "measure all shards of the same revisions with the same options";
    if let Some((file, _)) = files.iter().find(|(_, results)| results.shard.is_none()) {
        return Err(Error::usage(format!(
            "{first_file} is shard {first}, and {file} has all benchmarks"
        ))
        .help("merge the shards first, and then the result with the other"));
    }
    for (file, shard) in &of_files {
        if shard.of != first.of {
            return Err(Error::usage(format!(
                "{first_file} is shard {first}, and {file} is shard {shard}"
            ))
            .help(help));
        }
        if shard.split != first.split {
            return Err(Error::usage(format!(
                "{first_file} and {file} were split differently: a benchmark may be in both or in none"
            ))
            .because("their benchmarks, their filters or the results given with --shard-by were not the same")
            .help(help));
        }
    }
    // A hostile file may say that there are billions.
    let mut there: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for (file, shard) in &of_files {
        there.entry(shard.number).or_default().push(file);
    }
    let missing: Vec<String> = (1..=first.of)
        .filter(|number| !there.contains_key(number))
        .take(10)
        .map(|number| format!("{number}/{}", first.of))
        .collect();
    if !missing.is_empty() {
        let what = if missing.len() == 1 { "shard" } else { "shards" };
        return Err(Error::usage(format!("{what} {} missing", are(&missing)))
            .because(format!("there are: {}", listed(of_files.iter().map(|(_, s)| s.to_string()))))
            .help("name the results of all shards"));
    }
    let fewest = there.values().map(Vec::len).min().unwrap_or_default();
    if let Some((number, files)) = there.iter().find(|(_, files)| files.len() > fewest) {
        return Err(Error::usage(format!(
            "shard {number}/{} is there more often than others: {}",
            first.of,
            files.join(", ")
        ))
        .help("name each shard of a run once"));
    }
    Ok(())
}

fn are(missing: &[String]) -> String {
    let verb = if missing.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", missing.join(", "))
}

fn listed(shards: impl Iterator<Item = String>) -> String {
    shards.collect::<Vec<_>>().join(", ")
}

fn refuse_the_same_twice(files: &[NamedResults]) -> Result<()> {
    for (position, (file, results)) in files.iter().enumerate() {
        let has_launches = results.measured.iter().any(|measured| !measured.launches.is_empty());
        let earlier = files[..position].iter().find(|(_, other)| {
            has_launches && other.measured == results.measured && other.seed == results.seed
        });
        if let Some((earlier, _)) = earlier {
            return Err(Error::usage(format!("{earlier} and {file} are the same results"))
                .help("name every results file once"));
        }
    }
    Ok(())
}

fn merged_measurements(files: &[NamedResults]) -> Result<Vec<Measured>> {
    let mut all: BTreeMap<BenchmarkName, (usize, Measured)> = BTreeMap::new();
    let mut first_part = 0;
    for (index, (file, results)) in files.iter().enumerate() {
        for measured in &results.measured {
            let in_part = |launch: &LaunchValues| LaunchValues {
                part: first_part + launch.part,
                ..launch.clone()
            };
            let launches: Vec<LaunchValues> = measured.launches.iter().map(in_part).collect();
            let name = measured.name();
            match all.get_mut(&name) {
                None => {
                    all.insert(name, (index, Measured { launches, ..measured.clone() }));
                }
                Some((earlier, merged)) => {
                    let both_measured = !merged.launches.is_empty() && !launches.is_empty();
                    if both_measured && merged.unit != measured.unit {
                        return Err(Error::usage(format!(
                            "`{}` is measured in {} in {}, and in {} in {file}",
                            name.benchmark, merged.unit, files[*earlier].0, measured.unit
                        )));
                    }
                    join(merged, measured, launches);
                }
            }
        }
        first_part += parts(results).len();
    }
    Ok(all.into_values().map(|(_, measured)| measured).collect())
}

/// Adds what another run measured of a benchmark.
fn join(merged: &mut Measured, other: &Measured, launches: Vec<LaunchValues>) {
    if merged.launches.is_empty() {
        merged.unit.clone_from(&other.unit);
    }
    let (identical, same_code) = (merged.identical.clone(), merged.same_code.clone());
    // What one of them measured was not the same code everywhere.
    merged.identical.retain(|position| other.identical.contains(position));
    merged.same_code.retain(|same| other.same_code.contains(same));
    if identical != other.identical || same_code != other.same_code {
        let note =
            "its code is the same as another revision's in some runs only; those count for nothing";
        extend(&mut merged.notes, &[note.to_owned()]);
    }
    if merged.margin_percent != other.margin_percent {
        merged.margin_percent = None;
    }
    // The reason holds for one run alone.
    if merged.stopped_by != other.stopped_by {
        merged.stopped_by.clear();
    }
    extend(&mut merged.notes, &other.notes);
    merged.seconds += other.seconds;
    merged.launches.extend(launches);
}

/// Compilers that differ from run to run.
fn compiler_notes(files: &[NamedResults]) -> Vec<String> {
    let revisions = files[0].1.revisions.iter().enumerate();
    let note = |(position, revision): (usize, &Revision)| {
        let mut compilers: Vec<&str> =
            files.iter().map(|(_, results)| results.revisions[position].rustc.as_str()).collect();
        compilers.sort_unstable();
        compilers.dedup();
        (compilers.len() > 1).then(|| {
            format!("{} was compiled differently: {}", revision.label, compilers.join(" | "))
        })
    };
    revisions.filter_map(note).collect()
}

/// What was merged, in a sentence.
fn about_parts(parts: &[Part]) -> String {
    let mut machines: Vec<String> = Vec::new();
    for part in parts {
        let environment = &part.environment;
        let mut words = vec![environment.system.clone()];
        words.extend(environment.cpu.clone());
        words.extend(environment.cores.map(|cores| format!("{cores} cores")));
        extend(&mut machines, &[words.join(", ")]);
    }
    let what = if parts.iter().all(|part| part.shard.is_some()) { "shards" } else { "runs" };
    let what = if parts.len() == 1 { &what[..what.len() - 1] } else { what };
    format!(
        "merged from {} {what}, each of which counts for itself, on: {}",
        parts.len(),
        machines.join(" | ")
    )
}

#[cfg(test)]
mod tests {
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
            file(&format!("{seed}.json"), seed, None, &[measured("a", 1.01, speed, 12)])
        });
        let merged = merge(files.to_vec()).unwrap();
        let [a] = &merged.comparisons[..] else { panic!("{:?}", merged.comparisons) };
        assert_eq!((a.pairs, &a.strata[..]), (24, &[12, 12][..]));
        assert_eq!(a.confidence.stars(), "***");
        // The geometric mean of 100 and 25.
        assert!((a.base.nanoseconds.unwrap() - 50.0).abs() < 1e-9);
        // What was merged can be read again, and merged with more.
        let again = Results::from_json(&merged.to_json()).unwrap();
        assert_eq!(again, merged);
        let third = file("3.json", 3, None, &[measured("a", 1.01, 2.0, 18)]);
        let three = merge(vec![("m".to_owned(), merged), third]).unwrap();
        assert_eq!(three.comparisons[0].strata.iter().sum::<usize>(), 42);
        assert_eq!((three.parts.len(), three.measured[0].seconds), (3, 4.5));
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
        let all =
            [("a", 1, 1), ("b", 2, 2), ("c", 1, 3), ("d", 2, 4)].map(|(name, number, seed)| {
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
}
