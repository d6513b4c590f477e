//! A results file that somebody else may have made: in the publishing job for a fork's pull request, its author.
//!
//! In: a path that the workflow names. Out: [`Results`], within limits on everything that costs time or memory.
//! No path that stands in the file is opened.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::report::one_line;
use crate::results::Results;
use crate::system::{Error, Result};

use super::names::is_commit;

/// The most bytes of a results file: 2,000 benchmarks with 40 launch pairs each have about 25 MB.
const MOST_BYTES: u64 = 64 << 20;
const MOST_REVISIONS: usize = 32;
const MOST_BENCHMARKS: usize = 20_000;
/// Benchmarks times revisions that are compared with the first.
const MOST_COMPARISONS: usize = 50_000;
const MOST_OTHERS: usize = 2_000;

/// How many of each there are, counted before anything is made of them.
#[derive(Deserialize)]
struct Counts {
    #[serde(default)]
    revisions: Vec<IgnoredAny>,
    #[serde(default)]
    measured: Vec<IgnoredAny>,
    #[serde(default)]
    failed: Vec<IgnoredAny>,
    #[serde(default)]
    added: Vec<IgnoredAny>,
    #[serde(default)]
    removed: Vec<IgnoredAny>,
    #[serde(default)]
    set_aside: Vec<IgnoredAny>,
    #[serde(default)]
    notes: Vec<IgnoredAny>,
}

/// Reads a results file that is not trusted.
pub fn load(path: &Path) -> Result<Results> {
    let text = read(path)?;
    let results = check_counts(&text)
        .and_then(|()| Results::from_json(&text))
        .and_then(|results| check_commits(&results).map(|()| results));
    results.map_err(|error| {
        // In one line: a line that a hostile file begins could be a command to the runner that reads the log.
        Error::usage(format!("{} cannot be published", path.display()))
            .because(one_line(&error.to_string().replace("\n  ", "; ")))
    })
}

/// Of a symbolic link, a part of what it points at could show in an error message.
fn read(path: &Path) -> Result<String> {
    let cannot = |why: std::io::Error| {
        Error::usage(format!("cannot read the results: {}", path.display())).because(why)
    };
    if !std::fs::symlink_metadata(path).map_err(cannot)?.is_file() {
        let what = format!("{} is no regular file", path.display());
        return Err(Error::usage(what)
            .help("name the results file itself: results that are published are not trusted"));
    }
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text))
        .map_err(cannot)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(too_much(&format!("{} has more than 64 MiB", path.display())));
    }
    Ok(text)
}

fn check_counts(text: &str) -> Result<()> {
    // What is wrong with the form is said by whoever reads it in earnest.
    let Ok(counts) = serde_json::from_str::<Counts>(text) else { return Ok(()) };
    let compared = counts.measured.len() * counts.revisions.len().saturating_sub(1);
    for (what, count, most) in [
        ("revisions", counts.revisions.len(), MOST_REVISIONS),
        ("benchmarks", counts.measured.len(), MOST_BENCHMARKS),
        ("comparisons", compared, MOST_COMPARISONS),
        ("failures", counts.failed.len(), MOST_OTHERS),
        ("added benchmarks", counts.added.len(), MOST_BENCHMARKS),
        ("removed benchmarks", counts.removed.len(), MOST_BENCHMARKS),
        ("benchmarks that are set aside", counts.set_aside.len(), MOST_OTHERS),
        ("notes", counts.notes.len(), MOST_OTHERS),
    ] {
        if count > most {
            return Err(too_much(&format!("there are more than {most} {what}")));
        }
    }
    Ok(())
}

fn too_much(what: &str) -> Error {
    Error::usage(format!("{what}, which is more than can be published"))
        .help("compare fewer benchmarks at a time, with --filter or --bench")
}

fn check_commits(results: &Results) -> Result<()> {
    let is_wrong = |commit: &str| !commit.is_empty() && !is_commit(commit);
    match results.revisions.iter().find(|revision| is_wrong(&revision.commit)) {
        Some(_) => Err(Error::usage("a revision's commit is no commit id")
            .help("make the comparison again with --save")),
        None => Ok(()),
    }
}
