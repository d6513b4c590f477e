//! Takes samples as they come, and writes everything down before the next ones are there.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use fs_err as fs;

use crate::measure::{self, Clock, Group, Next, Recorder, launch_values};
use crate::model::{BenchmarkName, Environment, Measurement, PerSide, Side};
use crate::plan::{self, Failed, Plan};
use crate::stats::{BUDGET, Decision, StoppedBy, decide};
use crate::system::Result;

use crate::results::Journal;
use crate::results::{
    Failure, LaunchValues, Measured, Method, Missing, Results, SameCode, SetAside,
};

/// Writing a results file anew may take one part in so many of the time.
const SHARE_OF_WRITING: u32 = 20;

/// Collects the results of a run. What is measured is appended to a `Journal` at once. The results files are
/// written anew after launch groups, but as they grow no longer after each; their comparisons are made at the end.
pub struct ResultsRecorder<'a> {
    results: Results,
    positions: HashMap<BenchmarkName, usize>,
    planned: HashMap<BenchmarkName, plan::Benchmark>,
    sides: Vec<Side>,
    files: Vec<PathBuf>,
    journal: Journal,
    clock: &'a dyn Clock,
    write_again: Duration,
}

impl<'a> ResultsRecorder<'a> {
    /// Begins with what is known before the first measurement. `files` are where results are written, if
    /// anywhere; each gets its journal beside it. `clock` was started when the measuring began.
    pub fn new(
        results: Results,
        plan: &Plan,
        files: Vec<PathBuf>,
        clock: &'a dyn Clock,
    ) -> Result<Self> {
        for parent in files.iter().filter_map(|file| file.parent()) {
            fs::create_dir_all(parent)?;
        }
        let journal = Journal::create(&files, results.seed)?;
        let mut recorder = Self {
            sides: Side::first(results.revisions.len()).collect(),
            positions: HashMap::new(),
            planned: plan.benchmarks().map(|(name, planned)| (name, planned.clone())).collect(),
            write_again: Duration::ZERO,
            results,
            files,
            journal,
            clock,
        };
        recorder.begin(plan)?;
        Ok(recorder)
    }

    fn begin(&mut self, plan: &Plan) -> Result<()> {
        for (name, benchmark) in plan.benchmarks() {
            for (side, earlier) in benchmark.same_code() {
                let entry = self.entry(&name);
                if earlier == Side::REFERENCE {
                    entry.identical.push(side.position());
                } else {
                    let (revision, measured_as) = (side.position(), earlier.position());
                    entry.same_code.push(SameCode { revision, measured_as });
                }
            }
            let missing = |side: Side| Missing {
                package: name.package.clone(),
                target: name.target.clone(),
                benchmark: name.benchmark.clone(),
                revision: self.label(side),
            };
            let added: Vec<Missing> = benchmark.added_on().map(missing).collect();
            let removed: Vec<Missing> = benchmark.removed_on().map(missing).collect();
            self.results.added.extend(added);
            self.results.removed.extend(removed);
        }
        self.results.set_aside = plan.skipped.iter().map(set_aside).collect();
        self.results.notes.extend(plan.notes.iter().cloned());
        for failed in &plan.failed {
            self.failed(failed.clone())?;
        }
        self.group_done()
    }

    /// The machine, for what can be said of it only at the end.
    pub fn environment(&mut self) -> &mut Environment {
        &mut self.results.environment
    }

    /// The results so far, when nothing more can be written.
    pub fn into_results(mut self) -> Results {
        self.results.measuring_seconds = Some(self.clock.now().as_secs_f64());
        self.results.derive_comparisons();
        self.results
    }

    /// Ends the recording: the run came to its end, or it did not.
    pub fn finish(mut self, complete: bool) -> Result<Results> {
        self.results.complete = complete;
        self.results.derive_comparisons();
        self.write()?;
        Ok(self.results)
    }

