//! The check, and its remarks at the benchmarks' sources.

use cargo_bench_compare::github::Mode;
use serde_json::{Value, json};

use super::fake::{Failing, answer};
use super::{HEAD, Step};
use crate::output::handmade::{results, simple};

/// A step that publishes a check of this many regressions, each at a line of its own.
fn step(regressions: usize) -> Step {
    let mut file = results(&["main", "HEAD"]);
    let mut measured: Vec<Value> = (0..regressions)
        .map(|number| {
            let mut one = simple(&format!("slow {number}"), 12, 1.2, 0.01);
            one["source"] = json!({"path": "benches/timing.rs", "line": number + 1});
            one
        })
        .collect();
    measured.push(simple("fast, and nobody knows where", 12, 0.8, 0.01));
    file["measured"] = json!(measured);
    let mut step = Step::with(&file);
    step.settings.check = true;
    step
}

fn remarks(step: &Step) -> Vec<Value> {
    let [check] = &step.fake.checks()[..] else { panic!("{:?}", step.fake.checks()) };
    check["output"]["annotations"].as_array().unwrap().clone()
}

#[test]
fn a_check_has_the_report_and_remarks_at_the_sources() {
    let step = step(1);
    step.publish().unwrap();
    step.fake.review();
    let [remark] = &remarks(&step)[..] else { panic!() };
    assert_eq!((&remark["path"], &remark["start_line"]), (&json!("benches/timing.rs"), &json!(1)));
    assert_eq!(
        (&remark["annotation_level"], &remark["title"]),
        (&json!("warning"), &json!("slow 0"))
    );
    assert!(remark["message"].as_str().unwrap().starts_with("HEAD: regressed: "), "{remark}");
    let check = &step.fake.checks()[0];
    assert_eq!(check["head_sha"], HEAD);
    assert_eq!(check["name"], "bench-compare (Benchmarks)");
    assert_eq!(check["conclusion"], "neutral");
    assert_eq!(check["output"]["title"], "1 regressed, 1 improved");
    assert!(check["output"]["summary"].as_str().unwrap().contains("slow 0"));
    assert!(
        step.told().ends_with("Checked https://github.com/me/project/runs/2"),
        "{}",
        step.told()
    );
}

#[test]
fn remarks_are_sent_fifty_at_a_time_and_not_without_end() {
    for (regressions, patches, expected) in [(50, 0, 50), (51, 1, 51), (120, 2, 120), (700, 9, 500)]
    {
        let step = step(regressions);
        step.publish().unwrap();
        assert_eq!(remarks(&step).len(), expected);
        assert_eq!(step.fake.requests("PATCH").len(), patches);
    }
}

#[test]
fn publishing_again_makes_no_second_check() {
    let step = step(1);
    step.fake.fail("POST", "/check-runs", Failing::DoneBut(answer(502, "Bad Gateway")));
    step.publish().unwrap();
    step.publish().unwrap();
    assert_eq!(step.fake.checks().len(), 1);
}

#[test]
fn nothing_regressed_is_a_success() {
    let step = step(0);
    step.publish().unwrap();
    assert_eq!(step.fake.checks()[0]["conclusion"], "success");
}

#[test]
fn a_gate_that_trips_is_a_failure() {
    let mut file = results(&["main", "HEAD"]);
    file["gate"] = json!("regression");
    file["measured"] = json!([simple("slow", 12, 1.2, 0.01)]);
    let mut step = Step::with(&file);
    step.settings.check = true;
    step.publish().unwrap();
    assert_eq!(step.fake.checks()[0]["conclusion"], "failure");
}

#[test]
fn a_missing_permission_does_not_keep_the_review_back_nor_the_other_way_round() {
    let step_ = step(1);
    let forbidden = || answer(403, "Resource not accessible by integration");
    step_.fake.fail("POST", "/check-runs", Failing::Refused(forbidden()));
    let error = step_.publish().unwrap_err().to_string();
    assert!(error.contains("could not make a check") && error.contains("checks: write"), "{error}");
    step_.fake.review();
    let step = step(1);
    step.fake.fail("POST", "/reviews", Failing::Refused(forbidden()));
    let error = step.publish().unwrap_err().to_string();
    assert!(error.contains("could not post the review"), "{error}");
    assert_eq!(step.fake.checks().len(), 1);
}

#[test]
fn a_check_can_be_all_there_is() {
    let mut step = step(1);
    step.settings.mode = Mode::None;
    step.publish().unwrap();
    assert_eq!((step.fake.checks().len(), step.fake.reviews().len()), (1, 0));
}

#[test]
fn a_hostile_place_is_left_out() {
    let places = ["../../secret", "/etc/passwd", "a//b", "a\\b", "a\nb", "", "./a"];
    let mut file = results(&["main", "HEAD"]);
    let mut measured: Vec<Value> = places
        .iter()
        .map(|path| {
            let mut one = simple(path, 12, 1.2, 0.01);
            one["source"] = json!({"path": path, "line": 1});
            one
        })
        .collect();
    let mut nowhere = simple("line 0", 12, 1.2, 0.01);
    nowhere["source"] = json!({"path": "a", "line": 0});
    measured.push(nowhere);
    file["measured"] = json!(measured);
    let mut step = Step::with(&file);
    step.settings.check = true;
    step.publish().unwrap();
    assert_eq!(remarks(&step), [] as [Value; 0]);
}
