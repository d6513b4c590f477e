//! What is known before the first measurement.

use crate::model::{BenchmarkName, PerSide, Percent, Place, Side, TargetName};

/// Everything that is known before the first measurement.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// The targets that have a benchmark on any side.
    pub targets: Vec<Target>,
    /// Targets whose benchmarks could not be listed.
    pub failed: Vec<Failed>,
    /// What the configuration skips.
    pub skipped: Vec<Skipped>,
    /// Bench targets that were left out, in words.
    pub notes: Vec<String>,
}

/// A target with its benchmarks.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Its name.
    pub name: TargetName,
    /// The benchmarks of all sides: in the reference's order, then what the reference lacks.
    pub benchmarks: Vec<Benchmark>,
}

/// A benchmark, what each side has of it, and what the configuration says about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// Its id.
    pub id: String,
    /// What each side has of it.
    pub sides: PerSide<Standing>,
    /// Its own margin, if it has one.
    pub margin: Option<Percent>,
    /// Whether it may be measured in lockstep.
    pub lockstep: bool,
    /// Where it is written, if that is known.
    pub place: Option<Place>,
}

/// What a side has of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The side lacks it.
    Absent,
    /// Nobody knows: the side's target could not be listed.
    Unknown,
    /// The side has one of that name that measures something else: it counts where the others take times.
    Incomparable,
    /// The side has it, and its code is that of no earlier side.
    OwnCode,
    /// The side has it, and its code is that of this earlier side, which has code of its own.
    SameCode(Side),
}

impl Standing {
    fn is_comparable(self) -> bool {
        matches!(self, Self::OwnCode | Self::SameCode(_))
    }
}

impl Plan {
    /// All benchmarks with their names.
    pub fn benchmarks(&self) -> impl Iterator<Item = (BenchmarkName, &Benchmark)> {
        self.targets
            .iter()
            .flat_map(|target| target.benchmarks.iter().map(|b| (target.name.benchmark(&b.id), b)))
    }

    /// What is to be measured: the benchmarks of which two sides or more have code of their own.
    pub fn work(&self) -> Vec<PlannedTarget> {
        let planned = |target: &Target| PlannedTarget {
            name: target.name.clone(),
            benchmarks: target.benchmarks.iter().filter_map(Benchmark::work).collect(),
        };
        let targets = self.targets.iter().map(planned);
        targets.filter(|target| !target.benchmarks.is_empty()).collect()
    }
}

impl Benchmark {
    /// The side that the others are compared with: the first that has it.
    pub fn reference(&self) -> Option<Side> {
        self.sides.iter().find(|(_, standing)| standing.is_comparable()).map(|(side, _)| side)
    }

    /// The sides that the benchmark is new on: the first that has it although the reference lacks it, and those
    /// where it measures something else.
    pub fn added_on(&self) -> impl Iterator<Item = Side> {
        let first = self.reference().filter(|side| *side != Side::REFERENCE);
        self.sides
            .iter()
            .filter(move |(side, standing)| {
                Some(*side) == first || **standing == Standing::Incomparable
            })
            .map(|(side, _)| side)
    }

    /// The sides that lack it although the reference has it.
    pub fn removed_on(&self) -> impl Iterator<Item = Side> {
        let reference_has_it = self.sides[Side::REFERENCE].is_comparable();
        let is_gone = |standing| matches!(standing, Standing::Absent | Standing::Incomparable);
        self.sides
            .iter()
            .filter(move |(_, standing)| reference_has_it && is_gone(**standing))
            .map(|(side, _)| side)
    }

    /// Each side that has the code of an earlier one, with that one.
    pub fn same_code(&self) -> impl Iterator<Item = (Side, Side)> {
        self.sides.iter().filter_map(|(side, standing)| match standing {
            Standing::SameCode(earlier) => Some((side, *earlier)),
            _ => None,
        })
    }

    /// What is to be measured of it, if anything.
    pub fn work(&self) -> Option<PlannedBenchmark> {
        let own = self.sides.iter().filter(|(_, standing)| **standing == Standing::OwnCode);
        let sides: Vec<Side> = own.map(|(side, _)| side).collect();
        let lockstep = self.lockstep;
        (sides.len() > 1).then(|| PlannedBenchmark { id: self.id.clone(), sides, lockstep })
    }
}

/// A target with something to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTarget {
    /// Its name.
    pub name: TargetName,
    /// What is measured of it, in the reference's order; then what the reference lacks.
    pub benchmarks: Vec<PlannedBenchmark>,
}

/// A benchmark to be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedBenchmark {
    /// Its id.
    pub id: String,
    /// The sides on which it is measured: first the one that the others are compared with, and at least one other.
    pub sides: Vec<Side>,
    /// Whether it may be measured in lockstep.
    pub lockstep: bool,
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
pub struct Skipped {
    /// The target.
    pub target: TargetName,
    /// The benchmark, unless it is the whole target.
    pub benchmark: Option<String>,
    /// The user's reason.
    pub reason: String,
}
