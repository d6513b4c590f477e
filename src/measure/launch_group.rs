//! One launch group: processes of all sides of a target, stepped benchmark by benchmark to their ends, and started
//! anew for what is left after a failure.
//!
//! In: a target with what is to be measured of it. Out: samples to the recorder, and failures. Decides nothing
//! about further groups.

use std::collections::HashMap;
use std::time::Duration;

use crate::harness::{Effort, Failure, Session, Step};
use crate::lockstep::{Baton, Unfit};
use crate::model::{BenchmarkName, Measurement, Side, TargetName};
use crate::plan::{Failed, PlannedBenchmark, PlannedTarget};
use crate::system::Result;

use super::effort::{Pace, Share};
use super::estimate::not_comparable;
use super::{Executor, Group, LayoutSeeds, Method, Next, Recorder, Tools, in_step};

/// What earlier launch groups have shown of the benchmarks.
#[derive(Debug, Default)]
pub struct Knowledge {
    /// Those that cannot be measured in step, and why.
    unfit: HashMap<BenchmarkName, Unfit>,
    /// How long an iteration takes, of those that have run.
    pace: HashMap<BenchmarkName, Pace>,
    /// What launches of a target have cost beside the measuring, and how many there were.
    launches: HashMap<TargetName, (Duration, u32)>,
    /// The share of their core that processes in step have had.
    share: Share,
}

impl Knowledge {
    /// What is known before the first launch group.
    pub fn new(work: &[PlannedTarget]) -> Self {
        let unfit = work.iter().flat_map(|target| {
            let unfit = target.benchmarks.iter().filter(|planned| !planned.lockstep);
            unfit.map(|planned| (target.name.benchmark(&planned.id), Unfit::Configured))
        });
        let unfit = unfit.collect();
        Self { unfit, ..Self::default() }
    }

    /// What a launch of one side costs. Nothing, as long as nobody knows.
    fn launch_cost(&self, target: &TargetName) -> Duration {
        let known = self.launches.get(target);
        known.map_or(Duration::ZERO, |(cost, launches)| *cost / (*launches).max(1))
    }

    /// What all launches have cost beside the measuring, and how many there were.
    pub fn launches(&self) -> (Duration, u32) {
        let all = self.launches.values();
        all.fold((Duration::ZERO, 0), |(cost, count), (its, number)| (cost + *its, count + number))
    }

    /// So much was spent on so many launches, or on what they need.
    pub fn launched(&mut self, target: &TargetName, cost: Duration, launches: u32) {
        let known = self.launches.entry(target.clone()).or_default();
        known.0 += cost;
        known.1 += launches;
    }
}

/// One launch group of one target.
pub struct LaunchGroup<'a> {
    pub target: &'a PlannedTarget,
    pub number: u32,
    pub layouts: LayoutSeeds,
    pub tools: Tools<'a>,
    /// When the time is up.
    pub deadline: Option<Duration>,
    pub known: &'a mut Knowledge,
    pub random: &'a mut fastrand::Rng,
    pub executor: &'a mut dyn Executor,
    pub recorder: &'a mut dyn Recorder,
    pub outcome: GroupOutcome,
}

/// What came of a launch group.
#[derive(Debug, Default)]
pub struct GroupOutcome {
    /// What failed for good.
    pub failures: Vec<Failed>,
    /// What comes next for the benchmarks that were measured.
    pub next: Vec<(String, Next)>,
}

/// The live processes of an attempt.
type Sessions = Vec<(Side, Box<dyn Session>)>;

/// How one attempt to run a launch group ended.
enum Attempt {
    /// All processes ran to their ends. What was measured on some of its sides only is left over.
    Complete(Vec<(Side, Measurement)>),
    /// One process failed, and the others were ended: a pair must be measured together.
    Broken(Side, Failure),
    /// These benchmarks turned out not to be fit for being measured in step.
    Unfit(Vec<String>, Unfit),
    /// What is left is to be started anew, for a harness knows better now how to measure it.
    Again,
    /// The time is up.
    OutOfTime,
}

