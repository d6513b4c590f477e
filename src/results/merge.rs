//! Several results of one comparison made one: shards that measured different benchmarks, and runs on several machines
//! that measured the same. Pure.
//!
//! What different runs measured is never thrown together: every launch keeps the run that it belongs to, and each run is
//! a stratum of the statistics (`stats::judge_strata`). In which order the files are named makes no difference.

use std::collections::BTreeMap;

use crate::model::BenchmarkName;
use crate::system::{Error, Result};

use super::file::MOST_PARTS;
use super::schema::{LaunchValues, Measured, Part, Results, Revision};
use crate::model::Shard;

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
    // Of some alone it would not be the time of all.
    merged.measuring_seconds = files.iter().map(|(_, results)| results.measuring_seconds).sum();
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
    merged.reference = merged.reference.min(other.reference);
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
#[path = "merge_tests.rs"]
mod tests;
