//! Schedules, with scripted processes.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::*;
use crate::harness::Failure;
use crate::harness::Step;
use crate::model::{Sample, TargetName};
use crate::plan::PlannedBenchmark;
use crate::system::{Progress, Unobserved};

/// What a scripted process does with a benchmark.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Runs,
    Panics,
    IsLeftOut,
    TakesNoTime,
    CountsCycles,
    /// In its second launch and later, an iteration takes a millisecond.
    GetsSlow,
}

type Log = Rc<RefCell<Vec<String>>>;

#[derive(Default)]
struct Script {
    behaviour: HashMap<(Side, String), Does>,
    /// Starts of these sides fail.
    broken: Vec<Side>,
    log: Log,
    starts: usize,
    clock: ByHand,
    /// What a start takes.
    launch: Duration,
    /// What a benchmark takes on one side, if it is one of these.
    takes: HashMap<String, Duration>,
    efforts: Vec<Effort>,
}

struct ScriptedSession {
    side: Side,
    /// How many starts there were before.
    earlier: usize,
    left: std::vec::IntoIter<(String, Does, Duration)>,
    log: Log,
    clock: ByHand,
}

impl Session for ScriptedSession {
    fn resume(&mut self) {}

    fn poll(&mut self, _wait: Duration, _can_run: bool) -> Result<Option<Step>> {
        for (benchmark, does, takes) in self.left.by_ref() {
            self.clock.advance(takes);
            match does {
                Does::IsLeftOut => continue,
                Does::Panics => {
                    let failure =
                        Failure { benchmark: Some(benchmark), reason: "it panicked".to_owned() };
                    return Ok(Some(Step::Failed(failure)));
                }
                Does::Runs | Does::TakesNoTime | Does::CountsCycles | Does::GetsSlow => {
                    self.log.borrow_mut().push(format!("{} {benchmark}", self.side));
                    let total = match does {
                        Does::TakesNoTime => 0.0,
                        Does::GetsSlow if self.earlier >= 2 => 1e6,
                        _ => 5.0,
                    };
                    let unit = if does == Does::CountsCycles { "cycles" } else { "ns" };
                    return Ok(Some(Step::Measured(Measurement::new(
                        benchmark,
                        unit,
                        vec![Sample { iterations: 1.0, total }],
                    ))));
                }
            }
        }
        Ok(Some(Step::Finished))
    }
}

impl Executor for Script {
    fn unfit(&self, _target: &PlannedTarget) -> Option<Unfit> {
        Some(Unfit::Whole)
    }

    fn start(
        &mut self,
        _target: &PlannedTarget,
        side: Side,
        benchmarks: &[String],
        effort: Effort,
        _attachment: Option<&Attachment>,
    ) -> Result<ProcessResult<Box<dyn Session>>> {
        self.starts += 1;
        self.efforts.push(effort);
        self.clock.advance(self.launch);
        if self.broken.contains(&side) {
            return Ok(Err(Failure { benchmark: None, reason: "no such program".to_owned() }));
        }
        let left: Vec<_> = benchmarks
            .iter()
            .map(|id| {
                let does = self.behaviour.get(&(side, id.clone())).copied();
                let takes = self.takes.get(id).copied().unwrap_or_default();
                (id.clone(), does.unwrap_or(Does::Runs), takes)
            })
            .collect();
        Ok(Ok(Box::new(ScriptedSession {
            side,
            earlier: self.starts - 1,
            left: left.into_iter(),
            log: Rc::clone(&self.log),
            clock: self.clock.clone(),
        })))
    }
}

/// A recorder that has enough of each benchmark after a number of launch groups.
#[derive(Default)]
struct Notes {
    measured: Vec<(u32, String, Vec<Side>)>,
    failed: Vec<Failed>,
    groups: usize,
    notes: Vec<String>,
    /// The number of benchmarks that are not named below.
    enough: u32,
    enough_of: HashMap<String, u32>,
    out_of_time: Vec<(String, Vec<Side>)>,
}

impl Notes {
    fn enough(groups: u32) -> Self {
        Self { enough: groups, ..Self::default() }
    }

    fn count(&self, name: &str) -> usize {
        self.measured.iter().filter(|(_, other, _)| other == name).count()
    }
}

impl Recorder for Notes {
    fn measured(&mut self, group: &Group) -> Result<Next> {
        let sides = group.sides.iter().map(|(side, _)| *side).collect();
        let name = format!("{}:{}", group.target.name.target, group.benchmark);
        self.measured.push((group.number, name.clone(), sides));
        let until = self.enough_of.get(&name).copied().unwrap_or(self.enough);
        Ok(if self.count(&name) >= until as usize { Next::Enough } else { Next::GoOn { until } })
    }

