//! One launch group: processes of all sides of a target, stepped benchmark by benchmark to their ends, and started
//! anew for what is left after a failure.
//!
//! In: a target with what is to be measured of it. Out: samples to the recorder, and failures. Decides nothing
//! about further groups.

use std::collections::HashMap;

use crate::error::Result;
use crate::harness::{Effort, Failure, Measurement, Session, Step};
use crate::lockstep::{Baton, Preload, Unfit};
use crate::plan::{BenchmarkName, Failed, Plan, PlannedBenchmark, PlannedTarget};
use crate::side::Side;

use super::effort::Pace;
use super::estimate::not_comparable;
use super::{Executor, Group, Layouts, Method, Recorder, in_step};

/// What earlier launch groups have shown of the benchmarks.
#[derive(Debug, Default)]
pub struct Knowledge {
    /// Those that cannot be measured in step, and why.
    pub unfit: HashMap<BenchmarkName, Unfit>,
    /// How long an iteration takes, of those that have run.
    pace: HashMap<BenchmarkName, Pace>,
}

impl Knowledge {
    /// What is known before the first launch group.
    pub fn new(plan: &Plan) -> Self {
        let not_in_step = plan.not_in_step.iter().cloned();
        let unfit = not_in_step.map(|name| (name, Unfit::Configured)).collect();
        Self { unfit, ..Self::default() }
    }
}

/// One launch group of one target.
pub struct LaunchGroup<'a> {
    pub target: &'a PlannedTarget,
    pub number: u32,
    pub layouts: Layouts,
    pub preload: Option<&'a Preload>,
    pub known: &'a mut Knowledge,
    pub random: &'a mut fastrand::Rng,
    pub executor: &'a mut dyn Executor,
    pub recorder: &'a mut dyn Recorder,
    pub failures: Vec<Failed>,
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
    pub fn run(mut self) -> Result<Vec<Failed>> {
        let can_keep_step = self.preload.is_some() && self.executor.can_keep_step(self.target);
        for pace in [Pace::Quick, Pace::Slow, Pace::Unknown] {
            let is_of_pace = |planned: &&PlannedBenchmark| {
                let name = self.target.name.benchmark(&planned.id);
                self.known.pace.get(&name).copied().unwrap_or_default() == pace
            };
            let benchmarks: Vec<PlannedBenchmark> =
                self.target.benchmarks.iter().filter(is_of_pace).cloned().collect();
            let effort = pace.effort();
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
        let pace = Pace::of(sides.iter().map(|(_, measurement)| measurement));
        self.known.pace.insert(name.clone(), pace);
        self.recorder.measured(&Group {
            target: self.target,
            benchmark: id,
            number: self.number,
            method,
            unfit: self.known.unfit.get(&name).copied(),
            layouts: self.layouts.clone(),
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
