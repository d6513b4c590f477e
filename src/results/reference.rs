//! The same results with another revision as the reference, without measuring again. Pure.
//!
//! The reference is always the first revision: so everything that counts revisions by their position is
//! renumbered. Whatever is a fact about two revisions is turned into one about the new reference and each of the
//! others:
//!
//! - Revisions with the same code have the values of the first of them; if the new reference is among them, of
//!   the new reference. So identical code stays identical code, and what was measured once stands for each.
//! - What was added and removed follows from what each revision has, as far as that is known.
//! - The values of a launch group stay as they are. In step, each is the first reference's time multiplied by
//!   the median ratio of neighbouring samples; the ratio of two others is that of two such medians.
//!
//! What the new reference has not got is compared with the first revision that has it, as in any results. What only
//! incomparable harnesses have was not measured; that is said.

use std::collections::BTreeMap;

use crate::model::{BenchmarkName, Side};
use crate::stats::StoppedBy;

use super::schema::{LaunchValues, Measured, Missing, Results, SameCode};

/// Whether each revision has a benchmark, by position; `None` where that is not known.
type Presence = Vec<Option<bool>>;

impl Results {
    /// Compares everything with the revision at this position instead of the first. Comparisons are derived
    /// anew.
    #[must_use]
    pub fn against(&self, reference: usize) -> Self {
        let count = self.revisions.len();
        let order: Vec<usize> =
            std::iter::once(reference).chain((0..count).filter(|p| *p != reference)).collect();
        let mut renumbered = vec![0; count];
        for (new, old) in order.iter().enumerate() {
            renumbered[*old] = new;
        }
        let mut results = self.clone();
        results.revisions = order.iter().map(|old| self.revisions[*old].clone()).collect();
        let presence = self.presence();
        for measured in &mut results.measured {
            *measured = measured.renumbered(&renumbered, first_with(measured, &order, &presence));
        }
        let names: Vec<String> = Side::first(count).map(|side| side.to_string()).collect();
        for failure in &mut results.failed {
            if let Some(old) = names.iter().position(|name| *name == failure.side) {
                failure.side.clone_from(&names[renumbered[old]]);
            }
        }
        self.tell_apart(&mut results, presence, &renumbered);
        results.derive_comparisons();
        results
    }

    /// What is added and removed, seen from another reference.
    fn tell_apart(
        &self,
        results: &mut Self,
        presence: BTreeMap<BenchmarkName, Presence>,
        renumbered: &[usize],
    ) {
        let reference = renumbered.iter().position(|new| *new == 0).unwrap_or(0);
        results.added.clear();
        results.removed.clear();
        let mut not_measured = Vec::new();
        for (name, presence) in presence {
            let measured = results.measured.iter().find(|measured| measured.name() == name);
            let its_reference = measured.map(|measured| measured.reference);
            for (position, revision) in self.revisions.iter().enumerate() {
                let missing = || Missing {
                    package: name.package.clone(),
                    target: name.target.clone(),
                    benchmark: name.benchmark.clone(),
                    revision: revision.label.clone(),
                };
                match (presence[reference], presence[position]) {
                    (Some(true), Some(false)) => results.removed.push(missing()),
                    // The others that have it are compared with the first.
                    (Some(false), Some(true))
                        if its_reference.is_none_or(|first| first == renumbered[position]) =>
                    {
                        results.added.push(missing());
                    }
                    (Some(true), Some(true))
                        if position != reference && its_reference.is_none() =>
                    {
                        not_measured.push(format!("`{}`", name.benchmark));
                    }
                    _ => {}
                }
            }
        }
        not_measured.dedup();
        if !not_measured.is_empty() {
            let note = format!(
                "not measured, because {} has not got it: {}",
                self.revisions[0].label,
                not_measured.join(", ")
            );
            if !results.notes.contains(&note) {
                results.notes.push(note);
            }
        }
    }

