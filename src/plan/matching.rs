//! What is to be measured: the benchmarks of all sides, matched by package, target and id.
//!
//! In: what each side has, and which executables are the same code. Out: benchmarks to measure, benchmarks
//! whose code is identical, and those that only some sides have. Pure: starts no process.

use super::{
    Benchmark, Failed, Filter, Inventories, Inventory, Listed, Plan, Skipped, Standing, Target,
};
use crate::model::TargetName;
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
        self.targets.is_empty() && self.failed.is_empty() && self.skipped.is_empty()
    }

    /// Does what the configuration says about some of the benchmarks.
    pub fn apply(&mut self, rules: &Rules) {
        let mut skipped: BTreeSet<Skipped> = self.skipped.drain(..).collect();
        let mut keep = |target: &TargetName, id: &str| {
            let Some(reason) = rules.reason_to_set_aside(&target.benchmark(id)) else {
                return true;
            };
            skipped.insert(Skipped {
                target: target.clone(),
                benchmark: Some(id.to_owned()),
                reason: reason.to_owned(),
            });
            false
        };
        for target in &mut self.targets {
            target.benchmarks.retain(|benchmark| keep(&target.name, &benchmark.id));
            for benchmark in &mut target.benchmarks {
                let name = target.name.benchmark(&benchmark.id);
                benchmark.lockstep = rules.may_keep_step(&name);
                benchmark.margin = rules.margin(&name);
            }
        }
        self.targets.retain(|target| !target.benchmarks.is_empty());
        self.failed
            .retain(|failed| failed.benchmark.as_ref().is_none_or(|id| keep(&failed.target, id)));
        self.skipped = skipped.into_iter().collect();
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
        let standing = |side: Side, id: &String| match &benchmarks[side] {
            None => Standing::Unknown,
            Some(ids) if !ids.contains(&id) => Standing::Absent,
            Some(_) if incomparable.contains(&side) => Standing::Incomparable,
            Some(_) => listed[side]
                .and_then(|listed| listed.same_code)
                .map_or(Standing::OwnCode, Standing::SameCode),
        };
        let mut ids: Vec<&String> = reference.clone();
        for id in known().flat_map(|(_, ids)| ids) {
            if !ids.contains(id) {
                ids.push(id);
            }
        }
        if ids.is_empty() {
            return;
        }
        let benchmarks = ids.into_iter().map(|id| Benchmark {
            id: id.clone(),
            sides: benchmarks.sides().map(|side| standing(side, id)).collect(),
            margin: None,
            lockstep: true,
            place: None,
        });
        self.targets.push(Target { name: name.clone(), benchmarks: benchmarks.collect() });
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
