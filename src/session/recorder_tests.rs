//! What is recorded, and when it is enough.

use std::cell::Cell;

use serde_json::json;

use super::*;
use crate::measure::LayoutSeeds;
use crate::model::{Percent, Sample, TargetName};
use crate::plan::{Benchmark, PlannedBenchmark, PlannedTarget, Standing, Target};
use crate::stats::{LOOKS, Verdict};

/// Every reading is a second later than the one before.
#[derive(Default)]
struct Ticking(Cell<u64>);

impl Clock for Ticking {
    fn now(&self) -> Duration {
        self.0.set(self.0.get() + 1);
        Duration::from_secs(self.0.get())
    }
}

fn results(revisions: usize, runs: Option<u32>) -> Results {
    let revision =
        |n: usize| json!({"label": format!("r{n}"), "commit": "c", "dirty": false, "rustc": "r"});
    let file = json!({
        "schema_version": 1, "generator": "", "command": "", "complete": false, "seed": 7, "runs": runs,
        "margin_percent": 2.0, "revisions": (0..revisions).map(revision).collect::<Vec<_>>(),
        "environment": {"system": ""}, "comparisons": [], "added": [], "removed": [],
        "failed": [], "notes": [], "measured": [],
    });
    Results::from_json(&file.to_string()).unwrap()
}

fn target() -> PlannedTarget {
    let benchmark =
        PlannedBenchmark { id: "b".to_owned(), sides: Side::first(2).collect(), lockstep: true };
    let name = TargetName { package: "p".to_owned(), target: "t".to_owned() };
    PlannedTarget { name, benchmarks: vec![benchmark] }
}

/// Records launch groups in which the sides take these times, until it is enough. Gives what came next after each.
fn record(
    recorder: &mut ResultsRecorder,
    groups: std::ops::Range<u32>,
    times: impl Fn(u32) -> Vec<f64>,
) -> Vec<Next> {
    let target = target();
    let mut all = Vec::new();
    for number in groups {
        let measurement =
            |total| Measurement::new("b", "ns", vec![Sample { iterations: 1.0, total }; 3]);
        let times = times(number);
        let next = recorder.measured(&Group {
            target: &target,
            benchmark: "b",
            number,
            method: measure::Method::Process,
            unfit: None,
            layouts: LayoutSeeds::default(),
            sides: Side::first(times.len()).zip(times.into_iter().map(measurement)).collect(),
        });
        all.push(next.unwrap());
        if all.last() == Some(&Next::Enough) {
            break;
        }
    }
    all
}

fn recorder(clock: &Ticking, revisions: usize, runs: Option<u32>) -> ResultsRecorder<'_> {
    ResultsRecorder::new(results(revisions, runs), &Plan::default(), Vec::new(), clock).unwrap()
}

/// Varies by 50 % in no order, about 100.
fn noisy(number: u32) -> f64 {
    100.0 + f64::from((number * 17 + 5) % 41) - 20.0
}

#[test]
fn what_is_precise_is_enough_at_the_first_look_and_noise_takes_all_the_pairs() {
    let clock = Ticking::default();
    let mut precise = recorder(&clock, 2, None);
    let next = record(&mut precise, 0..100, |n| vec![100.0, 99.9 + f64::from(n % 3) / 10.0]);
    assert_eq!(next.len(), 12);
    assert!(next[..11].iter().all(|next| *next == Next::GoOn { until: 12 }), "{next:?}");
    let [only] = &precise.into_results().comparisons[..] else { panic!() };
    assert_eq!((only.pairs, only.stopped_by), (12, Some(StoppedBy::Precision)));
    assert_eq!(only.verdict, Verdict::Equivalent);

    let mut noise = recorder(&clock, 2, None);
    let next = record(&mut noise, 0..100, |n| vec![100.0, noisy(n)]);
    assert_eq!(next.len(), BUDGET);
    assert_eq!(next[BUDGET - 2], Next::GoOn { until: 40 });
    let [only] = &noise.into_results().comparisons[..] else { panic!() };
    assert_eq!((only.verdict, only.stopped_by), (Verdict::Inconclusive, Some(StoppedBy::Budget)));
    assert!(only.pairs_to_decide.unwrap() > 40, "{only:?}");
}

#[test]
fn of_several_heads_each_is_decided_for_itself_and_all_are_measured_until_the_last_is() {
    let clock = Ticking::default();
    let mut recorder = recorder(&clock, 4, None);
    let slow = |n: u32| 130.0 + f64::from(n % 5);
    let next = record(&mut recorder, 0..100, |n| vec![100.0, 100.0, slow(n), noisy(n)]);
    assert_eq!(next.len(), BUDGET);
    let results = recorder.into_results();
    let stopped: Vec<_> = results.comparisons.iter().map(|c| c.stopped_by.unwrap()).collect();
    assert_eq!(stopped, [StoppedBy::Precision, StoppedBy::Efficacy, StoppedBy::Budget]);
    // They have all pairs nevertheless.
    assert!(results.comparisons.iter().all(|comparison| comparison.pairs == BUDGET));
}

