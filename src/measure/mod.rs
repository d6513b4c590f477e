//! Which process runs when: the schedule of launch groups.
//!
//! In: a plan, and an [`Executor`] that starts processes. Out: for every benchmark and launch group the
//! samples of all sides, handed to a [`Recorder`] as they come. Knows no harness, starts no process itself
//! and reads no clock, so that schedules are tested with scripted executors.
//!
//! A *launch group* is one process per side of one target, all alive together and stepped benchmark by
//! benchmark. (With two sides it is called a launch pair.) Where it is possible the sides run each benchmark
//! in step, taking turns of less than a millisecond (`in_step`); else one side's benchmark runs after the
//! other's, in random order. Group k of every target comes before group k + 1 of any, so that a benchmark's
//! groups are spread over the whole run.

mod estimate;
mod in_step;

use std::collections::{HashMap, HashSet};

pub use estimate::{MOST_LAUNCHES, is_quantity, launch_values};
use estimate::{is_quick, not_comparable};

use crate::error::Result;
use crate::harness::{Effort, Failure, Measurement, Session, Step};
use crate::lockstep::{Attachment, Baton, Preload, Unfit};
use crate::observer::{Observer, Progress};
use crate::plan::{BenchmarkName, Failed, Plan, PlannedBenchmark, PlannedTarget};
use crate::side::Side;

/// Starts bench processes.
pub trait Executor {
    /// Whether the processes of a target can be kept in step.
    fn can_keep_step(&self, target: &PlannedTarget) -> bool;

    /// Starts the executable of a target on a side, to run the benchmarks named. The inner error is the
    /// executable's own failure; the outer one an interrupt.
    fn start(
        &mut self,
        target: &PlannedTarget,
        side: Side,
        benchmarks: &[String],
        effort: Effort,
        attachment: Option<&Attachment>,
    ) -> Result<std::result::Result<Box<dyn Session>, Failure>>;
}

/// How the processes of a launch group share the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// In step: they take turns of about a millisecond.
    Lockstep,
    /// One side's benchmark runs after the other's.
    Process,
}

/// Takes what is measured.
pub trait Recorder {
    /// All sides of a benchmark were measured in a launch group.
    fn measured(&mut self, group: &Group) -> Result<()>;

    /// A benchmark cannot be measured; it will not be tried again.
    fn failed(&mut self, failed: Failed) -> Result<()>;

    /// A launch group is over: a good time to write things down.
    fn group_done(&mut self) -> Result<()>;
}

/// One benchmark in one launch group.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<'a> {
    /// The target.
    pub target: &'a PlannedTarget,
    /// The benchmark's id.
    pub benchmark: &'a str,
    /// The number of the launch group, from 0.
    pub number: u32,
    /// How it was measured.
    pub method: Method,
    /// Why it was not measured in step, if that was tried.
    pub unfit: Option<Unfit>,
    /// The sides in the order in which they were measured, each with its samples.
    pub sides: Vec<(Side, Measurement)>,
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Design {
    /// Launch groups per target.
    pub groups: u32,
    /// The seed of everything random.
    pub seed: u64,
}

/// Measures everything that is planned; with a preload library, in step where that is possible. An error means
/// that the run was interrupted or that results could not be written; benchmarks that fail are recorded.
pub fn measure(
    plan: &Plan,
    design: Design,
    preload: Option<&Preload>,
    executor: &mut dyn Executor,
    recorder: &mut dyn Recorder,
    observer: &dyn Observer,
) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(design.seed);
    let mut remaining: Vec<PlannedTarget> = plan.targets.clone();
    let total = remaining.len() * design.groups as usize;
    let mut known = Knowledge::default();
    let mut done = 0;
    for number in 0..design.groups {
        for target in &mut remaining {
            observer.progress(&Progress { done, total, target: target.name.to_string() });
            let random = &mut random;
            let failures = Vec::new();
            let known = &mut known;
            let group = LaunchGroup {
                target,
                number,
                preload,
                known,
                random,
                executor,
                recorder,
                failures,
            };
            for failed in group.run()? {
                target.benchmarks.retain_mut(|planned| {
                    Some(&planned.id) != failed.benchmark.as_ref() || planned.give_up(failed.side)
                });
                recorder.failed(failed)?;
            }
            recorder.group_done()?;
            done += 1;
        }
    }
    observer.progress(&Progress { done, total, target: String::new() });
    Ok(())
}

/// What earlier launch groups have shown of the benchmarks.
#[derive(Debug, Default)]
struct Knowledge {
    /// Those that cannot be measured in step, and why.
    unfit: HashMap<BenchmarkName, Unfit>,
    /// Those of which many samples take no longer than few.
    quick: HashSet<BenchmarkName>,
}

