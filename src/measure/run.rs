//! The traits that tests stand in for, and the loop over all launch groups.

use super::Clock;
use crate::model::MOST_LAUNCHES;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::harness::{Effort, ProcessResult, Session};
use crate::lockstep::{Attachment, Preload, Unfit};
use crate::model::{BenchmarkName, LayoutSeed, Measurement, Side};
use crate::plan::{Failed, PlannedTarget};
use crate::system::{Observer, Result};

use super::launch_group::{GroupOutcome, Knowledge, LaunchGroup};
use super::schedule::Schedule;

/// Starts bench processes.
pub trait Executor {
    /// Makes ready what a launch group of a target needs, while nothing is measured: executables with a code
    /// layout of their own, which [`start`](Self::start) then takes. Gives the layouts, by side.
    fn prepare(&mut self, target: &PlannedTarget, number: u32) -> Result<LayoutSeeds> {
        let _ = (target, number);
        Ok(LayoutSeeds::default())
    }

    /// What is worth knowing about what was made ready, in words, since this was last asked.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Why the processes of a target cannot be kept in step, unless they can.
    fn unfit(&self, target: &PlannedTarget) -> Option<Unfit>;

    /// Starts the executable of a target on a side, to run the benchmarks named. The inner error is the
    /// executable's own failure; the outer one an interrupt.
    fn start(
        &mut self,
        target: &PlannedTarget,
        side: Side,
        benchmarks: &[String],
        effort: Effort,
        attachment: Option<&Attachment>,
    ) -> Result<ProcessResult<Box<dyn Session>>>;
}

/// By side, the seed of the code layout of its executable; none of a side that is launched as it was built.
pub type LayoutSeeds = BTreeMap<Side, LayoutSeed>;

/// How the processes of a launch group share the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// In step: they take turns of about a millisecond.
    Lockstep,
    /// One side's benchmark runs after the other's.
    Process,
    /// It does not matter when: what is counted is the same every time.
    Count,
}

/// What comes next for a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It takes more; as it looks now, so many launch groups in all.
    GoOn {
        /// That number, if not less than one more.
        until: u32,
    },
    /// It is measured enough.
    Enough,
}

/// Takes what is measured, and says when it is enough.
pub trait Recorder {
    /// All sides of a benchmark were measured in a launch group.
    fn measured(&mut self, group: &Group) -> Result<Next>;

    /// A benchmark cannot be measured; it will not be tried again.
    fn failed(&mut self, failed: Failed) -> Result<()>;

    /// The time is up for a benchmark that was to be measured further on these sides.
    fn ran_out_of_time(&mut self, benchmark: &BenchmarkName, sides: &[Side]) -> Result<()>;

    /// Something worth knowing about the whole run, in words.
    fn note(&mut self, note: String) -> Result<()>;

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
    pub layouts: LayoutSeeds,
    /// The sides in the order in which they were measured, each with its samples.
    pub sides: Vec<(Side, Measurement)>,
}

/// How measuring is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Design {
    /// The launch groups that a benchmark will have at least, unless the time is up.
    pub fewest_groups: u32,
    /// How long all of it may take.
    pub time_limit: Option<Duration>,
    /// The seed of everything random.
    pub seed: u64,
}

/// What the measuring took, as far as it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// All launch groups together.
    pub total: Duration,
    /// Benchmarks that were measured in them, each as often as it was measured.
    pub measured: u32,
    /// The part of the total that was not spent on benchmarks: preparing, starting and ending processes.
    pub launching: Duration,
    /// How many processes were started for complete launch groups.
    pub launches: u32,
}

impl Spent {
    fn take_in(&mut self, known: &Knowledge, took: Duration, measured: usize) {
        self.total += took;
        self.measured += measured as u32;
        (self.launching, self.launches) = known.launches();
    }

    /// What launching one process costs; `None` if there was none.
    pub fn of_a_launch(&self) -> Option<Duration> {
        (self.launches > 0).then(|| self.launching / self.launches)
    }

    /// What one benchmark costs in one launch group, with its share of the launching.
    pub fn of_a_benchmark(&self) -> Option<Duration> {
        (self.measured > 0).then(|| self.total / self.measured)
    }
}

/// What measuring needs beside programs and somebody who writes down.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    /// What keeps processes in step where that is possible.
    pub preload: Option<&'a Preload>,
    /// What tells the time.
    pub clock: &'a dyn Clock,
    /// Whoever watches.
    pub observer: &'a dyn Observer,
}

/// Measures all the work until the recorder has enough of it or the time is up. An error means that
/// the run was interrupted or that results could not be written; benchmarks that fail are recorded.
pub fn measure(
    work: &[PlannedTarget],
    design: Design,
    tools: Tools,
    executor: &mut dyn Executor,
    recorder: &mut dyn Recorder,
    spent: &mut Spent,
) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(design.seed);
    let mut schedule = Schedule::new(work, design, tools.clock.now());
    let mut known = Knowledge::new(work);
    for number in 0..MOST_LAUNCHES {
        for index in 0..schedule.targets.len() {
            if schedule.targets[index].target.benchmarks.is_empty() {
                continue;
            }
            let began = tools.clock.now();
            if schedule.is_over(began) {
                break;
            }
            tools.observer.progress(&schedule.progress(index, began));
            let layouts = executor.prepare(&schedule.targets[index].target, number)?;
            for note in executor.take_notes() {
                tools.observer.warn(&note);
                recorder.note(note)?;
            }
            let name = &schedule.targets[index].target.name;
            known.launched(name, tools.clock.now() - began, 0);
            let group = LaunchGroup {
                target: &schedule.targets[index].target,
                number,
                layouts,
                tools,
                deadline: schedule.deadline,
                known: &mut known,
                random: &mut random,
                executor,
                recorder,
                outcome: GroupOutcome::default(),
            };
            let outcome = group.run()?;
            let took = tools.clock.now() - began;
            schedule.targets[index].take_in(&outcome, took);
            spent.take_in(&known, took, outcome.next.len());
            for failed in outcome.failures {
                recorder.failed(failed)?;
            }
            recorder.group_done()?;
        }
        if schedule.is_done() || schedule.is_over(tools.clock.now()) {
            break;
        }
    }
    for (benchmark, sides) in schedule.undecided() {
        recorder.ran_out_of_time(&benchmark, sides)?;
    }
    tools.observer.progress(&schedule.ended(tools.clock.now()));
    Ok(())
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
