//! Schedules, with scripted processes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::*;
use crate::harness::{Sample, Step};
use crate::observer::Unobserved;
use crate::plan::{PlannedBenchmark, TargetName};

/// What a scripted process does with a benchmark.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Runs,
    Panics,
    IsLeftOut,
    TakesNoTime,
    CountsCycles,
}

type Log = Rc<RefCell<Vec<String>>>;

#[derive(Default)]
struct Script {
    behaviour: HashMap<(Side, String), Does>,
    /// Starts of these sides fail.
    broken: Vec<Side>,
    log: Log,
    starts: usize,
}

struct ScriptedSession {
    side: Side,
    left: std::vec::IntoIter<(String, Does)>,
    log: Log,
}

impl Session for ScriptedSession {
    fn resume(&mut self) {}

    fn poll(&mut self, _wait: std::time::Duration, _can_run: bool) -> Result<Option<Step>> {
        for (benchmark, does) in self.left.by_ref() {
            match does {
                Does::IsLeftOut => continue,
                Does::Panics => {
                    let failure =
                        Failure { benchmark: Some(benchmark), reason: "it panicked".to_owned() };
                    return Ok(Some(Step::Failed(failure)));
                }
                Does::Runs | Does::TakesNoTime | Does::CountsCycles => {
                    self.log.borrow_mut().push(format!("{} {benchmark}", self.side));
                    let total = if does == Does::TakesNoTime { 0.0 } else { 5.0 };
                    let unit = if does == Does::CountsCycles { "cycles" } else { "ns" };
                    return Ok(Some(Step::Measured(Measurement {
                        benchmark,
                        unit: unit.to_owned(),
                        samples: vec![Sample { iterations: 1.0, total }],
                    })));
                }
            }
        }
        Ok(Some(Step::Finished))
    }
}

impl Executor for Script {
    fn can_keep_step(&self, _target: &PlannedTarget) -> bool {
        false
    }

    fn start(
        &mut self,
        _target: &PlannedTarget,
        side: Side,
        benchmarks: &[String],
        _effort: Effort,
        _attachment: Option<&Attachment>,
    ) -> Result<std::result::Result<Box<dyn Session>, Failure>> {
        self.starts += 1;
        if self.broken.contains(&side) {
            return Ok(Err(Failure { benchmark: None, reason: "no such program".to_owned() }));
        }
        let left: Vec<(String, Does)> = benchmarks
            .iter()
            .map(|id| {
                let does = self.behaviour.get(&(side, id.clone())).copied();
                (id.clone(), does.unwrap_or(Does::Runs))
            })
            .collect();
        Ok(Ok(Box::new(ScriptedSession {
            side,
            left: left.into_iter(),
            log: Rc::clone(&self.log),
        })))
    }
}

#[derive(Default)]
struct Notes {
    measured: Vec<(u32, String, Vec<Side>)>,
    failed: Vec<Failed>,
    groups: usize,
}

impl Recorder for Notes {
    fn measured(&mut self, group: &Group) -> Result<()> {
        let sides = group.sides.iter().map(|(side, _)| *side).collect();
        self.measured.push((
            group.number,
            format!("{}:{}", group.target.name.target, group.benchmark),
            sides,
        ));
        Ok(())
    }

    fn failed(&mut self, failed: Failed) -> Result<()> {
        self.failed.push(failed);
        Ok(())
    }

    fn group_done(&mut self) -> Result<()> {
        self.groups += 1;
        Ok(())
    }
}

fn sides(count: usize) -> Vec<Side> {
    Side::first(count).collect()
}

fn plan(targets: &[(&str, &[&str])], count: usize) -> Plan {
    let targets = targets
        .iter()
        .map(|(target, ids)| PlannedTarget {
            name: TargetName { package: "p".to_owned(), target: (*target).to_owned() },
            benchmarks: ids
                .iter()
                .map(|id| PlannedBenchmark { id: (*id).to_owned(), sides: sides(count) })
                .collect(),
        })
        .collect();
    Plan { targets, ..Plan::default() }
}

