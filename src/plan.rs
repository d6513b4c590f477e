//! What is to be measured: the benchmarks of all sides, matched by package, target and id.
//!
//! In: what each side has, and which executables are the same code. Out: benchmarks to measure, benchmarks
//! whose code is identical, and those that only some sides have. Pure: starts no process.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use regex::Regex;

use crate::config::Rules;
use crate::harness::{Failure, Harness};
use crate::side::{PerSide, Side};
use crate::source::Place;
use crate::stats::Percent;

/// The full name of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BenchmarkName {
    /// The cargo package.
    pub package: String,
    /// The cargo target.
    pub target: String,
    /// The id within the target's executable.
    pub benchmark: String,
}

/// A bench target of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetName {
    /// The cargo package.
    pub package: String,
    /// The cargo target.
    pub target: String,
}

impl TargetName {
    /// The name of a benchmark in this target.
    pub fn benchmark(&self, id: &str) -> BenchmarkName {
        BenchmarkName {
            package: self.package.clone(),
            target: self.target.clone(),
            benchmark: id.to_owned(),
        }
    }
}

/// `package::target`
impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.package, self.target)
    }
}

/// What one side's executable of a target has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inventory {
    /// These benchmarks, in the order in which they run.
    Benchmarks(Vec<String>),
    /// Benchmarks of a harness that cannot be measured.
    NotUnderstood(Harness),
    /// It could not say.
    Failed(Failure),
}

/// One side's inventory, and whose code its executable is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// What its benchmarks are made with, if that is known.
    pub harness: Option<Harness>,
    /// What it has.
    pub inventory: Inventory,
    /// The first side that has the same code, if that is an earlier one.
    pub same_code: Option<Side>,
}

/// What each side has, by target. A side without a target has no entry for it.
pub type Inventories = PerSide<BTreeMap<TargetName, Listed>>;

/// Which benchmarks the user wants, by regular expressions on their ids.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// At least one of these matches, if there are any.
    pub only: Vec<Regex>,
    /// None of these matches.
    pub skip: Vec<Regex>,
}

impl Filter {
    /// Whether a benchmark is wanted.
    pub fn accepts(&self, id: &str) -> bool {
        (self.only.is_empty() || self.only.iter().any(|regex| regex.is_match(id)))
            && !self.skip.iter().any(|regex| regex.is_match(id))
    }
}

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

impl Plan {
    /// Matches the sides' benchmarks.
    pub fn new(inventories: &Inventories, filter: &Filter) -> Self {
        let mut plan = Self::default();
        let names: BTreeSet<&TargetName> =
            inventories.values().flat_map(|targets| targets.keys()).collect();
        for name in names {
            plan.add_target(name, inventories, filter);
        }
        plan
    }

