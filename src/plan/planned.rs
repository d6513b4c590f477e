//! What is known before the first measurement.

use std::collections::{HashMap, HashSet};

use crate::model::{BenchmarkName, Percent, Place, Side, TargetName};

/// A benchmark to be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedBenchmark {
    /// Its id.
    pub id: String,
    /// The sides on which it is measured: first the one that the others are compared with, and at least one other.
    pub sides: Vec<Side>,
}

impl PlannedBenchmark {
    /// Measures it no more on a side. Gives whether there is still something to compare.
    pub fn give_up(&mut self, side: Side) -> bool {
        if self.sides.first() == Some(&side) {
            self.sides.clear();
        }
        self.sides.retain(|other| *other != side);
        self.sides.len() > 1
    }
}

/// A target with something to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTarget {
    /// Its name.
    pub name: TargetName,
    /// What is measured of it, in the reference's order; then what that has not got.
    pub benchmarks: Vec<PlannedBenchmark>,
}

/// A benchmark on one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnSide {
    /// The side.
    pub side: Side,
    /// The benchmark.
    pub name: BenchmarkName,
}

/// A benchmark on one side whose code is that of a side which is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SameCode {
    /// The side that is not measured.
    pub side: Side,
    /// The side whose values it has: an earlier one, not the reference.
    pub measured_as: Side,
    /// The benchmark.
    pub name: BenchmarkName,
}

/// A target or benchmark that could not be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// The side on which it failed.
    pub side: Side,
    /// The target.
    pub target: TargetName,
    /// The benchmark, unless all of the target failed.
    pub benchmark: Option<String>,
    /// What happened.
    pub reason: String,
}

/// A target or benchmark that is not measured because the user does not want it to be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetAside {
    /// The target.
    pub target: TargetName,
    /// The benchmark, unless it is the whole target.
    pub benchmark: Option<String>,
    /// The user's reason.
    pub reason: String,
}

/// Everything that is known before the first measurement.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// What is measured.
    pub targets: Vec<PlannedTarget>,
    /// Benchmarks that are the same code as the reference's, on the side named.
    pub identical: Vec<OnSide>,
    /// Benchmarks that are the same code as another side's than the reference.
    pub same_code: Vec<SameCode>,
    /// Benchmarks that the reference has not got, on the first side that has them.
    pub added: Vec<OnSide>,
    /// Benchmarks that the reference has not got and several others have: the first of them, with which the rest
    /// is compared.
    pub references: HashMap<BenchmarkName, Side>,
    /// Benchmarks that only the reference has; `side` is where they are missing.
    pub removed: Vec<OnSide>,
    /// Targets whose benchmarks could not be listed.
    pub failed: Vec<Failed>,
    /// What the configuration sets aside.
    pub set_aside: Vec<SetAside>,
    /// The margins of the benchmarks that have one of their own.
    pub margins: HashMap<BenchmarkName, Percent>,
    /// Benchmarks that the configuration does not want to be measured in step.
    pub not_in_step: HashSet<BenchmarkName>,
    /// Where benchmarks are written, as far as that is known.
    pub places: HashMap<BenchmarkName, Place>,
    /// Bench targets that were left out, in words.
    pub notes: Vec<String>,
}