fn run(plan: &Plan, groups: u32, script: &mut Script) -> Notes {
    let mut notes = Notes::default();
    let design = Design { groups, seed: 7 };
    measure(plan, design, None, script, &mut notes, &Unobserved).unwrap();
    notes
}

#[test]
fn every_benchmark_is_measured_in_every_group_and_groups_are_spread_over_the_run() {
    let plan = plan(&[("t", &["a", "b"]), ("u", &["c"])], 2);
    let notes = run(&plan, 3, &mut Script::default());
    let order: Vec<_> =
        notes.measured.iter().map(|(group, name, _)| (*group, name.as_str())).collect();
    let once = |group| [(group, "t:a"), (group, "t:b"), (group, "u:c")];
    assert_eq!(order, [once(0), once(1), once(2)].concat());
    assert_eq!(notes.groups, 6);
    assert!(notes.failed.is_empty());
}

#[test]
fn a_benchmark_of_one_side_runs_right_after_that_of_the_other_in_random_order() {
    let plan = plan(&[("t", &["a", "b", "c"])], 2);
    let mut script = Script::default();
    let notes = run(&plan, 40, &mut script);
    for pair in script.log.borrow().chunks(2) {
        let benchmark = |line: &str| line.split(' ').next_back().unwrap().to_owned();
        assert_eq!(benchmark(&pair[0]), benchmark(&pair[1]));
        assert_ne!(pair[0], pair[1]);
    }
    let base_first =
        notes.measured.iter().filter(|(_, _, order)| order[0] == Side::REFERENCE).count();
    assert!((40..=80).contains(&base_first), "{base_first} of 120");
}