struct LaunchGroup<'a> {
    target: &'a PlannedTarget,
    number: u32,
    preload: Option<&'a Preload>,
    known: &'a mut Knowledge,
    random: &'a mut fastrand::Rng,
    executor: &'a mut dyn Executor,
    recorder: &'a mut dyn Recorder,
    failures: Vec<Failed>,
}

/// How one attempt to run a launch group ended.
enum Attempt {
    /// All processes ran to their ends. What was measured on some of its sides only is left over.
    Complete(Vec<(Side, Measurement)>),
    /// One process failed, and the others were ended: a pair must be measured together.
    Broken(Side, Failure),
    /// These benchmarks turned out not to be fit for being measured in step.
    Unfit(Vec<String>, Unfit),
}

impl LaunchGroup<'_> {
    /// Runs the group. After a failure, what is left of it is started anew, without what failed. Gives the
    /// failures.
    fn run(mut self) -> Result<Vec<Failed>> {
        let can_keep_step = self.preload.is_some() && self.executor.can_keep_step(self.target);
        let (quick, slow): (Vec<_>, Vec<_>) =
            self.target.benchmarks.iter().cloned().partition(|planned| {
                self.known.quick.contains(&self.target.name.benchmark(&planned.id))
            });
        for (effort, benchmarks) in [(Effort::Many, quick), (Effort::Few, slow)] {
            let (mut in_step, mut alone): (Vec<_>, Vec<_>) =
                benchmarks.into_iter().partition(|planned| {
                    let name = self.target.name.benchmark(&planned.id);
                    can_keep_step && !self.known.unfit.contains_key(&name)
                });
            self.run_by(Method::Lockstep, effort, &mut in_step, &mut alone)?;
            self.run_by(Method::Process, effort, &mut alone, &mut Vec::new())?;
        }
        Ok(self.failures)
    }

    /// Measures what is left by one method. What that does not suit goes to the others.
    fn run_by(
        &mut self,
        method: Method,
        effort: Effort,
        left: &mut Vec<PlannedBenchmark>,
        others: &mut Vec<PlannedBenchmark>,
    ) -> Result<()> {
        while !left.is_empty() {
            let before = left.len();
            let attempt = self.attempt(method, effort, left)?;
            let progress = left.len() < before;
            match attempt {
                Attempt::Unfit(ids, unfit) => {
                    // It may have been one that nobody asked for; then it is in everybody's way.
                    let asked_for = left.iter().any(|planned| ids.contains(&planned.id));
                    let in_the_way = !asked_for && !progress;
                    let is_unfit =
                        |planned: &mut PlannedBenchmark| in_the_way || ids.contains(&planned.id);
                    for planned in left.extract_if(.., is_unfit) {
                        self.known.unfit.insert(self.target.name.benchmark(&planned.id), unfit);
                        others.push(planned);
                    }
                }
                Attempt::Complete(measured) => {
                    left.retain_mut(|planned| {
                        let failed = self.did_not_run(planned, &measured);
                        let side = failed.side;
                        self.failures.push(failed);
                        planned.give_up(side)
                    });
                }
                Attempt::Broken(side, Failure { benchmark: Some(id), reason })
                    if left.iter().any(|planned| planned.id == id) =>
                {
                    left.retain_mut(|planned| planned.id != id || planned.give_up(side));
                    self.failures.push(self.failure(side, &id, reason));
                }
                // Between two benchmarks, or in one that nobody asked for. It may have been an accident,
                // but not twice.
                Attempt::Broken(_, _) if progress => {}
                Attempt::Broken(side, Failure { reason, .. }) => {
                    left.retain_mut(|planned| {
                        if !planned.sides.contains(&side) {
                            return true;
                        }
                        let reason = format!("it was not reached: {reason}");
                        self.failures.push(self.failure(side, &planned.id, reason));
                        planned.give_up(side)
                    });
                }
            }
        }
        Ok(())
    }

    /// Starts one process per side for the benchmarks that are left, and steps them to their ends. Takes
    /// what was measured on all its sides off the list.
    fn attempt(
        &mut self,
        method: Method,
        effort: Effort,
        left: &mut Vec<PlannedBenchmark>,
    ) -> Result<Attempt> {
        let baton = match (method, self.preload) {
            (Method::Lockstep, Some(preload)) => Some(preload.baton(self.random)?),
            _ => None,
        };
        let mut sessions: Vec<(Side, Box<dyn Session>)> = Vec::new();
        for side in self.sides_of(left) {
            let wanted: Vec<String> = left
                .iter()
                .filter(|planned| planned.sides.contains(&side))
                .map(|planned| planned.id.clone())
                .collect();
            let attachment = baton.as_ref().map(|baton| baton.attachment(side));
            match self.executor.start(self.target, side, &wanted, effort, attachment.as_ref())? {
                Ok(session) => sessions.push((side, session)),
                Err(failure) => return Ok(Attempt::Broken(side, failure)),
            }
            // What it has done before its first benchmark, it has done to all of them.
            if let Some(unfit) = baton.as_ref().and_then(|baton| baton.unfit(side)) {
                return Ok(Attempt::Unfit(wanted, unfit));
            }
        }
        let mut measured: Vec<(Side, Measurement)> = Vec::new();
        while !sessions.is_empty() {
            self.random.shuffle(&mut sessions);
            let steps = match &baton {
                Some(baton) => in_step::step_together(&mut sessions, baton)?,
                None => step_in_turn(&mut sessions)?,
            };
            if let Some(unfit) = unfit_benchmarks(&steps, baton.as_ref()) {
                return Ok(unfit);
            }
            for (side, step) in steps {
                match step {
                    Step::Finished => sessions.retain(|(other, _)| *other != side),
                    Step::Failed(failure) => return Ok(Attempt::Broken(side, failure)),
                    Step::Measured(measurement) => {
                        let id = measurement.benchmark.clone();
                        measured.push((side, measurement));
                        self.record_if_complete(&id, method, &mut measured, left)?;
                    }
                }
            }
        }
        Ok(Attempt::Complete(measured))
    }

    /// Hands a benchmark to the recorder once the last of its sides is there. Benchmarks that nobody asked
    /// for are dropped.
    fn record_if_complete(
        &mut self,
        id: &str,
        method: Method,
        measured: &mut Vec<(Side, Measurement)>,
        left: &mut Vec<PlannedBenchmark>,
    ) -> Result<()> {
        let Some(position) = left.iter().position(|planned| planned.id == id) else {
            measured.retain(|(_, measurement)| measurement.benchmark != id);
            return Ok(());
        };
        let planned = &left[position];
        let here = |(side, measurement): &(Side, Measurement)| {
            measurement.benchmark == id && planned.sides.contains(side)
        };
        if measured.iter().filter(|m| here(m)).count() < planned.sides.len() {
            return Ok(());
        }
        let mut sides: Vec<(Side, Measurement)> = measured.extract_if(.., |m| here(m)).collect();
        let mut planned = left.remove(position);
        let mut comparable = true;
        for (side, reason) in not_comparable(&sides, method) {
            self.failures.push(self.failure(side, id, reason));
            sides.retain(|(other, _)| *other != side);
            comparable = planned.give_up(side);
        }
        if !comparable {
            return Ok(());
        }
        let name = self.target.name.benchmark(id);
        if sides.iter().all(|(_, measurement)| is_quick(measurement)) {
            self.known.quick.insert(name.clone());
        }
        self.recorder.measured(&Group {
            target: self.target,
            benchmark: id,
            number: self.number,
            method,
            unfit: self.known.unfit.get(&name).copied(),
            sides,
        })
    }

    fn sides_of(&mut self, left: &[PlannedBenchmark]) -> Vec<Side> {
        let mut sides: Vec<Side> =
            left.iter().flat_map(|planned| planned.sides.iter().copied()).collect();
        sides.sort_unstable();
        sides.dedup();
        self.random.shuffle(&mut sides);
        sides
    }

    fn did_not_run(&self, planned: &PlannedBenchmark, measured: &[(Side, Measurement)]) -> Failed {
        let ran_on = |side: &Side| {
            measured
                .iter()
                .any(|(on, measurement)| on == side && measurement.benchmark == planned.id)
        };
        let side = planned.sides.iter().copied().find(|side| !ran_on(side));
        let reason = format!(
            "it was listed, but did not run in launch {}: the benchmarks of this target differ from \
             launch to launch",
            self.number + 1
        );
        self.failure(side.unwrap_or(Side::REFERENCE), &planned.id, reason)
    }

    fn failure(&self, side: Side, id: &str, reason: String) -> Failed {
        Failed { side, target: self.target.name.clone(), benchmark: Some(id.to_owned()), reason }
    }
}

/// Lets one side after the other run its next benchmark. Stops at the first that fails.
fn step_in_turn(sessions: &mut [(Side, Box<dyn Session>)]) -> Result<Vec<(Side, Step)>> {
    let mut steps = Vec::new();
    for (side, session) in sessions {
        let step = session.step()?;
        let failed = matches!(step, Step::Failed(_));
        steps.push((*side, step));
        if failed {
            break;
        }
    }
    Ok(steps)
}

/// The benchmarks that were just measured, if one of them is not fit for being measured in step.
fn unfit_benchmarks(steps: &[(Side, Step)], baton: Option<&Baton>) -> Option<Attempt> {
    let measured = |(side, step): &(Side, Step)| match step {
        Step::Measured(measurement) => Some((*side, measurement.benchmark.clone())),
        _ => None,
    };
    let measured: Vec<(Side, String)> = steps.iter().filter_map(measured).collect();
    let unfit = measured.iter().find_map(|(side, _)| baton?.unfit(*side))?;
    Some(Attempt::Unfit(measured.into_iter().map(|(_, id)| id).collect(), unfit))
}

#[cfg(test)]
mod tests;
