//! What is still to be measured, what that will cost, and when the time is up.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::{BenchmarkName, Side};
use crate::plan::PlannedTarget;
use crate::system::Progress;

use super::launch_group::GroupOutcome;
use super::{Design, Next};

/// All targets with what is left of them.
pub struct Schedule {
    pub targets: Vec<Remaining>,
    /// When the time is up, by the clock of the measuring.
    pub deadline: Option<Duration>,
    benchmarks: usize,
}

/// A target with the benchmarks that are not decided yet.
pub struct Remaining {
    pub target: PlannedTarget,
    fewest_groups: u32,
    /// Launch groups that there were.
    groups: u32,
    /// Launch groups that the undecided benchmarks will probably need in all, where that is known.
    until: HashMap<String, u32>,
    /// What was spent on all launch groups, and the benchmarks measured in them.
    spent: Duration,
    measured: usize,
}

impl Schedule {
    pub fn new(work: &[PlannedTarget], design: Design, now: Duration) -> Self {
        let targets: Vec<Remaining> = work
            .iter()
            .map(|target| Remaining {
                target: target.clone(),
                fewest_groups: design.fewest_groups,
                groups: 0,
                until: HashMap::new(),
                spent: Duration::ZERO,
                measured: 0,
            })
            .collect();
        let benchmarks = targets.iter().map(|target| target.target.benchmarks.len()).sum();
        let deadline = design.time_limit.map(|limit| now.saturating_add(limit));
        Self { targets, deadline, benchmarks }
    }

    pub fn is_over(&self, now: Duration) -> bool {
        self.deadline.is_some_and(|deadline| now >= deadline)
    }

    pub fn is_done(&self) -> bool {
        self.targets.iter().all(|target| target.target.benchmarks.is_empty())
    }

    /// What is left, and the sides on which it would have been measured.
    pub fn undecided(&self) -> impl Iterator<Item = (BenchmarkName, &[Side])> {
        self.targets.iter().flat_map(|Remaining { target, .. }| {
            target.benchmarks.iter().map(|b| (target.name.benchmark(&b.id), &b.sides[..]))
        })
    }

    /// How far it has come, before a launch group of a target.
    pub fn progress(&self, index: usize, now: Duration) -> Progress {
        Progress { target: self.targets[index].target.name.to_string(), ..self.ended(now) }
    }

    /// How far it has come when there is nothing more to measure.
    pub fn ended(&self, now: Duration) -> Progress {
        let undecided: usize = self.targets.iter().map(|t| t.target.benchmarks.len()).sum();
        Progress {
            decided: self.benchmarks - undecided,
            benchmarks: self.benchmarks,
            groups: self.targets.iter().map(|target| target.groups).max().unwrap_or(0),
            left: self.time_left(now),
            target: String::new(),
        }
    }

    /// How long it will probably take. `None` before there is anything to judge by.
    fn time_left(&self, now: Duration) -> Option<Duration> {
        let spent: Duration = self.targets.iter().map(|target| target.spent).sum();
        let measured: usize = self.targets.iter().map(|target| target.measured).sum();
        let typical = spent.div_f64((measured > 0).then_some(measured as f64)?);
        let left: Duration = self.targets.iter().map(|target| target.time_left(typical)).sum();
        Some(match self.deadline {
            Some(deadline) => left.min(deadline.saturating_sub(now)),
            None => left,
        })
    }
}

impl Remaining {
    /// Takes decided and failed benchmarks off the list after a launch group that took so long.
    pub fn take_in(&mut self, outcome: &GroupOutcome, took: Duration) {
        self.groups += 1;
        self.spent += took;
        self.measured += outcome.next.len();
        for failed in &outcome.failures {
            self.target.benchmarks.retain_mut(|planned| {
                Some(&planned.id) != failed.benchmark.as_ref() || planned.give_up(failed.side)
            });
        }
        for (id, next) in &outcome.next {
            match next {
                Next::Enough => self.target.benchmarks.retain(|planned| planned.id != *id),
                Next::GoOn { until } => _ = self.until.insert(id.clone(), *until),
            }
        }
    }

    /// `typical` is what one benchmark takes in a launch group where nothing is known of this target.
    fn time_left(&self, typical: Duration) -> Duration {
        let each = match self.measured {
            0 => typical,
            measured => self.spent.div_f64(measured as f64),
        };
        let groups = self.target.benchmarks.iter().map(|planned| {
            let until = self.until.get(&planned.id).copied().unwrap_or(self.fewest_groups);
            until.saturating_sub(self.groups).max(1)
        });
        each.saturating_mul(groups.sum())
    }
}