#[test]
fn the_same_seed_gives_the_same_schedule_and_another_seed_another() {
    let plan = plan(&[("t", &["a", "b", "c"])], 2);
    let order = |seed| {
        let (mut script, mut notes) = (Script::default(), Notes::default());
        measure(&plan, Design { groups: 10, seed }, None, &mut script, &mut notes, &Unobserved)
            .unwrap();
        script.log.take()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn three_sides_are_measured_together() {
    let notes = run(&plan(&[("t", &["a"])], 3), 5, &mut Script::default());
    assert_eq!(notes.measured.len(), 5);
    for (_, _, order) in notes.measured {
        let mut order = order;
        order.sort_unstable();
        assert_eq!(order, sides(3));
    }
}

#[test]
fn a_benchmark_that_panics_on_one_side_fails_alone_and_is_not_tried_again() {
    let plan = plan(&[("t", &["a", "bad", "c"])], 2);
    let head = sides(2)[1];
    let mut script = Script::default();
    script.behaviour.insert((head, "bad".to_owned()), Does::Panics);
    let notes = run(&plan, 3, &mut script);
    assert_eq!(notes.failed.len(), 1);
    assert_eq!(notes.failed[0].side, head);
    assert_eq!(notes.failed[0].benchmark.as_deref(), Some("bad"));
    let count =
        |id: &str| notes.measured.iter().filter(|(_, name, _)| name == &format!("t:{id}")).count();
    assert_eq!((count("a"), count("bad"), count("c")), (3, 0, 3));
    // Two processes a group, and two more for what was left of the first.
    assert_eq!(script.starts, 8);
}

#[test]
fn a_benchmark_that_fails_on_one_of_three_sides_is_measured_on_the_others() {
    let plan = plan(&[("t", &["a", "bad"])], 3);
    let mut script = Script::default();
    script.behaviour.insert((sides(3)[2], "bad".to_owned()), Does::Panics);
    let notes = run(&plan, 2, &mut script);
    assert_eq!(notes.failed.len(), 1);
    let mut bad: Vec<_> =
        notes.measured.iter().filter(|(_, name, _)| name == "t:bad").cloned().collect();
    for (_, _, sides) in &mut bad {
        sides.sort_unstable();
    }
    let both = || sides(2);
    assert_eq!(bad, [(0, "t:bad".to_owned(), both()), (1, "t:bad".to_owned(), both())]);
}

#[test]
fn a_benchmark_that_fails_on_the_reference_is_not_measured_at_all() {
    let plan = plan(&[("t", &["a", "bad"])], 3);
    let mut script = Script::default();
    script.behaviour.insert((Side::REFERENCE, "bad".to_owned()), Does::Panics);
    let notes = run(&plan, 2, &mut script);
    assert_eq!((notes.failed.len(), notes.measured.len()), (1, 2));
}

#[test]
fn a_benchmark_that_does_not_run_on_one_side_is_a_failure_of_that_side() {
    let plan = plan(&[("t", &["a", "b"])], 2);
    let mut script = Script::default();
    script.behaviour.insert((Side::REFERENCE, "b".to_owned()), Does::IsLeftOut);
    let notes = run(&plan, 2, &mut script);
    assert_eq!(notes.failed.len(), 1);
    assert_eq!(notes.failed[0].side, Side::REFERENCE);
    assert!(notes.failed[0].reason.contains("did not run in launch 1"), "{:?}", notes.failed);
    assert_eq!(notes.measured.len(), 2);
}

#[test]
fn a_benchmark_whose_values_cannot_be_compared_fails_once_and_hides_no_other_side() {
    let plan = plan(&[("t", &["a", "unit", "zero"])], 3);
    let mut script = Script::default();
    script.behaviour.insert((sides(3)[1], "unit".to_owned()), Does::CountsCycles);
    script.behaviour.insert((Side::REFERENCE, "zero".to_owned()), Does::TakesNoTime);
    let notes = run(&plan, 4, &mut script);
    let failed: Vec<_> =
        notes.failed.iter().map(|f| (f.side, f.benchmark.as_deref().unwrap())).collect();
    assert_eq!(failed, [(sides(3)[1], "unit"), (Side::REFERENCE, "zero")]);
    assert!(notes.failed[0].reason.contains("cycles here and ns at base"), "{:?}", notes.failed);
    let measured_with = |id: &str| -> Vec<usize> {
        let of_id = notes.measured.iter().filter(|(_, name, _)| name == &format!("t:{id}"));
        of_id.map(|(_, _, sides)| sides.len()).collect()
    };
    assert_eq!(measured_with("a"), [3; 4]);
    assert_eq!(measured_with("unit"), [2; 4]);
    assert!(measured_with("zero").is_empty());
    // In the first group only was it started for all three.
    assert_eq!(script.log.borrow().iter().filter(|line| line.ends_with("zero")).count(), 3);
}

#[test]
fn a_program_that_cannot_be_started_fails_with_all_its_benchmarks_and_the_other_targets_go_on() {
    struct OneBroken(Script);
    impl Executor for OneBroken {
        fn can_keep_step(&self, _target: &PlannedTarget) -> bool {
            false
        }

        fn start(
            &mut self,
            target: &PlannedTarget,
            side: Side,
            benchmarks: &[String],
            effort: Effort,
            attachment: Option<&Attachment>,
        ) -> Result<std::result::Result<Box<dyn Session>, Failure>> {
            self.0.broken = if target.name.target == "t" { vec![side] } else { vec![] };
            self.0.start(target, side, benchmarks, effort, attachment)
        }
    }
    let plan = plan(&[("t", &["a", "b"]), ("u", &["c"])], 2);
    let mut notes = Notes::default();
    let design = Design { groups: 2, seed: 1 };
    measure(&plan, design, None, &mut OneBroken(Script::default()), &mut notes, &Unobserved)
        .unwrap();
    assert_eq!(notes.failed.len(), 2);
    assert_eq!(notes.measured.len(), 2);
}
