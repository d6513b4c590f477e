//! Which process runs when: the schedule of launch groups.
//!
//! In: a plan, and an [`Executor`] that starts processes. Out: for every benchmark and launch group the
//! samples of all sides, handed to a [`Recorder`] as they come. Knows no harness, starts no process itself
//! and reads no clock, so that schedules are tested with scripted executors.
//!
//! A *launch group* is one process per side of one target, all alive together and stepped benchmark by
//! benchmark, each side in turn and in random order, so that whatever disturbs the machine for longer than
//! a benchmark disturbs all sides. (With two sides it is called a launch pair.) Group k of every target
//! comes before group k + 1 of any, so that a benchmark's groups are spread over the whole run.

use crate::error::Result;
use crate::harness::{Failure, Measurement, Sample, Session, Step};
use crate::observer::{Observer, Progress};
use crate::plan::{Failed, Plan, PlannedBenchmark, PlannedTarget};
use crate::side::Side;
use crate::stats;

/// Starts bench processes.
pub trait Executor {
    /// Starts the executable of a target on a side, to run the benchmarks named. The inner error is the
    /// executable's own failure; the outer one an interrupt.
    fn start(
        &mut self,
        target: &PlannedTarget,
        side: Side,
        benchmarks: &[String],
    ) -> Result<std::result::Result<Box<dyn Session>, Failure>>;
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

/// The most launch groups that a run may have. Statistics are exact, and their cost grows with the third
/// power of it.
pub const MOST_LAUNCHES: u32 = 1000;

/// Whether a number can be a time per iteration, or another quantity that is compared as a ratio.
pub fn is_quantity(value: f64) -> bool {
    // Far from the ends of what there is, so that ratios are numbers too.
    (1e-100..1e100).contains(&value)
}

/// The time per iteration of one launch: the lower quartile over its samples, because disturbances only
/// ever make a sample longer. `None` unless that [is a quantity](is_quantity).
pub fn time_per_iteration(samples: &[Sample]) -> Option<f64> {
    let each: Vec<f64> = samples.iter().map(|sample| sample.total / sample.iterations).collect();
    stats::quantile(&each, 0.25).filter(|time| is_quantity(*time))
}

/// Measures everything that is planned. An error means that the run was interrupted or that results could
/// not be written; benchmarks that fail are recorded.
pub fn measure(
    plan: &Plan,
    design: Design,
    executor: &mut dyn Executor,
    recorder: &mut dyn Recorder,
    observer: &dyn Observer,
) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(design.seed);
    let mut remaining: Vec<PlannedTarget> = plan.targets.clone();
    let total = remaining.len() * design.groups as usize;
    let mut done = 0;
    for number in 0..design.groups {
        for target in &mut remaining {
            observer.progress(&Progress { done, total, target: target.name.to_string() });
            let random = &mut random;
            let failures = Vec::new();
            let group = LaunchGroup { target, number, random, executor, recorder, failures };
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

/// The sides whose values say nothing about the reference's, and why. In the order of the sides, so that
/// the answer does not depend on the order of measurement.
fn not_comparable(sides: &[(Side, Measurement)]) -> Vec<(Side, String)> {
    let mut sides: Vec<&(Side, Measurement)> = sides.iter().collect();
    sides.sort_by_key(|(side, _)| *side);
    let Some((_, reference)) = sides.first() else { return Vec::new() };
    let reason = |measurement: &Measurement| {
        if time_per_iteration(&measurement.samples).is_none() {
            return Some("it reported a time that is zero or no number".to_owned());
        }
        let (unit, expected) = (&measurement.unit, &reference.unit);
        (unit != expected).then(|| {
            format!("it measures {unit} here and {expected} at base; they cannot be compared")
        })
    };
    sides.iter().filter_map(|(side, m)| Some((*side, reason(m)?))).collect()
}

struct LaunchGroup<'a> {
    target: &'a PlannedTarget,
    number: u32,
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
}

impl LaunchGroup<'_> {
    /// Runs the group. After a failure, what is left of it is started anew, without what failed. Gives the
    /// failures.
    fn run(mut self) -> Result<Vec<Failed>> {
        let mut left = self.target.benchmarks.clone();
        while !left.is_empty() {
            let before = left.len();
            let attempt = self.attempt(&mut left)?;
            let progress = left.len() < before;
            match attempt {
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
        Ok(self.failures)
    }

    /// Starts one process per side for the benchmarks that are left, and steps them to their ends. Takes
    /// what was measured on all its sides off the list.
    fn attempt(&mut self, left: &mut Vec<PlannedBenchmark>) -> Result<Attempt> {
        let mut sessions: Vec<(Side, Box<dyn Session>)> = Vec::new();
        for side in self.sides_of(left) {
            let wanted: Vec<String> = left
                .iter()
                .filter(|planned| planned.sides.contains(&side))
                .map(|planned| planned.id.clone())
                .collect();
            match self.executor.start(self.target, side, &wanted)? {
                Ok(session) => sessions.push((side, session)),
                Err(failure) => return Ok(Attempt::Broken(side, failure)),
            }
        }
        let mut measured: Vec<(Side, Measurement)> = Vec::new();
        while !sessions.is_empty() {
            self.random.shuffle(&mut sessions);
            let mut ended = Vec::new();
            for (side, session) in &mut sessions {
                match session.step()? {
                    Step::Finished => ended.push(*side),
                    Step::Failed(failure) => return Ok(Attempt::Broken(*side, failure)),
                    Step::Measured(measurement) => {
                        let id = measurement.benchmark.clone();
                        measured.push((*side, measurement));
                        self.record_if_complete(&id, &mut measured, left)?;
                    }
                }
            }
            sessions.retain(|(side, _)| !ended.contains(side));
        }
        Ok(Attempt::Complete(measured))
    }

    /// Hands a benchmark to the recorder once the last of its sides is there. Benchmarks that nobody asked
    /// for are dropped.
    fn record_if_complete(
        &mut self,
        id: &str,
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
        for (side, reason) in not_comparable(&sides) {
            self.failures.push(self.failure(side, id, reason));
            sides.retain(|(other, _)| *other != side);
            comparable = planned.give_up(side);
        }
        if !comparable {
            return Ok(());
        }
        self.recorder.measured(&Group {
            target: self.target,
            benchmark: id,
            number: self.number,
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

#[cfg(test)]
mod tests;