#[test]
fn a_fixed_number_is_measured_whatever_comes() {
    let clock = Ticking::default();
    for runs in [1, 5, 50] {
        let mut recorder = recorder(&clock, 2, Some(runs));
        let next = record(&mut recorder, 0..100, |_| vec![100.0, 100.0]);
        assert_eq!(next.len(), runs as usize);
        assert!(next[..next.len() - 1].iter().all(|next| *next == Next::GoOn { until: runs }));
        let [only] = &recorder.into_results().comparisons[..] else { panic!() };
        assert_eq!(only.stopped_by, Some(StoppedBy::Runs));
    }
}

#[test]
fn a_margin_of_its_own_decides_a_benchmark() {
    let clock = Ticking::default();
    let times = |n: u32| vec![100.0, 100.0 + f64::from(n % 2) * 6.0 - 3.0];
    let pairs = |plan: &Plan| {
        let results = results(2, None);
        let mut recorder = ResultsRecorder::new(results, plan, Vec::new(), &clock).unwrap();
        record(&mut recorder, 0..100, times).len()
    };
    let plan = |margin| {
        let benchmark = Benchmark {
            id: "b".to_owned(),
            sides: [Standing::OwnCode; 2].into_iter().collect(),
            margin,
            lockstep: true,
            place: None,
        };
        let target = Target { name: target().name, benchmarks: vec![benchmark] };
        Plan { targets: vec![target], ..Plan::default() }
    };
    assert_eq!(pairs(&plan(None)), 40);
    assert_eq!(pairs(&plan(Some(Percent::new(10.0)))), 12);
}

#[test]
fn what_there_was_no_time_for_is_inconclusive_and_so_is_what_was_not_measured_at_all() {
    let clock = Ticking::default();
    let mut recorder = recorder(&clock, 3, None);
    record(&mut recorder, 0..8, |n| vec![100.0, noisy(n), 100.0]);
    let sides: Vec<Side> = Side::first(3).collect();
    let name = |id: &str| target().name.benchmark(id);
    recorder.ran_out_of_time(&name("b"), &sides).unwrap();
    recorder.ran_out_of_time(&name("never"), &sides[..2]).unwrap();
    let results = recorder.finish(true).unwrap();
    let told: Vec<_> = results
        .comparisons
        .iter()
        .map(|c| (c.benchmark.as_str(), c.head.label.as_str(), c.pairs, c.stopped_by.unwrap()))
        .collect();
    let time = StoppedBy::TimeLimit;
    assert_eq!(told, [("b", "r1", 8, time), ("b", "r2", 8, time), ("never", "r1", 0, time)]);
    let never = &results.comparisons[2];
    assert_eq!(never.verdict, Verdict::Inconclusive);
    assert_eq!((never.p_value, never.pairs_to_decide), (None, Some(LOOKS[0].pairs as u64)));
    // Seen from another revision it was the time too.
    let told = &results.against(1).comparisons;
    assert!(told.iter().all(|c| c.stopped_by == Some(time)), "{told:?}");
    assert!(told.iter().any(|c| c.benchmark == "never"));
}

#[test]
fn what_the_file_has_not_yet_is_in_the_journal() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("results.json");
    let clock = Ticking::default();
    let results = results(2, Some(100));
    let mut recorder =
        ResultsRecorder::new(results, &Plan::default(), vec![file.clone()], &clock).unwrap();
    let in_file = || -> usize {
        let text = fs::read_to_string(&file).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        value["measured"][0]["launches"].as_array().map_or(0, Vec::len)
    };
    let mut seen = Vec::new();
    for number in 0..50 {
        record(&mut recorder, number..number + 1, |_| vec![100.0, 120.0]);
        recorder.group_done().unwrap();
        seen.push(in_file());
    }
    // A write takes a second here, so there is one in about twenty.
    seen.dedup();
    assert_eq!(seen.len(), 3, "{seen:?}");

    // The run crashes now.
    assert!(in_file() < 50);
    let launches = |file: &std::path::Path| Results::load(file).unwrap().measured[0].launches.len();
    assert_eq!(launches(&file), 50);
    let journal_file = directory.path().join("results.samples.jsonl");
    let journal = fs::read_to_string(&journal_file).unwrap();
    let write = |lines: &str| fs::write(&journal_file, lines).unwrap();
    // The last line may be cut off, and the journal may be another run's, or gone.
    write(&journal[..journal.len() - 20]);
    assert_eq!(launches(&file), 49);
    write(&journal.replace("\"seed\":7", "\"seed\":8"));
    assert_eq!(launches(&file), in_file());
    fs::remove_file(&journal_file).unwrap();
    assert_eq!(launches(&file), in_file());
    // Of a run that came to its end the file has all.
    write(&journal);
    let mut complete = Results::load(&file).unwrap();
    complete.complete = true;
    complete.measured[0].launches.truncate(3);
    complete.save(&file).unwrap();
    assert_eq!(launches(&file), 3);
}