    fn ran_out_of_time(&mut self, benchmark: &BenchmarkName, sides: &[Side]) -> Result<()> {
        let name = format!("{}:{}", benchmark.target, benchmark.benchmark);
        self.out_of_time.push((name, sides.to_owned()));
        Ok(())
    }

    fn failed(&mut self, failed: Failed) -> Result<()> {
        self.failed.push(failed);
        Ok(())
    }

    fn note(&mut self, note: String) -> Result<()> {
        self.notes.push(note);
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

fn work(targets: &[(&str, &[&str])], count: usize) -> Vec<PlannedTarget> {
    targets
        .iter()
        .map(|(target, ids)| PlannedTarget {
            name: TargetName { package: "p".to_owned(), target: (*target).to_owned() },
            benchmarks: ids
                .iter()
                .map(|id| PlannedBenchmark {
                    id: (*id).to_owned(),
                    sides: sides(count),
                    lockstep: true,
                })
                .collect(),
        })
        .collect()
}

/// A clock that is only as late as a script has made it.
#[derive(Default, Clone)]
struct ByHand(Rc<Cell<Duration>>);

impl ByHand {
    fn advance(&self, by: Duration) {
        self.0.set(self.0.get() + by);
    }
}

impl Clock for ByHand {
    fn now(&self) -> Duration {
        self.0.get()
    }
}

/// Keeps all progress.
#[derive(Default)]
struct Watching(RefCell<Vec<Progress>>);

impl Observer for Watching {
    fn status(&self, _verb: &str, _text: &str) {}
    fn show(&self, _text: &str) {}
    fn warn(&self, _text: &str) {}

    fn progress(&self, progress: &Progress) {
        self.0.borrow_mut().push(progress.clone());
    }
}

fn run_with(
    work: &[PlannedTarget],
    time_limit: Option<Duration>,
    executor: &mut dyn Executor,
    clock: &ByHand,
    notes: &mut Notes,
) -> Vec<Progress> {
    let watching = Watching::default();
    let tools = Tools { preload: None, clock, observer: &watching };
    let design = Design { fewest_groups: notes.enough, time_limit, seed: 7 };
    measure(work, design, tools, executor, notes, &mut Spent::default()).unwrap();
    watching.0.take()
}

fn run(work: &[PlannedTarget], groups: u32, script: &mut Script) -> Notes {
    let mut notes = Notes::enough(groups);
    let clock = script.clock.clone();
    run_with(work, None, script, &clock, &mut notes);
    notes
}

#[test]
fn every_benchmark_is_measured_in_every_group_and_groups_are_spread_over_the_run() {
    let work = work(&[("t", &["a", "b"]), ("u", &["c"])], 2);
    let notes = run(&work, 3, &mut Script::default());
    let order: Vec<_> =
        notes.measured.iter().map(|(group, name, _)| (*group, name.as_str())).collect();
    let once = |group| [(group, "t:a"), (group, "t:b"), (group, "u:c")];
    assert_eq!(order, [once(0), once(1), once(2)].concat());
    assert_eq!(notes.groups, 6);
    assert!(notes.failed.is_empty());
}

#[test]
fn a_benchmark_of_one_side_runs_right_after_that_of_the_other_in_random_order() {
    let work = work(&[("t", &["a", "b", "c"])], 2);
    let mut script = Script::default();
    let notes = run(&work, 40, &mut script);
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
    let work = work(&[("t", &["a", "b", "c"])], 2);
    let order = |seed| {
        let (mut script, mut notes) = (Script::default(), Notes::enough(10));
        let tools = Tools { preload: None, clock: &ByHand::default(), observer: &Unobserved };
        let design = Design { fewest_groups: 10, time_limit: None, seed };
        measure(&work, design, tools, &mut script, &mut notes, &mut Spent::default()).unwrap();
        script.log.take()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn three_sides_are_measured_together() {
    let notes = run(&work(&[("t", &["a"])], 3), 5, &mut Script::default());
    assert_eq!(notes.measured.len(), 5);
    for (_, _, order) in notes.measured {
        let mut order = order;
        order.sort_unstable();
        assert_eq!(order, sides(3));
    }
}

#[test]
fn a_benchmark_that_panics_on_one_side_fails_alone_and_is_not_tried_again() {
    let work = work(&[("t", &["a", "bad", "c"])], 2);
    let head = sides(2)[1];
    let mut script = Script::default();
    script.behaviour.insert((head, "bad".to_owned()), Does::Panics);
    let notes = run(&work, 3, &mut script);
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
    let work = work(&[("t", &["a", "bad"])], 3);
    let mut script = Script::default();
    script.behaviour.insert((sides(3)[2], "bad".to_owned()), Does::Panics);
    let notes = run(&work, 2, &mut script);
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
    let work = work(&[("t", &["a", "bad"])], 3);
    let mut script = Script::default();
    script.behaviour.insert((Side::REFERENCE, "bad".to_owned()), Does::Panics);
    let notes = run(&work, 2, &mut script);
    assert_eq!((notes.failed.len(), notes.measured.len()), (1, 2));
}

#[test]
fn a_benchmark_that_does_not_run_on_one_side_is_a_failure_of_that_side() {
    let work = work(&[("t", &["a", "b"])], 2);
    let mut script = Script::default();
    script.behaviour.insert((Side::REFERENCE, "b".to_owned()), Does::IsLeftOut);
    let notes = run(&work, 2, &mut script);
    assert_eq!(notes.failed.len(), 1);
    assert_eq!(notes.failed[0].side, Side::REFERENCE);
    assert!(notes.failed[0].reason.contains("did not run in launch 1"), "{:?}", notes.failed);
    assert_eq!(notes.measured.len(), 2);
}

#[test]
fn a_benchmark_whose_values_cannot_be_compared_fails_once_and_hides_no_other_side() {
    let work = work(&[("t", &["a", "unit", "zero"])], 3);
    let mut script = Script::default();
    script.behaviour.insert((sides(3)[1], "unit".to_owned()), Does::CountsCycles);
    script.behaviour.insert((Side::REFERENCE, "zero".to_owned()), Does::TakesNoTime);
    let notes = run(&work, 4, &mut script);
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
        fn unfit(&self, _target: &PlannedTarget) -> Option<Unfit> {
            Some(Unfit::Whole)
        }

        fn start(
            &mut self,
            target: &PlannedTarget,
            side: Side,
            benchmarks: &[String],
            effort: Effort,
            attachment: Option<&Attachment>,
        ) -> Result<ProcessResult<Box<dyn Session>>> {
            self.0.broken = if target.name.target == "t" { vec![side] } else { vec![] };
            self.0.start(target, side, benchmarks, effort, attachment)
        }
    }
    let work = work(&[("t", &["a", "b"]), ("u", &["c"])], 2);
    let mut notes = Notes::enough(2);
    let mut executor = OneBroken(Script::default());
    run_with(&work, None, &mut executor, &ByHand::default(), &mut notes);
    assert_eq!(notes.failed.len(), 2);
    assert_eq!(notes.measured.len(), 2);
}

#[test]
fn what_is_decided_is_left_out_and_a_target_with_nothing_left_is_not_started() {
    let work = work(&[("t", &["a", "b"]), ("u", &["c"])], 2);
    let mut notes = Notes::enough(2);
    notes.enough_of.insert("t:b".to_owned(), 4);
    let mut script = Script::default();
    let progress = run_with(&work, None, &mut script, &ByHand::default(), &mut notes);
    assert_eq!(["t:a", "t:b", "u:c"].map(|name| notes.count(name)), [2, 4, 2]);
    assert_eq!(script.starts, 2 * (4 + 2));
    assert!(notes.out_of_time.is_empty());
    // Nothing ran that nobody wanted.
    assert_eq!(script.log.borrow().len(), 2 * (2 + 4 + 2));
    let decided: Vec<_> = progress.iter().map(|p| (p.target.as_str(), p.decided)).collect();
    let expected =
        [("p::t", 0), ("p::u", 0), ("p::t", 0), ("p::u", 1), ("p::t", 2), ("p::t", 2), ("", 3)];
    assert_eq!(decided, expected);
    assert!(progress.iter().all(|progress| progress.benchmarks == 3));
}

#[test]
fn the_time_left_follows_what_benchmarks_take_and_how_often_they_will_be_measured() {
    let seconds = Duration::from_secs;
    let work = work(&[("t", &["a"]), ("u", &["b", "c"])], 2);
    let mut notes = Notes::enough(3);
    notes.enough_of.insert("u:c".to_owned(), 5);
    let takes = HashMap::from([("a".to_owned(), seconds(3)), ("b".to_owned(), seconds(5))]);
    let mut script = Script { takes, ..Script::default() };
    let clock = script.clock.clone();
    let progress = run_with(&work, None, &mut script, &clock, &mut notes);
    let left: Vec<Option<u64>> =
        progress.iter().map(|p| p.left.map(|left| left.as_secs())).collect();
    // A group takes 6 s for a, and 10 s for b and c together. At first it is taken for granted that all of them
    // are like a, and that the fewest groups are enough for them.
    let expected = [
        None,
        Some(2 * 6 + 2 * 3 * 6),
        Some(2 * 6 + 2 * 5 + 4 * 5),
        Some(6 + 2 * 5 + 4 * 5),
        Some(6 + 5 + 3 * 5),
    ];
    assert_eq!(left[..5], expected);
    assert_eq!(left.last(), Some(&Some(0)));
    assert!(left.windows(2).skip(1).all(|pair| pair[1] <= pair[0]), "{left:?}");
}

#[test]
fn when_the_time_is_up_all_have_had_as_many_groups_and_it_is_said_what_is_not_decided() {
    let seconds = Duration::from_secs;
    let work = work(&[("t", &["a", "b"]), ("u", &["c"])], 3);
    let mut notes = Notes::enough(20);
    notes.enough_of.insert("u:c".to_owned(), 3);
    let mut script = Script { launch: seconds(1), ..Script::default() };
    script.behaviour.insert((sides(3)[2], "b".to_owned()), Does::Panics);
    let clock = script.clock.clone();
    let progress = run_with(&work, Some(seconds(60)), &mut script, &clock, &mut notes);
    let counts = ["t:a", "t:b", "u:c"].map(|name| notes.count(name));
    assert!(counts[0] >= 5 && counts[0].abs_diff(counts[1]) <= 1, "{counts:?}");
    assert_eq!(counts[2], 3);
    let on_all = ("t:a".to_owned(), sides(3));
    assert_eq!(notes.out_of_time, [on_all, ("t:b".to_owned(), sides(2))]);
    assert!(clock.now() < seconds(60 + 4), "{:?}", clock.now());
    assert!(progress.iter().all(|p| p.left.is_none_or(|left| left <= seconds(60))));
}

#[test]
fn when_the_time_is_up_the_rest_of_a_launch_group_is_left_out() {
    let work = work(&[("t", &["a", "b", "c"])], 2);
    let mut notes = Notes::enough(5);
    let mut script = Script::default();
    script.takes.insert("b".to_owned(), Duration::from_secs(10));
    let clock = script.clock.clone();
    run_with(&work, Some(Duration::from_secs(30)), &mut script, &clock, &mut notes);
    assert_eq!(["t:a", "t:b", "t:c"].map(|name| notes.count(name)), [2, 2, 1]);
    let late: Vec<_> = notes.out_of_time.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(late, ["t:a", "t:b", "t:c"]);
    // What was measured in time counts, even if it was the last moment.
    assert!(notes.failed.is_empty());
}

#[test]
fn launches_measure_longer_where_launching_is_expensive() {
    let milliseconds = Duration::from_millis;
    let work = work(&[("t", &["a", "b"])], 2);
    let mut notes = Notes::enough(3);
    let mut script = Script { launch: Duration::from_secs(4), ..Script::default() };
    script.takes.insert("a".to_owned(), milliseconds(7));
    let clock = script.clock.clone();
    run_with(&work, None, &mut script, &clock, &mut notes);
    let rounded = |time: Duration| milliseconds(time.as_millis() as u64);
    let efforts: Vec<_> = script.efforts.iter().map(|e| (e.samples, rounded(e.time))).collect();
    let first = (20, milliseconds(10));
    // The root of a tenth of 2 s for each of two benchmarks times 20 ms; what they take themselves is no cost of the
    // launch.
    let later = (158, milliseconds(63));
    assert_eq!(efforts, [first, first, later, later, later, later]);
}

#[test]
fn a_benchmark_that_turns_out_to_be_slow_is_measured_once_in_each_group() {
    let work = work(&[("t", &["a", "b"])], 2);
    let mut script = Script::default();
    for side in Side::first(2) {
        script.behaviour.insert((side, "a".to_owned()), Does::GetsSlow);
    }
    let notes = run(&work, 4, &mut script);
    let groups: Vec<u32> = notes
        .measured
        .iter()
        .filter(|(_, name, _)| name == "t:a")
        .map(|(group, _, _)| *group)
        .collect();
    assert_eq!(groups, [0, 1, 2, 3]);
}

#[test]
fn what_was_spent_tells_launching_from_measuring() {
    let milliseconds = Duration::from_millis;
    let work = work(&[("t", &["a", "b"])], 2);
    let mut notes = Notes::enough(3);
    let mut script = Script { launch: milliseconds(10), ..Script::default() };
    script.takes.insert("a".to_owned(), milliseconds(7));
    let (clock, mut spent) = (script.clock.clone(), Spent::default());
    let tools = Tools { preload: None, clock: &clock, observer: &Unobserved };
    let design = Design { fewest_groups: 3, time_limit: None, seed: 1 };
    measure(&work, design, tools, &mut script, &mut notes, &mut spent).unwrap();
    assert_eq!(spent.total, milliseconds(3 * 2 * (10 + 7)));
    assert_eq!(spent.of_a_launch(), Some(milliseconds(10)));
    assert_eq!(spent.of_a_benchmark(), Some(milliseconds(10 + 7)));
    assert_eq!((Spent::default().of_a_launch(), Spent::default().of_a_benchmark()), (None, None));
}