    /// Which revision has which benchmark, as far as the file tells.
    fn presence(&self) -> BTreeMap<BenchmarkName, Presence> {
        let count = self.revisions.len();
        let mut all: BTreeMap<BenchmarkName, Presence> = BTreeMap::new();
        for measured in &self.measured {
            let presence = all.entry(measured.name()).or_insert_with(|| vec![None; count]);
            for (position, present) in presence.iter_mut().enumerate() {
                let stands_for_it = measured.measured_as(position);
                let has_value = |launch: &LaunchValues| launch.values[stands_for_it].is_some();
                let shares_code =
                    (0..count).any(|p| p != position && measured.measured_as(p) == stands_for_it);
                let had_its_turn = measured.stopped_by.get(position).is_some_and(Option::is_some);
                if shares_code || had_its_turn || measured.launches.iter().any(has_value) {
                    *present = Some(true);
                }
            }
            if measured.reference > 0 {
                presence[0] = Some(false);
                presence[measured.reference] = Some(true);
            }
        }
        for (list, reference_has_it) in [(&self.removed, true), (&self.added, false)] {
            for missing in list {
                let presence = all.entry(name_of(missing)).or_insert_with(|| vec![None; count]);
                presence[0] = Some(reference_has_it);
                let others = self.revisions.iter().enumerate().skip(1);
                let found = others.into_iter().find(|(_, r)| r.label == missing.revision);
                if let Some((position, _)) = found {
                    presence[position] = Some(!reference_has_it);
                }
            }
        }
        // Of what the reference has not got, every revision that has it is named; unless it could not say.
        for (name, presence) in &mut all {
            if presence[0] != Some(false) {
                continue;
            }
            for (position, side) in Side::first(count).enumerate() {
                let could_not_say = self.failed.iter().any(|failure| {
                    failure.side == side.to_string()
                        && (&failure.package, &failure.target) == (&name.package, &name.target)
                });
                if presence[position].is_none() && !could_not_say {
                    presence[position] = Some(false);
                }
            }
        }
        all
    }
}

/// The position, in a new order of the revisions, of the first that has a benchmark.
fn first_with(
    measured: &Measured,
    order: &[usize],
    presence: &BTreeMap<BenchmarkName, Presence>,
) -> usize {
    let owner = measured.counted_beside.as_ref().unwrap_or(&measured.benchmark).clone();
    let Some(has_it) = presence.get(&BenchmarkName { benchmark: owner, ..measured.name() }) else {
        return 0;
    };
    let first = order.iter().position(|old| has_it[*old] == Some(true));
    // What is not known of the new reference is no reason to compare with another.
    first.filter(|_| has_it[order[0]] == Some(false)).unwrap_or(0)
}

impl Measured {
    /// With the revisions in another order, in which the one at `reference` is what the others are compared with.
    fn renumbered(&self, renumbered: &[usize], reference: usize) -> Self {
        let count = renumbered.len();
        // Whoever comes first among those with the same code stands for all of them.
        let mut stands_for: BTreeMap<usize, usize> = BTreeMap::new();
        for (old, new) in renumbered.iter().enumerate() {
            let first = stands_for.entry(self.measured_as(old)).or_insert(*new);
            *first = (*first).min(*new);
        }
        let mut measured =
            Self { reference, identical: Vec::new(), same_code: Vec::new(), ..self.clone() };
        for (old, new) in renumbered.iter().enumerate() {
            match stands_for[&self.measured_as(old)] {
                measured_as if measured_as == *new => {}
                0 => measured.identical.push(*new),
                measured_as => {
                    measured.same_code.push(SameCode { revision: *new, measured_as });
                }
            }
        }
        measured.stopped_by = self.stopped_by_renumbered(renumbered, reference);
        measured.identical.sort_unstable();
        measured.same_code.sort_unstable_by_key(|same| same.revision);
        for launch in &mut measured.launches {
            let mut values = vec![None; count];
            for (old, new) in &stands_for {
                values[*new] = launch.values[*old];
            }
            launch.values = values;
            if !launch.layouts.is_empty() {
                let mut layouts = vec![None; count];
                for (old, new) in &stands_for {
                    layouts[*new] = launch.layouts.get(*old).copied().flatten();
                }
                launch.layouts = layouts;
            }
            for position in &mut launch.order {
                if let Some(new) = stands_for.get(position) {
                    *position = *new;
                }
            }
        }
        measured
    }

