//! Which benchmarks of which sides are matched, measured and left out.

use std::collections::{HashMap, HashSet};

use regex::Regex;

use super::*;
use crate::harness::Failure;
use crate::model::Percent;
use crate::model::{BenchmarkRule, Ids, Subject};

fn target(name: &str) -> TargetName {
    TargetName { package: "p".to_owned(), target: name.to_owned() }
}

fn has(ids: &[&str]) -> Listed {
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    Listed { harness: None, inventory: Inventory::Benchmarks(ids), same_code: None }
}

fn inventories(sides: Vec<Vec<(&str, Listed)>>) -> Inventories {
    let side = |targets: Vec<(&str, Listed)>| {
        targets.into_iter().map(|(name, listed)| (target(name), listed)).collect()
    };
    sides.into_iter().map(side).collect()
}

fn names(list: &[OnSide]) -> Vec<&str> {
    list.iter().map(|on_side| on_side.name.benchmark.as_str()).collect()
}

#[test]
fn benchmarks_are_matched_and_the_others_are_listed() {
    let both = inventories(vec![
        vec![("t", has(&["a", "b", "old"])), ("gone", has(&["x"]))],
        vec![("t", has(&["b", "new", "a"])), ("fresh", has(&["y"]))],
    ]);
    let plan = Plan::new(&both, &Filter::default());
    assert_eq!(plan.targets.len(), 1);
    let ids: Vec<_> = plan.targets[0].benchmarks.iter().map(|b| b.id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(names(&plan.added), ["y", "new"]);
    assert_eq!(names(&plan.removed), ["x", "old"]);
}

#[test]
fn identical_code_is_not_measured() {
    let same = Listed { same_code: Some(Side::REFERENCE), ..has(&["a", "b"]) };
    let plan = Plan::new(
        &inventories(vec![vec![("t", has(&["a", "b"]))], vec![("t", same)]]),
        &Filter::default(),
    );
    assert!(plan.targets.is_empty());
    assert_eq!(names(&plan.identical), ["a", "b"]);
}

#[test]
fn of_three_sides_only_those_are_measured_that_differ() {
    let same = Listed { same_code: Some(Side::REFERENCE), ..has(&["a"]) };
    let three = inventories(vec![
        vec![("t", has(&["a", "b"]))],
        vec![("t", same)],
        vec![("t", has(&["a"]))],
    ]);
    let plan = Plan::new(&three, &Filter::default());
    let sides: Vec<Side> = Side::first(3).collect();
    assert_eq!(
        plan.targets[0].benchmarks,
        [PlannedBenchmark { id: "a".to_owned(), sides: vec![sides[0], sides[2]] }]
    );
    assert_eq!(names(&plan.identical), ["a"]);
    assert_eq!(names(&plan.removed), ["b", "b"]);
}

#[test]
fn variants_that_are_the_same_code_are_measured_once() {
    let sides: Vec<Side> = Side::first(3).collect();
    let three = inventories(vec![
        vec![("t", has(&["a"]))],
        vec![("t", has(&["a", "new"]))],
        vec![("t", Listed { same_code: Some(sides[1]), ..has(&["a", "new"]) })],
    ]);
    let plan = Plan::new(&three, &Filter::default());
    assert_eq!(plan.targets[0].benchmarks[0].sides, sides[..2]);
    let same: Vec<_> =
        plan.same_code.iter().map(|s| (&*s.name.benchmark, s.side, s.measured_as)).collect();
    assert_eq!(same, [("a", sides[2], sides[1]), ("new", sides[2], sides[1])]);
    assert!(plan.identical.is_empty());
    assert_eq!(names(&plan.added), ["new"]);
    assert_eq!(plan.targets[0].benchmarks.len(), 1, "of the new one there is nothing to measure");
}

#[test]
fn what_the_first_side_has_not_got_is_compared_with_the_first_that_has_it() {
    let sides: Vec<Side> = Side::first(4).collect();
    let four = inventories(vec![
        vec![("t", has(&["a"]))],
        vec![("t", has(&["new", "a", "alone"]))],
        vec![("t", has(&["late", "new"])), ("u", has(&["x"]))],
        vec![("t", has(&["new", "late"])), ("u", has(&["x", "y"]))],
    ]);
    let mut plan = Plan::new(&four, &Filter::default());
    let planned: Vec<(&str, &[Side])> = plan
        .targets
        .iter()
        .flat_map(|target| target.benchmarks.iter().map(|b| (b.id.as_str(), &b.sides[..])))
        .collect();
    let expected = [("a", &sides[..2]), ("new", &sides[1..]), ("late", &sides[2..])];
    assert_eq!(planned, [&expected[..], &[("x", &sides[2..])]].concat());
    let added: Vec<(&str, Side)> =
        plan.added.iter().map(|added| (&*added.name.benchmark, added.side)).collect();
    let expected = [("new", 1), ("alone", 1), ("late", 2), ("x", 2), ("y", 3)];
    assert_eq!(added, expected.map(|(id, side)| (id, sides[side])));
    let reference = |name: &str, id| plan.references.get(&target(name).benchmark(id)).copied();
    assert_eq!(reference("t", "new"), Some(sides[1]));
    assert_eq!(reference("u", "x"), Some(sides[2]));
    assert_eq!((reference("t", "a"), reference("t", "alone")), (None, None));
    // Without the side that the others are compared with, there is nothing left to measure.
    let new = &mut plan.targets[0].benchmarks[1];
    assert!(new.clone().give_up(sides[3]));
    assert!(!new.give_up(sides[1]));
}

#[test]
fn a_target_that_cannot_be_listed_on_one_side_is_neither_added_nor_removed() {
    let failure = Failure { benchmark: None, reason: "it crashed".to_owned() };
    let broken = Listed { inventory: Inventory::Failed(failure), ..has(&[]) };
    let plan = Plan::new(
        &inventories(vec![vec![("t", has(&["a"]))], vec![("t", broken)]]),
        &Filter::default(),
    );
    assert_eq!(plan.failed.len(), 1);
    assert!(plan.targets.is_empty() && plan.removed.is_empty());
}

#[test]
fn a_side_that_cannot_be_listed_hides_nothing_of_the_others() {
    let failure = Failure { benchmark: None, reason: "it crashed".to_owned() };
    let broken = Listed { inventory: Inventory::Failed(failure), ..has(&[]) };
    let three =
        inventories(vec![vec![("t", has(&["a"]))], vec![("t", has(&["a"]))], vec![("t", broken)]]);
    let plan = Plan::new(&three, &Filter::default());
    let sides: Vec<Side> = Side::first(3).collect();
    assert_eq!(plan.targets[0].benchmarks[0].sides, sides[..2]);
    assert_eq!(plan.failed[0].side, sides[2]);
    assert!(plan.removed.is_empty());
}

#[test]
fn a_harness_that_is_not_understood_is_noted_once_and_its_side_where_sides_differ() {
    let unknown = || Listed { inventory: Inventory::NotUnderstood(Harness::CodSpeed), ..has(&[]) };
    let both = inventories(vec![
        vec![("t", unknown()), ("u", has(&["a"]))],
        vec![("t", unknown()), ("u", unknown())],
    ]);
    let plan = Plan::new(&both, &Filter::default());
    let [everywhere, on_head] = &plan.notes[..] else { panic!("{:?}", plan.notes) };
    assert!(everywhere.starts_with("`p::t` is left out: it is built for CodSpeed"), "{everywhere}");
    assert!(on_head.starts_with("head: `p::u` is left out"), "{on_head}");
}

#[test]
fn benchmarks_that_were_moved_to_another_module_are_noted() {
    let plan = |after: &[&str]| {
        let both = inventories(vec![
            vec![("t", has(&["benches::a", "benches::b", "c"]))],
            vec![("t", has(after))],
        ]);
        Plan::new(&both, &Filter::default()).notes
    };
    assert!(plan(&["a", "d"])[0].contains("1 have the same last part"));
    assert!(plan(&["a", "benches::b"]).is_empty());
    assert!(plan(&["d"]).is_empty() && plan(&[]).is_empty());
}

#[test]
fn another_harness_is_noted_and_counts_are_not_compared_with_times() {
    let with = |harness| Listed { harness: Some(harness), ..has(&["a"]) };
    let plan = |before, after| {
        let both = inventories(vec![vec![("t", with(before))], vec![("t", with(after))]]);
        Plan::new(&both, &Filter::default())
    };
    let same = plan(Harness::CriterionFiles, Harness::Criterion);
    assert_eq!((same.targets.len(), same.notes.len()), (1, 0));
    let other = plan(Harness::Libtest, Harness::Criterion);
    assert_eq!((other.targets.len(), other.notes.len()), (1, 1));
    assert!(other.notes[0].contains("uses libtest at base and criterion at head"));
    let counted = plan(Harness::Libtest, Harness::Gungraun);
    assert!(counted.targets.is_empty());
    assert_eq!((names(&counted.added), names(&counted.removed)), (vec!["a"], vec!["a"]));
    assert!(counted.notes[0].contains("nothing of it is compared"));
}

#[test]
fn what_is_set_aside_is_nowhere_else_and_once() {
    let both = inventories(vec![
        vec![("t", has(&["a", "slow", "slow old"]))],
        vec![("t", has(&["a", "slow", "slow new"]))],
    ]);
    let mut plan = Plan::new(&both, &Filter::default());
    let ids = Some(Ids::Matching(Regex::new("slow").unwrap()));
    let subject = Subject { ids, ..Subject::default() };
    let exact = Subject { ids: Some(Ids::Exact("a".to_owned())), ..Subject::default() };
    plan.apply(&Rules {
        set_aside: vec![crate::model::SkipRule { subject, reason: "too slow".to_owned() }],
        benchmarks: vec![BenchmarkRule {
            subject: exact,
            margin: Some(Percent::new(5.0)),
            timeout: None,
            lockstep: Some(false),
        }],
        targets: Vec::new(),
    });
    let aside: Vec<_> = plan.set_aside.iter().map(|s| s.benchmark.as_deref().unwrap()).collect();
    assert_eq!(aside, ["slow", "slow new", "slow old"]);
    assert!(plan.set_aside.iter().all(|aside| aside.reason == "too slow"));
    assert!(plan.added.is_empty() && plan.removed.is_empty() && !plan.is_empty());
    let a = target("t").benchmark("a");
    assert_eq!(plan.targets[0].benchmarks.len(), 1);
    assert_eq!(plan.margins, HashMap::from([(a.clone(), Percent::new(5.0))]));
    assert_eq!(plan.not_in_step, HashSet::from([a]));
}

#[test]
fn filters_choose_and_skips_remove() {
    let regexes = |texts: &[&str]| texts.iter().map(|text| Regex::new(text).unwrap()).collect();
    let filter = Filter { only: regexes(&["^parse", "len=4$"]), skip: regexes(&["slow"]) };
    assert!(filter.accepts("parse/fast"));
    assert!(filter.accepts("print len=4"));
    assert!(!filter.accepts("parse/slow"));
    assert!(!filter.accepts("print len=16"));
}
