//! What is to be measured: the benchmarks of all sides, matched by package, target and id.
//!
//! In: what each side has, and which executables are the same code. Out: benchmarks to measure, benchmarks
//! whose code is identical, and those that only some sides have. Pure: starts no process.

use super::{
    Failed, Filter, Inventories, Inventory, Listed, OnSide, Plan, PlannedBenchmark, PlannedTarget,
    SameCode, SetAside,
};
use crate::model::{BenchmarkName, TargetName};
use std::collections::BTreeSet;

use crate::harness::Harness;
use crate::model::{PerSide, Rules, Side};

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
#[path = "matching_tests.rs"]
mod tests;