    /// What was decided was about the old reference; how long it was measured is a fact about the new one too.
    fn stopped_by_renumbered(
        &self,
        renumbered: &[usize],
        reference: usize,
    ) -> Vec<Option<StoppedBy>> {
        let same_reference = renumbered[self.reference] == reference;
        let is_about_measuring = |why: &StoppedBy| {
            matches!(why, StoppedBy::TimeLimit | StoppedBy::Runs | StoppedBy::Budget)
        };
        let of_another = self.stopped_by.iter().flatten().copied().find(is_about_measuring);
        if self.stopped_by.is_empty() {
            return Vec::new();
        }
        let mut stopped_by = vec![None; renumbered.len()];
        for (old, new) in renumbered.iter().enumerate().filter(|(_, new)| **new != reference) {
            let why = self.stopped_by.get(old).copied().flatten();
            let why = why.filter(|why| same_reference || is_about_measuring(why));
            stopped_by[*new] = if old == self.reference { of_another } else { why };
        }
        stopped_by
    }
}

fn name_of(missing: &Missing) -> BenchmarkName {
    BenchmarkName {
        package: missing.package.clone(),
        target: missing.target.clone(),
        benchmark: missing.benchmark.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::results::Comparison;
    use crate::stats::Verdict;

    /// A benchmark in four revisions: its id, whose values each revision has (by position; its own if it was
    /// measured, nobody's if it has not got the benchmark), and the time of each that was measured. The layouts
    /// have the numbers of the revisions.
    type Made<'a> = (&'a str, [Option<usize>; 4], [f64; 4]);

    /// Results of four revisions a, b, c, d.
    fn results(measured: &[Made]) -> Results {
        let revision =
            |label: &&str| json!({"label": label, "commit": "c", "dirty": false, "rustc": "r"});
        let revisions: Vec<_> = ["a", "b", "c", "d"].iter().map(revision).collect();
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        let measured: Vec<_> = measured
            .iter()
            .map(|(id, code, times)| {
                let is_measured = |p: usize| code[p] == Some(p);
                let launches: Vec<_> = (0..12u32)
                    .map(|group| {
                        let off = 1.0 + f64::from(group) * 1e-4;
                        let value = |p: usize| {
                            let noise =
                                if (group as usize + p).is_multiple_of(2) { 1e-5 } else { 0.0 };
                            is_measured(p).then(|| times[p] * (off + noise))
                        };
                        let values: Vec<_> = (0..4).map(value).collect();
                        let order: Vec<_> = (0..4).filter(|p| is_measured(*p)).collect();
                        let layouts: Vec<_> = (0..4).map(|p| is_measured(p).then_some(p)).collect();
                        json!({"group": group + 1, "order": order, "values": values,
                            "layouts": layouts})
                    })
                    .collect();
                let (mut identical, mut same_code) = (Vec::new(), Vec::new());
                let reference = code.iter().position(Option::is_some).unwrap();
                let missing = |p: usize| {
                    let label = ["a", "b", "c", "d"][p];
                    json!({"package": "p", "target": "t", "benchmark": id, "revision": label})
                };
                if reference > 0 {
                    added.push(missing(reference));
                }
                for (p, code) in code.iter().enumerate() {
                    match code {
                        Some(0) if p > 0 => identical.push(p),
                        Some(other) if *other != p => {
                            same_code.push(json!({"revision": p, "measured_as": other}));
                        }
                        None if reference == 0 => removed.push(missing(p)),
                        _ => {}
                    }
                }
                json!({"package": "p", "target": "t", "benchmark": id, "unit": "ns",
                    "reference": reference, "identical": identical, "same_code": same_code, "launches": launches})
            })
            .collect();
        let file = json!({
            "schema_version": 1, "generator": "", "command": "", "complete": true, "seed": 0, "runs": 12,
            "margin_percent": 2.0, "revisions": revisions, "environment": {"system": ""},
            "comparisons": [], "added": added, "removed": removed, "failed": [], "notes": [],
            "measured": measured,
        });
        Results::from_json(&file.to_string()).unwrap()
    }

    /// `b: improved`, for every comparison.
    fn verdicts(results: &Results) -> Vec<String> {
        let word = |verdict| match verdict {
            Verdict::Improved => "improved",
            Verdict::Regressed => "regressed",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
            Verdict::IdenticalCode => "identical",
        };
        let comparisons = results.comparisons.iter();
        comparisons.map(|c| format!("{}: {}", c.head.label, word(c.verdict))).collect()
    }

    const EACH: [Option<usize>; 4] = [Some(0), Some(1), Some(2), Some(3)];

    #[test]
    fn every_other_revision_is_compared_with_the_new_reference() {
        let results = results(&[("x", EACH, [100.0, 50.0, 200.0, 50.0])]);
        assert_eq!(verdicts(&results), ["b: improved", "c: regressed", "d: improved"]);
        let against_b = results.against(1);
        assert_eq!(verdicts(&against_b), ["a: regressed", "c: regressed", "d: equivalent"]);
        assert_eq!(against_b.revisions[0].label, "b");
        assert_eq!(against_b.comparisons[0].base.label, "b");
        let launch = &against_b.measured[0].launches[0];
        assert_eq!(launch.layouts, [1, 0, 2, 3].map(Some), "they belong to the values");
    }

    #[test]
    fn what_is_identical_to_the_old_reference_has_its_values() {
        let code = [Some(0), Some(0), Some(2), Some(0)];
        let results = results(&[("x", code, [100.0, 0.0, 200.0, 0.0])]);
        assert_eq!(verdicts(&results), ["b: identical", "c: regressed", "d: identical"]);
        // The new reference is one of them: they stay identical.
        let against_b = results.against(1);
        assert_eq!(verdicts(&against_b), ["a: identical", "c: regressed", "d: identical"]);
        assert_eq!(
            against_b.comparisons[1].base.nanoseconds,
            results.comparisons[1].base.nanoseconds
        );
        // The new reference is none of them: each is compared with it by the values measured once.
        let against_c = results.against(2);
        assert_eq!(verdicts(&against_c), ["a: improved", "b: improved", "d: improved"]);
        assert_eq!(against_c.comparisons[0].log_ratios, against_c.comparisons[1].log_ratios);
        assert!(Results::from_json(&against_c.to_json()).is_ok());
    }

    #[test]
    fn variants_with_the_same_code_are_identical_to_each_other() {
        let code = [Some(0), Some(1), Some(2), Some(1)];
        let results = results(&[("x", code, [100.0, 50.0, 200.0, 0.0])]);
        assert_eq!(verdicts(&results), ["b: improved", "c: regressed", "d: improved"]);
        assert_eq!(results.comparisons[0].log_ratios, results.comparisons[2].log_ratios);
        let against_d = results.against(3);
        assert_eq!(verdicts(&against_d), ["a: regressed", "b: identical", "c: regressed"]);
    }

    #[test]
    fn added_and_removed_are_seen_from_the_new_reference() {
        let code = [Some(0), Some(1), None, Some(3)];
        let mut results = results(&[("old", code, [1.0; 4])]);
        let missing = |benchmark: &str, revision: &str| Missing {
            package: "p".to_owned(),
            target: "t".to_owned(),
            benchmark: benchmark.to_owned(),
            revision: revision.to_owned(),
        };
        results.added = vec![missing("new", "c"), missing("new", "d")];
        let against_c = results.against(2);
        // The others that have it are compared with the first.
        assert_eq!(against_c.added, [missing("old", "a")]);
        assert_eq!(against_c.removed, ["a", "b"].map(|revision| missing("new", revision)));
        assert_eq!(against_c.notes, ["not measured, because a has not got it: `new`"]);
        let against_b = results.against(1);
        assert_eq!(against_b.added, ["c", "d"].map(|revision| missing("new", revision)));
        assert_eq!(against_b.removed, [missing("old", "c")]);
    }

    #[test]
    fn what_the_reference_has_not_got_is_compared_with_the_first_that_has_it() {
        let code = [None, Some(1), Some(2), Some(3)];
        let first_lacks_it = results(&[("new", code, [0.0, 100.0, 50.0, 200.0])]);
        let compared = |results: &Results| -> Vec<String> {
            let words = verdicts(results).into_iter().zip(&results.comparisons);
            words.map(|(words, c)| format!("{words} against {}", c.base.label)).collect()
        };
        assert_eq!(compared(&first_lacks_it), ["c: improved against b", "d: regressed against b"]);
        let against_c = first_lacks_it.against(2);
        assert_eq!(compared(&against_c), ["b: regressed against c", "d: regressed against c"]);
        assert!(against_c.added.is_empty() && against_c.notes.is_empty(), "{against_c:?}");
        assert_eq!(against_c.removed[0].revision, "a");
        // Another revision that has not got it: none of those that have it is the reference.
        let code = [Some(0), None, Some(2), Some(3)];
        let against_b = results(&[("x", code, [100.0, 0.0, 50.0, 200.0])]).against(1);
        assert_eq!(compared(&against_b), ["c: improved against a", "d: regressed against a"]);
        let added: Vec<&str> = against_b.added.iter().map(|added| &*added.revision).collect();
        assert_eq!(added, ["a"]);
    }

    #[test]
    fn a_failure_stays_with_its_revision() {
        let mut results = results(&[("x", EACH, [1.0; 4])]);
        results.failed.push(crate::results::Failure {
            side: "variant 2".to_owned(),
            revision: "c".to_owned(),
            package: "p".to_owned(),
            target: "t".to_owned(),
            benchmark: Some("x".to_owned()),
            error: String::new(),
        });
        results.derive_comparisons();
        assert_eq!(verdicts(&results), ["b: equivalent", "d: equivalent"]);
        let against_c = results.against(2);
        assert_eq!(against_c.failed[0].side, "base");
        assert!(against_c.comparisons.is_empty());
    }

    fn any_code() -> impl Strategy<Value = [Option<usize>; 4]> {
        // Whose values each has: an earlier one that was measured, or itself; or nobody's.
        (any::<bool>(), 0..3usize, 0..4usize, 0..5usize).prop_map(|(a, b, c, d)| {
            let mut code = [a.then_some(0), None, None, None];
            for (p, choice) in [(1, b), (2, c), (3, d)] {
                code[p] = if choice <= p { Some(choice) } else { None };
                if let Some(other) = code[p].filter(|other| *other < p) {
                    code[p] = code[other];
                }
            }
            if code == [None; 4] { [Some(0); 4] } else { code }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn with_the_first_as_the_reference_again_everything_is_as_it_was(
            code in any_code(), reference in 0..4usize, times in proptest::array::uniform4(1.0..2.0f64),
        ) {
            let before = results(&[("x", code, times)]);
            let there = before.against(reference);
            let back = there.revisions.iter().position(|revision| revision.label == "a").unwrap();
            let mut after = there.against(back);
            // Beyond that, the others are in another order now; which of them is the first may matter.
            if reference <= 1 {
                prop_assert_eq!(&after.measured, &before.measured);
            }
            prop_assume!(reference <= 1 || code[0].is_some());
            after.comparisons.sort_by(|a, b| a.head.label.cmp(&b.head.label));
            prop_assert_eq!(after.comparisons, before.comparisons);
            after.removed.sort_by(|a, b| a.revision.cmp(&b.revision));
            prop_assert_eq!(after.removed, before.removed);
            prop_assert_eq!(after.added, before.added);
            prop_assert_eq!(after.notes, before.notes);
        }

        #[test]
        fn two_revisions_differ_by_the_inverse_of_each_other(
            code in any_code(), reference in 1..4usize, times in proptest::array::uniform4(1.0..2.0f64),
        ) {
            let before = results(&[("x", code, times)]);
            let there = before.against(reference);
            let label = &before.revisions[reference].label;
            let of_both = |c: &&Comparison| c.base.label == "a" && c.head.label == *label;
            let forth = before.comparisons.iter().find(of_both);
            let back = there.comparisons.iter().find(|c| c.head.label == "a");
            prop_assert_eq!(forth.is_some(), back.is_some());
            if let (Some(forth), Some(back)) = (forth, back) {
                prop_assert_eq!(forth.p_value, back.p_value);
                prop_assert_eq!(forth.base.nanoseconds, back.head.nanoseconds);
            }
        }
    }
}
