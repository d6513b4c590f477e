//! Takes samples as they come, and writes everything down before the next ones are there.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::json;

use crate::error::{Error, Result};
use crate::measure::{self, Group, Recorder, launch_values};
use crate::plan::{self, BenchmarkName, Failed, Plan};
use crate::side::{PerSide, Side};
use crate::stats::Percent;

use super::schema::{
    Failure, LaunchValues, Measured, Method, Missing, Results, SameCode, SetAside,
};

/// Collects the results of a run. The results files are written anew after every launch group; the raw
/// samples are appended to a file of their own, one line for each benchmark and group.
pub struct ResultsRecorder {
    results: Results,
    positions: HashMap<BenchmarkName, usize>,
    margins: HashMap<BenchmarkName, Percent>,
    sides: Vec<Side>,
    files: Vec<PathBuf>,
    samples: Vec<fs::File>,
}

impl ResultsRecorder {
    /// Begins with what is known before the first measurement. `files` are where results are written, if
    /// anywhere; each gets its raw samples beside it.
    pub fn new(results: Results, plan: &Plan, files: Vec<PathBuf>) -> Result<Self> {
        let mut samples = Vec::new();
        for file in &files {
            if let Some(parent) = file.parent() {
                fs::create_dir_all(parent)?;
            }
            samples.push(fs::File::create(samples_file(file)).map_err(|error| {
                Error::usage(format!("cannot write {}", file.display())).because(error)
            })?);
        }
        let sides = Side::first(results.revisions.len()).collect();
        let (positions, margins) = (HashMap::new(), plan.margins.clone());
        let mut recorder = Self { results, positions, margins, sides, files, samples };
        recorder.begin(plan)?;
        Ok(recorder)
    }

    fn begin(&mut self, plan: &Plan) -> Result<()> {
        for identical in &plan.identical {
            let position = identical.side.position();
            self.entry(&identical.name).identical.push(position);
        }
        for same in &plan.same_code {
            let (revision, measured_as) = (same.side.position(), same.measured_as.position());
            self.entry(&same.name).same_code.push(SameCode { revision, measured_as });
        }
        let missing = |recorder: &Self, list: &[plan::OnSide]| -> Vec<Missing> {
            list.iter()
                .map(|on_side| Missing {
                    package: on_side.name.package.clone(),
                    target: on_side.name.target.clone(),
                    benchmark: on_side.name.benchmark.clone(),
                    revision: recorder.label(on_side.side),
                })
                .collect()
        };
        self.results.added = missing(self, &plan.added);
        self.results.removed = missing(self, &plan.removed);
        self.results.set_aside = plan.set_aside.iter().map(set_aside).collect();
        self.results.notes.extend(plan.notes.iter().cloned());
        for failed in &plan.failed {
            self.failed(failed.clone())?;
        }
        self.group_done()
    }

    /// The results as they are now.
    pub fn results(&self) -> &Results {
        &self.results
    }

    /// Ends the recording: the run came to its end, or it did not.
    pub fn finish(mut self, complete: bool) -> Result<Results> {
        self.results.complete = complete;
        self.group_done()?;
        Ok(self.results)
    }

    fn entry(&mut self, name: &BenchmarkName) -> &mut Measured {
        let measured = &mut self.results.measured;
        let position = *self.positions.entry(name.clone()).or_insert_with(|| {
            measured.push(Measured {
                package: name.package.clone(),
                target: name.target.clone(),
                benchmark: name.benchmark.clone(),
                unit: "ns".to_owned(),
                margin_percent: self.margins.get(name).copied(),
                identical: Vec::new(),
                same_code: Vec::new(),
                notes: Vec::new(),
                launches: Vec::new(),
            });
            measured.len() - 1
        });
        &mut measured[position]
    }