impl LaunchGroup<'_> {
    /// Runs the group. After a failure, what is left of it is started anew, without what failed. When the time is
    /// up, what is left of it is left out.
    pub fn run(mut self) -> Result<GroupOutcome> {
        let unfit = self.tools.preload.and_then(|_| self.executor.unfit(self.target));
        // How a harness works is nothing to be said of each benchmark.
        if let Some(unfit) = unfit.filter(|unfit| *unfit != Unfit::Whole) {
            for planned in &self.target.benchmarks {
                let name = self.target.name.benchmark(&planned.id);
                self.known.unfit.entry(name).or_insert(unfit);
            }
        }
        let can_keep_step = self.tools.preload.is_some() && unfit.is_none();
        // All of them now: what is measured may show another pace.
        let pace_of = |planned: &PlannedBenchmark| {
            let name = self.target.name.benchmark(&planned.id);
            self.known.pace.get(&name).copied().unwrap_or_default()
        };
        let by_pace = [Pace::Quick, Pace::Slow, Pace::Unknown].map(|pace| {
            let benchmarks = self.target.benchmarks.iter();
            let of_it = benchmarks.filter(|planned| pace_of(planned) == pace).cloned();
            (pace, of_it.collect::<Vec<PlannedBenchmark>>())
        });
        for (pace, benchmarks) in by_pace {
            let launch_cost = self.known.launch_cost(&self.target.name);
            let effort = |share| pace.effort(launch_cost, benchmarks.len(), share);
            // What is not in step counts the time that others take as its own.
            let (reduced, full) = (effort(self.known.share), effort(Share::default()));
            let (mut in_step, mut alone): (Vec<_>, Vec<_>) =
                benchmarks.into_iter().partition(|planned| {
                    let name = self.target.name.benchmark(&planned.id);
                    can_keep_step && !self.known.unfit.contains_key(&name)
                });
            self.run_by(Method::Lockstep, reduced, &mut in_step, &mut alone)?;
            self.run_by(Method::Process, full, &mut alone, &mut Vec::new())?;
        }
        Ok(self.outcome)
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
                Attempt::Again => {}
                Attempt::OutOfTime => left.clear(),
                Attempt::Complete(measured) => {
                    left.retain_mut(|planned| {
                        let failed = self.did_not_run(planned, &measured);
                        let side = failed.side;
                        self.outcome.failures.push(failed);
                        planned.give_up(side)
                    });
                }
                Attempt::Broken(side, Failure { benchmark: Some(id), reason })
                    if left.iter().any(|planned| planned.id == id) =>
                {
                    left.retain_mut(|planned| planned.id != id || planned.give_up(side));
                    self.outcome.failures.push(self.failure(side, &id, reason));
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
                        self.outcome.failures.push(self.failure(side, &planned.id, reason));
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
        let began = self.tools.clock.now();
        if self.deadline.is_some_and(|deadline| began >= deadline) {
            return Ok(Attempt::OutOfTime);
        }
        let baton = match (method, self.tools.preload) {
            (Method::Lockstep, Some(preload)) => Some(preload.baton(self.random)?),
            _ => None,
        };
        let mut sessions = match self.start(effort, left, baton.as_ref())? {
            Ok(sessions) => sessions,
            Err(attempt) => return Ok(attempt),
        };
        let launches = sessions.len() as u32;
        let mut measuring = Duration::ZERO;
        let mut measured: Vec<(Side, Measurement)> = Vec::new();
        while !sessions.is_empty() {
            self.random.shuffle(&mut sessions);
            let before = self.tools.clock.now();
            let steps = match &baton {
                Some(baton) => in_step::step_together(&mut sessions, baton)?,
                None => step_in_turn(&mut sessions)?,
            };
            let now = self.tools.clock.now();
            if let Some(unfit) = unfit_benchmarks(&steps, baton.as_ref()) {
                return Ok(unfit);
            }
            if steps.iter().any(|(_, step)| matches!(step, Step::Measured(_))) {
                measuring += now - before;
            }
            for (side, step) in steps {
                match step {
                    Step::Again => return Ok(Attempt::Again),
                    Step::Finished => sessions.retain(|(other, _)| *other != side),
                    Step::Failed(failure) => return Ok(Attempt::Broken(side, failure)),
                    Step::Measured(measurement) => {
                        let id = measurement.benchmark.clone();
                        measured.push((side, measurement));
                        self.record_if_complete(&id, method, &mut measured, left)?;
                    }
                }
            }
            if self.deadline.is_some_and(|deadline| now >= deadline) {
                return Ok(Attempt::OutOfTime);
            }
        }
        let cost = (self.tools.clock.now() - began).saturating_sub(measuring);
        self.known.launched(&self.target.name, cost, launches);
        if let Some(baton) = &baton {
            self.known.share.take_in(baton.turns());
        }
        Ok(Attempt::Complete(measured))
    }

    /// Starts one process per side. The inner error is how the attempt ended already.
    fn start(
        &mut self,
        effort: Effort,
        left: &[PlannedBenchmark],
        baton: Option<&Baton>,
    ) -> Result<std::result::Result<Sessions, Attempt>> {
        let mut sessions = Sessions::new();
        for side in self.sides_of(left) {
            let wanted: Vec<String> = left
                .iter()
                .filter(|planned| planned.sides.contains(&side))
                .map(|planned| planned.id.clone())
                .collect();
            let attachment = baton.map(|baton| baton.attachment(side));
            match self.executor.start(self.target, side, &wanted, effort, attachment.as_ref())? {
                Ok(session) => sessions.push((side, session)),
                Err(failure) => return Ok(Err(Attempt::Broken(side, failure))),
            }
            // What it has done before its first benchmark, it has done to all of them.
            if let Some(unfit) = baton.and_then(|baton| baton.unfit(side)) {
                return Ok(Err(Attempt::Unfit(wanted, unfit)));
            }
        }
        Ok(Ok(sessions))
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
            self.outcome.failures.push(self.failure(side, id, reason));
            sides.retain(|(other, _)| *other != side);
            comparable = planned.give_up(side);
        }
        if !comparable {
            return Ok(());
        }
        let is_counted = sides.iter().all(|(_, measurement)| measurement.is_counted);
        let method = if is_counted { Method::Count } else { method };
        let name = self.target.name.benchmark(id);
        let pace = Pace::of(sides.iter().map(|(_, measurement)| measurement));
        self.known.pace.insert(name.clone(), pace);
        let next = self.recorder.measured(&Group {
            target: self.target,
            benchmark: id,
            number: self.number,
            method,
            unfit: self.known.unfit.get(&name).copied(),
            layouts: self.layouts.clone(),
            sides,
        })?;
        self.outcome.next.push((id.to_owned(), next));
        Ok(())
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
