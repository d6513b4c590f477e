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

mod effort;
mod estimate;
mod in_step;
mod launch_group;

use std::collections::BTreeMap;

pub use estimate::{MOST_LAUNCHES, is_quantity, launch_values};

use crate::build::LayoutSeed;
use crate::error::Result;
use crate::harness::{Effort, Failure, Measurement, Session};
use crate::lockstep::{Attachment, Preload, Unfit};
use crate::observer::{Observer, Progress};
use crate::plan::{Failed, Plan, PlannedTarget};
use crate::side::Side;

use launch_group::{Knowledge, LaunchGroup};

/// Starts bench processes.
pub trait Executor {
    /// Makes ready what a launch group of a target needs, while nothing is measured: executables with a code
    /// layout of their own, which [`start`](Self::start) then takes. Gives the layouts, by side.
    fn prepare(&mut self, target: &PlannedTarget, number: u32) -> Result<Layouts> {
        let _ = (target, number);
        Ok(Layouts::default())
    }

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

/// By side, the seed of the code layout of its executable; none of a side that is launched as it was built.
pub type Layouts = BTreeMap<Side, LayoutSeed>;

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
    /// The code layouts of the sides that have another one than their builds.
    pub layouts: Layouts,
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
    let mut known = Knowledge::new(plan);
    let mut done = 0;
    for number in 0..design.groups {
        for target in &mut remaining {
            observer.progress(&Progress { done, total, target: target.name.to_string() });
            let layouts = executor.prepare(target, number)?;
            let random = &mut random;
            let failures = Vec::new();
            let known = &mut known;
            let group = LaunchGroup {
                target,
                number,
                layouts,
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

#[cfg(test)]
mod tests;