    /// The sides that have the values of the one that failed, of the benchmark that failed.
    fn sides_with_the_code_of(&self, failed: Side, failure: &Failure) -> Vec<Side> {
        let measured = self.results.measured.iter().find(|measured| {
            (&measured.package, &measured.target, Some(&measured.benchmark))
                == (&failure.package, &failure.target, failure.benchmark.as_ref())
        });
        let same_code = measured.map_or(&[][..], |measured| &measured.same_code);
        let copies = same_code.iter().filter(|same| same.measured_as == failed.position());
        copies.map(|same| self.sides[same.revision]).collect()
    }

    fn label(&self, side: Side) -> String {
        self.results.revisions[side.position()].label.clone()
    }

    /// By position; empty if all sides were launched as they were built.
    fn layouts(&self, group: &Group) -> Vec<Option<u32>> {
        if group.layouts.is_empty() {
            return Vec::new();
        }
        self.sides.iter().map(|side| group.layouts.get(side).map(|seed| seed.value())).collect()
    }

    fn write_samples(&mut self, group: &Group) -> Result<()> {
        let sides: Vec<serde_json::Value> = group
            .sides
            .iter()
            .map(|(side, measurement)| {
                let iterations: Vec<f64> =
                    measurement.samples.iter().map(|s| s.iterations).collect();
                let totals: Vec<f64> = measurement.samples.iter().map(|s| s.total).collect();
                json!({"revision": self.label(*side), "unit": measurement.unit,
                    "iterations": iterations, "totals": totals})
            })
            .collect();
        let line = json!({
            "package": group.target.name.package, "target": group.target.name.target,
            "benchmark": group.benchmark, "group": group.number + 1, "sides": sides,
        });
        for file in &mut self.samples {
            writeln!(file, "{line}")?;
        }
        Ok(())
    }
}

impl Recorder for ResultsRecorder {
    fn measured(&mut self, group: &Group) -> Result<()> {
        self.write_samples(group)?;
        let name = group.target.name.benchmark(group.benchmark);
        let unit = group.sides[0].1.unit.clone();
        let mut values: PerSide<Option<f64>> = self.sides.iter().map(|_| None).collect();
        for (side, value) in launch_values(&group.sides, group.method) {
            values[side] = value;
        }
        let order = group.sides.iter().map(|(side, _)| side.position()).collect();
        let note = group.unfit.map(|unfit| format!("not measured in step, because it {unfit}"));
        let layouts = self.layouts(group);
        let entry = self.entry(&name);
        entry.unit = unit;
        if entry.notes.is_empty() {
            entry.notes.extend(note);
        }
        entry.launches.push(LaunchValues {
            group: group.number + 1,
            method: match group.method {
                measure::Method::Lockstep => Method::Lockstep,
                measure::Method::Process => Method::Process,
            },
            order,
            values: values.values().copied().collect(),
            layouts,
        });
        Ok(())
    }

    fn failed(&mut self, failed: Failed) -> Result<()> {
        let failure = Failure {
            side: failed.side.to_string(),
            revision: self.label(failed.side),
            package: failed.target.package,
            target: failed.target.target,
            benchmark: failed.benchmark,
            error: failed.reason,
        };
        let copies = self.sides_with_the_code_of(failed.side, &failure);
        for side in copies {
            self.results.failed.push(Failure {
                side: side.to_string(),
                revision: self.label(side),
                error: format!("it is the same code as {}: {}", failure.side, failure.error),
                ..failure.clone()
            });
        }
        self.results.failed.push(failure);
        Ok(())
    }

    fn group_done(&mut self) -> Result<()> {
        self.results.derive_comparisons();
        for file in &self.files {
            self.results.save(file)?;
        }
        Ok(())
    }
}

fn set_aside(aside: &plan::SetAside) -> SetAside {
    SetAside {
        package: aside.target.package.clone(),
        target: aside.target.target.clone(),
        benchmark: aside.benchmark.clone(),
        reason: aside.reason.clone(),
    }
}

/// `results.json` has its raw samples in `results.samples.jsonl`.
fn samples_file(results: &Path) -> PathBuf {
    results.with_extension("samples.jsonl")
}
