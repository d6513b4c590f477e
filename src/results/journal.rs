//! The journal of a run: one line for each benchmark and launch group, appended before the next one is measured.
//!
//! It has the raw samples, and everything that the results file says of that launch group. The results file is
//! written anew only now and then, so what a run that crashed had measured since is taken in from here.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::model::{Measurement, Percent, Sample};
use crate::system::{Error, Result};

use super::schema::{LaunchValues, Measured, Results};

/// `results.json` has its journal, with the raw samples, in `results.samples.jsonl`.
fn journal_file(results: &Path) -> PathBuf {
    results.with_extension("samples.jsonl")
}

/// What the results file has of one launch group of a benchmark.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    /// The run's: the journal beside a file may be another run's.
    seed: u64,
    package: String,
    target: String,
    benchmark: String,
    unit: String,
    margin_percent: Option<Percent>,
    notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counted_beside: Option<String>,
    #[serde(default)]
    reference: usize,
    #[serde(flatten)]
    launch: LaunchValues,
}

/// An entry with its samples.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    entry: Entry,
    sides: Vec<SideSamples<'a>>,
}

#[derive(Serialize)]
struct SideSamples<'a> {
    revision: &'a str,
    iterations: Vec<f64>,
    totals: Vec<f64>,
}

impl<'a> SideSamples<'a> {
    fn new(revision: &'a str, measurement: &Measurement) -> Self {
        let each = |of: fn(&Sample) -> f64| measurement.samples.iter().map(of).collect();
        let (iterations, totals) = (each(|sample| sample.iterations), each(|sample| sample.total));
        Self { revision, iterations, totals }
    }
}

/// The journals beside all results files of a run.
pub struct Journal {
    files: Vec<fs::File>,
    seed: u64,
}

impl Journal {
    /// Begins new journals beside these results files.
    pub fn create(results: &[PathBuf], seed: u64) -> Result<Self> {
        let create = |file: &PathBuf| {
            fs::File::create(journal_file(file)).map_err(|error| {
                Error::usage(format!("cannot write {}", file.display())).because(error)
            })
        };
        Ok(Self { files: results.iter().map(create).collect::<Result<_>>()?, seed })
    }

    /// Appends the last launch of a benchmark, with the samples of the revisions with these labels.
    pub fn append(&mut self, measured: &Measured, sides: &[(&str, &Measurement)]) -> Result<()> {
        let Some(launch) = measured.launches.last() else { return Ok(()) };
        let line = Line {
            entry: Entry {
                seed: self.seed,
                package: measured.package.clone(),
                target: measured.target.clone(),
                benchmark: measured.benchmark.clone(),
                unit: measured.unit.clone(),
                margin_percent: measured.margin_percent,
                notes: measured.notes.clone(),
                counted_beside: measured.counted_beside.clone(),
                reference: measured.reference,
                launch: launch.clone(),
            },
            sides: sides.iter().map(|(label, m)| SideSamples::new(label, m)).collect(),
        };
        let mut text = serde_json::to_string(&line).expect("a line can be written as JSON");
        text.push('\n');
        for file in &mut self.files {
            // In one piece: a crash leaves whole lines.
            file.write_all(text.as_bytes())?;
        }
        Ok(())
    }
}

impl Results {
    /// Takes in what the journal beside an incomplete file has beyond it. Without one there is nothing to take in.
    pub(super) fn take_in_journal(&mut self, path: &Path) {
        let Ok(journal) = std::fs::File::open(journal_file(path)) else { return };
        let mut positions: HashMap<[String; 3], usize> = HashMap::new();
        for (position, m) in self.measured.iter().enumerate() {
            let name = [m.package.clone(), m.target.clone(), m.benchmark.clone()];
            positions.insert(name, position);
        }
        // A line that was cut off is the last one, and no entry.
        let lines = BufReader::new(journal).lines().map_while(std::result::Result::ok);
        for entry in lines.filter_map(|line| serde_json::from_str::<Entry>(&line).ok()) {
            if entry.seed != self.seed {
                continue;
            }
            let Entry { package, target, benchmark, unit, margin_percent, notes, .. } = entry;
            let Entry { counted_beside, reference, launch, .. } = entry;
            let name = [package.clone(), target.clone(), benchmark.clone()];
            let position = *positions.entry(name).or_insert_with(|| {
                self.measured.push(Measured::new(package, target, benchmark));
                self.measured.len() - 1
            });
            let measured = &mut self.measured[position];
            if !measured.launches.iter().any(|known| known.group == launch.group) {
                measured.unit = unit;
                measured.margin_percent = margin_percent;
                measured.notes = notes;
                measured.counted_beside = counted_beside;
                measured.reference = reference;
                measured.launches.push(launch);
            }
        }
    }
}