    fn write(&mut self) -> Result<()> {
        let began = self.clock.now();
        self.results.measuring_seconds = Some(began.as_secs_f64());
        for file in &self.files {
            self.results.save(file)?;
        }
        let now = self.clock.now();
        self.write_again = now + SHARE_OF_WRITING * now.saturating_sub(began);
        Ok(())
    }

    /// The position of a benchmark in what was measured.
    fn position(&mut self, name: &BenchmarkName) -> usize {
        let measured = &mut self.results.measured;
        *self.positions.entry(name.clone()).or_insert_with(|| {
            let BenchmarkName { package, target, benchmark } = name.clone();
            let planned = self.planned.get(name);
            let margin_percent = planned.and_then(|planned| planned.margin);
            let source = planned.and_then(|planned| planned.place.clone());
            let reference = planned.and_then(plan::Benchmark::reference);
            let reference = reference.unwrap_or(Side::REFERENCE).position();
            let new = Measured::new(package, target, benchmark);
            measured.push(Measured { margin_percent, source, reference, ..new });
            measured.len() - 1
        })
    }

    fn entry(&mut self, name: &BenchmarkName) -> &mut Measured {
        let position = self.position(name);
        &mut self.results.measured[position]
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

    /// Takes down what was counted beside the benchmark on all of its sides.
    fn count(&mut self, group: &Group) -> Result<()> {
        let Some((_, first)) = group.sides.first() else { return Ok(()) };
        for counted in &first.counts {
            let count = |(side, m): &(Side, Measurement)| {
                let same = m.counts.iter().find(|other| other.metric == counted.metric);
                // What is zero may not be mentioned, where something else is.
                let value = same.map(|count| count.value).or((!m.counts.is_empty()).then_some(0.0));
                Some((*side, value?))
            };
            let Some(counts) = group.sides.iter().map(count).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let mut values: PerSide<Option<f64>> = self.sides.iter().map(|_| None).collect();
            for (side, value) in counts {
                values[side] = Some(value);
            }
            let owner = self.entry(&group.target.name.benchmark(group.benchmark)).clone();
            let id = format!("{} [{}]", group.benchmark, counted.metric);
            let position = self.position(&group.target.name.benchmark(&id));
            let entry = &mut self.results.measured[position];
            entry.unit = unit(&counted.metric).to_owned();
            entry.counted_beside = Some(group.benchmark.to_owned());
            entry.reference = owner.reference;
            entry.identical = owner.identical;
            entry.same_code = owner.same_code;
            entry.launches.push(LaunchValues {
                part: 0,
                group: group.number + 1,
                method: Method::Count,
                order: group.sides.iter().map(|(side, _)| side.position()).collect(),
                values: values.values().copied().collect(),
                layouts: Vec::new(),
            });
            self.journal.append(&self.results.measured[position], &[])?;
        }
        Ok(())
    }

    /// Whether a benchmark that was just measured on these sides is measured enough: each comparison for itself.
    fn next(&mut self, position: usize, sides: &[(Side, Measurement)]) -> Next {
        let runs = self.results.runs.map(|runs| runs as usize);
        let margin = self.results.margin_of(&self.results.measured[position]);
        let measured = &mut self.results.measured[position];
        measured.stopped_by.resize(self.sides.len(), None);
        let mut until = None;
        let reference = measured.reference;
        for (side, _) in sides.iter().filter(|(side, _)| side.position() != reference) {
            if measured.stopped_by[side.position()].is_some() {
                continue;
            }
            // A group may have no value, and that shall not go on for ever.
            let is_last = measured.launches.len() >= runs.unwrap_or(BUDGET);
            let decision = match runs {
                Some(_) if is_last => Decision::Stop(StoppedBy::Runs),
                Some(runs) => Decision::GoOn { until: runs },
                None => match decide(&measured.log_ratios(reference, side.position()), margin) {
                    Decision::GoOn { .. } if is_last => Decision::Stop(StoppedBy::Budget),
                    decision => decision,
                },
            };
            match decision {
                Decision::Stop(why) => measured.stopped_by[side.position()] = Some(why),
                Decision::GoOn { until: its } => until = until.max(Some(its)),
            }
        }
        match until {
            Some(until) => Next::GoOn { until: u32::try_from(until).unwrap_or(u32::MAX) },
            None => Next::Enough,
        }
    }
}

/// What is counted, in a word: `bytes` for allocated bytes.
fn unit(metric: &str) -> &str {
    metric.split(' ').find(|word| *word == "bytes").or(metric.rsplit(' ').next()).unwrap_or(metric)
}

/// How long the samples took. Of what is not a time, nobody knows.
fn seconds(sides: &[(Side, Measurement)]) -> f64 {
    let times = sides.iter().filter(|(_, measurement)| measurement.unit == "ns");
    let nanoseconds = times.flat_map(|(_, measurement)| &measurement.samples).map(|s| s.total);
    nanoseconds.filter(|total| total.is_finite() && *total > 0.0).sum::<f64>() / 1e9
}

impl Recorder for ResultsRecorder<'_> {
    fn measured(&mut self, group: &Group) -> Result<Next> {
        let name = group.target.name.benchmark(group.benchmark);
        let unit = group.sides[0].1.unit.clone();
        let mut values: PerSide<Option<f64>> = self.sides.iter().map(|_| None).collect();
        for (side, value) in launch_values(&group.sides, group.method) {
            values[side] = value;
        }
        let order = group.sides.iter().map(|(side, _)| side.position()).collect();
        let note = group.unfit.map(|unfit| format!("not measured in step, because it {unfit}"));
        let layouts = self.layouts(group);
        let position = self.position(&name);
        let entry = &mut self.results.measured[position];
        entry.unit = unit;
        if entry.notes.is_empty() {
            entry.notes.extend(note);
        }
        entry.seconds += seconds(&group.sides);
        entry.launches.push(LaunchValues {
            group: group.number + 1,
            part: 0,
            method: match group.method {
                measure::Method::Lockstep => Method::Lockstep,
                measure::Method::Process => Method::Process,
                measure::Method::Count => Method::Count,
            },
            order,
            values: values.values().copied().collect(),
            layouts,
        });
        entry.throughput = group.sides.iter().find_map(|(_, m)| m.throughput.clone());
        self.count(group)?;
        let revisions = &self.results.revisions;
        let samples: Vec<(&str, &Measurement)> = group
            .sides
            .iter()
            .map(|(side, measurement)| (revisions[side.position()].label.as_str(), measurement))
            .collect();
        self.journal.append(&self.results.measured[position], &samples)?;
        if group.method == measure::Method::Count {
            return Ok(Next::Enough);
        }
        Ok(self.next(position, &group.sides))
    }

    fn ran_out_of_time(&mut self, benchmark: &BenchmarkName, sides: &[Side]) -> Result<()> {
        let count = self.sides.len();
        let entry = self.entry(benchmark);
        entry.stopped_by.resize(count, None);
        let reference = entry.reference;
        for side in sides.iter().filter(|side| side.position() != reference) {
            entry.stopped_by[side.position()].get_or_insert(StoppedBy::TimeLimit);
        }
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
        // The journal does not have it.
        self.write_again = Duration::ZERO;
        Ok(())
    }

    fn note(&mut self, note: String) -> Result<()> {
        self.results.notes.push(note);
        Ok(())
    }

    fn group_done(&mut self) -> Result<()> {
        if self.clock.now() < self.write_again {
            return Ok(());
        }
        self.write()
    }
}

fn set_aside(aside: &plan::Skipped) -> SetAside {
    SetAside {
        package: aside.target.package.clone(),
        target: aside.target.target.clone(),
        benchmark: aside.benchmark.clone(),
        reason: aside.reason.clone(),
    }
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
