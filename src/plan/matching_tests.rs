//! Which benchmarks of which sides are matched, measured and left out.

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

/// The ids and sides that something holds of, by benchmark.
fn on_sides<I: Iterator<Item = Side>>(
    plan: &Plan,
    of: impl Fn(&Benchmark) -> I,
) -> Vec<(String, usize)> {
    let of_one = |(_, b): (_, &Benchmark)| -> Vec<(String, usize)> {
        of(b).map(|side| (b.id.clone(), side.position())).collect()
    };
    plan.benchmarks().flat_map(of_one).collect()
}

fn added(plan: &Plan) -> Vec<(String, usize)> {
    on_sides(plan, |b| b.added_on().collect::<Vec<_>>().into_iter())
}

fn removed(plan: &Plan) -> Vec<(String, usize)> {
    on_sides(plan, |b| b.removed_on().collect::<Vec<_>>().into_iter())
}

fn on(list: &[(&str, usize)]) -> Vec<(String, usize)> {
    list.iter().map(|(id, side)| ((*id).to_owned(), *side)).collect()
}

/// What is measured: ids and the positions of their sides.
fn work(plan: &Plan) -> Vec<(String, Vec<usize>)> {
    let work = plan.benchmarks().filter_map(|(_, benchmark)| benchmark.work());
    work.map(|b| (b.id, b.sides.iter().map(|side| side.position()).collect())).collect()
}

fn same_code(plan: &Plan) -> Vec<(String, usize, usize)> {
    let of = |(_, b): (_, &Benchmark)| -> Vec<(String, usize, usize)> {
        let same = b.same_code();
        same.map(|(side, other)| (b.id.clone(), side.position(), other.position())).collect()
    };
    plan.benchmarks().flat_map(of).collect()
}

#[test]
fn benchmarks_are_matched_and_the_others_are_listed() {
    let both = inventories(vec![
        vec![("t", has(&["a", "b", "old"])), ("gone", has(&["x"]))],
        vec![("t", has(&["b", "new", "a"])), ("fresh", has(&["y"]))],
    ]);
    let plan = Plan::new(&both, &Filter::default());
    assert_eq!(work(&plan), [("a".to_owned(), vec![0, 1]), ("b".to_owned(), vec![0, 1])]);
    assert_eq!(plan.work().len(), 1, "targets without work are left out");
    assert_eq!(added(&plan), on(&[("y", 1), ("new", 1)]));
    assert_eq!(removed(&plan), on(&[("x", 1), ("old", 1)]));
}

#[test]
fn identical_code_is_not_measured() {
    let same = Listed { same_code: Some(Side::REFERENCE), ..has(&["a", "b"]) };
    let plan = Plan::new(
        &inventories(vec![vec![("t", has(&["a", "b"]))], vec![("t", same)]]),
        &Filter::default(),
    );
    assert!(plan.work().is_empty());
    assert_eq!(same_code(&plan), [("a".to_owned(), 1, 0), ("b".to_owned(), 1, 0)]);
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
    assert_eq!(work(&plan), [("a".to_owned(), vec![0, 2])]);
    assert_eq!(same_code(&plan), [("a".to_owned(), 1, 0)]);
    assert_eq!(removed(&plan), on(&[("b", 1), ("b", 2)]));
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
    assert_eq!(same_code(&plan), [("a".to_owned(), 2, 1), ("new".to_owned(), 2, 1)]);
    assert_eq!(added(&plan), on(&[("new", 1)]));
    // Of the new one there is nothing to measure.
    assert_eq!(work(&plan), [("a".to_owned(), vec![0, 1])]);
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
    let plan = Plan::new(&four, &Filter::default());
    let expected =
        [("a", vec![0, 1]), ("new", vec![1, 2, 3]), ("late", vec![2, 3]), ("x", vec![2, 3])];
    assert_eq!(work(&plan), expected.map(|(id, sides)| (id.to_owned(), sides)));
    assert_eq!(added(&plan), on(&[("new", 1), ("alone", 1), ("late", 2), ("x", 2), ("y", 3)]));
    // Without the side that the others are compared with, there is nothing left to measure.
    let mut new = plan.targets[0].benchmarks[1].work().unwrap();
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
    assert!(plan.work().is_empty() && removed(&plan).is_empty());
}

#[test]
fn a_side_that_cannot_be_listed_hides_nothing_of_the_others() {
    let failure = Failure { benchmark: None, reason: "it crashed".to_owned() };
    let broken = Listed { inventory: Inventory::Failed(failure), ..has(&[]) };
    let three =
        inventories(vec![vec![("t", has(&["a"]))], vec![("t", has(&["a"]))], vec![("t", broken)]]);
    let plan = Plan::new(&three, &Filter::default());
    assert_eq!(work(&plan), [("a".to_owned(), vec![0, 1])]);
    assert_eq!(plan.failed[0].side, Side::first(3).last().unwrap());
    assert!(removed(&plan).is_empty());
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
    assert_eq!((same.work().len(), same.notes.len()), (1, 0));
    let other = plan(Harness::Libtest, Harness::Criterion);
    assert_eq!((other.work().len(), other.notes.len()), (1, 1));
    assert!(other.notes[0].contains("uses libtest at base and criterion at head"));
    let counted = plan(Harness::Libtest, Harness::Gungraun);
    assert!(counted.work().is_empty());
    assert_eq!((added(&counted), removed(&counted)), (on(&[("a", 1)]), on(&[("a", 1)])));
    assert!(counted.notes[0].contains("nothing of it is compared"));
}

#[test]
fn what_is_skipped_is_nowhere_else_and_once() {
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
    let skipped: Vec<_> = plan.skipped.iter().map(|s| s.benchmark.as_deref().unwrap()).collect();
    assert_eq!(skipped, ["slow", "slow new", "slow old"]);
    assert!(plan.skipped.iter().all(|skipped| skipped.reason == "too slow"));
    assert!(added(&plan).is_empty() && removed(&plan).is_empty() && !plan.is_empty());
    let [a] = &plan.targets[0].benchmarks[..] else { panic!("{plan:?}") };
    assert_eq!((a.margin, a.lockstep), (Some(Percent::new(5.0)), false));
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