    /// Whether there is no benchmark at all on any side.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
            && self.identical.is_empty()
            && self.added.is_empty()
            && self.removed.is_empty()
            && self.failed.is_empty()
            && self.set_aside.is_empty()
    }

    /// Does what the configuration says about some of the benchmarks.
    pub fn apply(&mut self, rules: &Rules) {
        let mut set_aside: BTreeSet<SetAside> = self.set_aside.drain(..).collect();
        let mut keep = |name: &BenchmarkName| {
            let Some(reason) = rules.reason_to_set_aside(name) else { return true };
            let BenchmarkName { package, target, benchmark } = name.clone();
            set_aside.insert(SetAside {
                target: TargetName { package, target },
                benchmark: Some(benchmark),
                reason: reason.to_owned(),
            });
            false
        };
        for target in &mut self.targets {
            let name = &target.name;
            target.benchmarks.retain(|planned| keep(&name.benchmark(&planned.id)));
        }
        self.targets.retain(|target| !target.benchmarks.is_empty());
        for list in [&mut self.identical, &mut self.added, &mut self.removed] {
            list.retain(|on_side| keep(&on_side.name));
        }
        self.same_code.retain(|same| keep(&same.name));
        self.references.retain(|name, _| keep(name));
        self.failed.retain(|failed| {
            failed.benchmark.as_ref().is_none_or(|id| keep(&failed.target.benchmark(id)))
        });
        self.set_aside = set_aside.into_iter().collect();
        for target in &self.targets {
            for name in target.benchmarks.iter().map(|planned| target.name.benchmark(&planned.id)) {
                if !rules.may_keep_step(&name) {
                    self.not_in_step.insert(name.clone());
                }
                if let Some(margin) = rules.margin(&name) {
                    self.margins.insert(name, margin);
                }
            }
        }
    }

    fn add_target(&mut self, name: &TargetName, inventories: &Inventories, filter: &Filter) {
        let listed = inventories.map(|_, targets| targets.get(name));
        // `None` where what a side has is unknown: then nothing can be called added or removed there.
        let benchmarks: PerSide<Option<Vec<&String>>> =
            listed.map(|_, listed| match listed.map(|listed| &listed.inventory) {
                None => Some(Vec::new()),
                Some(Inventory::Benchmarks(ids)) => {
                    Some(ids.iter().filter(|id| filter.accepts(id)).collect())
                }
                Some(_) => None,
            });
        self.tell_what_is_unknown(name, &listed);
        let Some(reference) = &benchmarks[Side::REFERENCE] else { return };
        let known = || benchmarks.others().filter_map(|(side, ids)| Some((side, ids.as_ref()?)));
        let incomparable = self.compare_harnesses(name, &listed);
        for (side, ids) in known() {
            self.tell_what_was_moved(name, side, (reference, ids));
        }
        let has = |side: Side, id: &String| {
            !incomparable.contains(&side)
                && benchmarks[side].as_ref().is_some_and(|ids| ids.contains(&id))
        };
        let sides_with = |id: &String| -> Vec<Side> {
            benchmarks.sides().filter(|side| has(*side, id)).collect()
        };
        let mut planned = Vec::new();
        for id in reference {
            let missing = known().filter(|(side, _)| !has(*side, id));
            self.removed.extend(missing.map(|(side, _)| OnSide { side, name: name.benchmark(id) }));
            planned.extend(self.plan_benchmark(name, id, &sides_with(id), &listed));
        }
        for (side, ids) in known() {
            for id in ids {
                let comparable = !incomparable.contains(&side);
                if comparable && (reference.contains(id) || sides_with(id)[0] != side) {
                    continue;
                }
                self.added.push(OnSide { side, name: name.benchmark(id) });
                if comparable {
                    planned.extend(self.plan_benchmark(name, id, &sides_with(id), &listed));
                }
            }
        }
        if !planned.is_empty() {
            self.targets.push(PlannedTarget { name: name.clone(), benchmarks: planned });
        }
    }

    /// Plans a benchmark that these sides have: the first of them is what the others are compared with. Gives it if
    /// there is something to measure.
    fn plan_benchmark(
        &mut self,
        target: &TargetName,
        id: &str,
        on: &[Side],
        listed: &PerSide<Option<&Listed>>,
    ) -> Option<PlannedBenchmark> {
        let name = target.benchmark(id);
        let (first, others) = on.split_first()?;
        if *first != Side::REFERENCE && !others.is_empty() {
            self.references.insert(name.clone(), *first);
        }
        let mut sides = vec![*first];
        for side in others.iter().copied() {
            match listed[side].and_then(|listed| listed.same_code) {
                Some(Side::REFERENCE) => self.identical.push(OnSide { side, name: name.clone() }),
                Some(measured_as) => {
                    self.same_code.push(SameCode { side, measured_as, name: name.clone() });
                }
                None => sides.push(side),
            }
        }
        (sides.len() > 1).then(|| PlannedBenchmark { id: id.to_owned(), sides })
    }

    /// Says where benchmarks have got another path, and nothing else of them is left to compare.
    fn tell_what_was_moved(
        &mut self,
        name: &TargetName,
        side: Side,
        (before, after): (&[&String], &[&String]),
    ) {
        let last = |id: &String| id.rsplit("::").next().map(str::to_owned);
        let moved = before.iter().filter(|id| after.iter().any(|other| last(id) == last(other)));
        let (moved, stayed) = (moved.count(), before.iter().any(|id| after.contains(id)));
        if moved > 0 && !stayed {
            self.notes.push(format!(
                "`{name}`: no benchmark has the same id at base and {side}, but {moved} have the same last part; \
                 they may have been moved to another module"
            ));
        }
    }

    /// Says where a target's harness is another than that of the first side that has it. Gives the sides that measure
    /// something else with it, whose benchmarks are others even if they have the same ids.
    fn compare_harnesses(
        &mut self,
        name: &TargetName,
        listed: &PerSide<Option<&Listed>>,
    ) -> Vec<Side> {
        let harness = |side: Side| {
            let understood =
                |listed: &&Listed| matches!(listed.inventory, Inventory::Benchmarks(_));
            listed[side].filter(understood).and_then(|listed| listed.harness)
        };
        let first = listed.sides().find_map(|side| Some((side, harness(side)?)));
        let Some((first, before)) = first else { return Vec::new() };
        let mut incomparable = Vec::new();
        for side in listed.sides().filter(|side| *side > first) {
            let Some(after) = harness(side).filter(|after| !after.is_same_as(before)) else {
                continue;
            };
            let what = format!("`{name}` uses {before} at {first} and {after} at {side}");
            self.notes.push(if after.counts() == before.counts() {
                format!(
                    "{what}: benchmarks with the same ids are compared, but two harnesses do not measure quite \
                     the same; do not believe small differences"
                )
            } else {
                incomparable.push(side);
                format!("{what}: one counts and the other times, so nothing of it is compared")
            });
        }
        incomparable
    }

    /// Failures and notes about the sides whose benchmarks of a target are unknown.
    fn tell_what_is_unknown(&mut self, name: &TargetName, listed: &PerSide<Option<&Listed>>) {
        let mut not_understood: Vec<(Harness, Vec<Side>)> = Vec::new();
        for (side, listed) in listed.iter() {
            match listed.map(|listed| &listed.inventory) {
                None | Some(Inventory::Benchmarks(_)) => {}
                Some(Inventory::NotUnderstood(harness)) => {
                    match not_understood.iter_mut().find(|(other, _)| other == harness) {
                        Some((_, sides)) => sides.push(side),
                        None => not_understood.push((*harness, vec![side])),
                    }
                }
                Some(Inventory::Failed(failure)) => self.failed.push(Failed {
                    side,
                    target: name.clone(),
                    benchmark: failure.benchmark.clone(),
                    reason: failure.reason.clone(),
                }),
            }
        }
        let everywhere = listed.values().flatten().count();
        for (harness, sides) in not_understood {
            let sides = if sides.len() == everywhere {
                String::new()
            } else {
                let names: Vec<String> = sides.iter().map(ToString::to_string).collect();
                format!("{}: ", names.join(", "))
            };
            let why = harness.why_left_out(&name.target);
            self.notes.push(format!("{sides}`{name}` is left out: it {why}"));
        }
    }
}

#[cfg(test)]
mod tests;
