//! Which pull request a report goes to, and which results belong to it.

use serde_json::{Value, json};

use super::fake::Fake;
use super::{BASE, HEAD, MERGE, NEXT_HEAD, Step};

const OTHER: &str = "9999999999999999999999999999999999999999";

/// The event of a run that measured the head of a branch.
fn measured_by(event: &str, repository: &str, branch: &str) -> Value {
    json!({"workflow_run": {
        "id": 55, "run_attempt": 2, "name": "Measure", "event": event, "head_sha": HEAD, "head_branch": branch,
        "head_repository": {"full_name": repository}, "pull_requests": [],
    }})
}

/// A step that publishes what a fork's run has measured.
fn after_fork() -> Step {
    let mut step = Step::new();
    step.fake.with_pull_request(8, "you/fork", "topic", HEAD);
    step.event("workflow_run", &measured_by("pull_request", "you/fork", "topic"));
    step
}

fn numbers(fake: &Fake) -> Vec<u64> {
    fake.reviews().iter().map(|review| review.pull_request).collect()
}

#[test]
fn a_forks_pull_request_is_found_by_its_head() {
    let step = after_fork();
    step.publish().unwrap();
    assert_eq!(numbers(&step.fake), [8]);
    assert!(step.fake.review().body.contains("actions/runs/55/attempts/2"));
    let list = &step.fake.requests("GET")[0];
    assert!(list.starts_with("GET /repos/me/project/pulls?state=open&head=you%3Atopic&"), "{list}");
}

#[test]
fn a_branch_of_the_same_name_elsewhere_is_another_one() {
    let mut step = Step::new();
    // The fork has a pull request from `topic`; what was measured is this repository's `topic`, and so on.
    step.fake.with_pull_request(8, "you/fork", "topic", HEAD);
    step.event("workflow_run", &measured_by("push", "me/project", "topic"));
    step.publish().unwrap();
    step.event("push", &json!({"ref": "refs/heads/topic", "after": HEAD}));
    step.publish().unwrap();
    assert!(numbers(&step.fake).iter().all(|number| *number == 7));
    // Of the same owner, but no fork of this one.
    step.event("workflow_run", &measured_by("pull_request", "you/another", "topic"));
    step.publish().unwrap();
    assert!(
        step.told().ends_with("nothing is posted: no open pull request has the head you:topic")
    );
}

#[test]
fn of_several_pull_requests_from_one_branch_the_one_with_the_measured_head_is_meant() {
    let step = after_fork();
    step.fake.with_pull_request(9, "you/fork", "topic", NEXT_HEAD);
    step.publish().unwrap();
    assert_eq!(numbers(&step.fake), [8]);

    // To two base branches at once.
    let mut step = after_fork();
    step.fake.with_pull_request(9, "you/fork", "topic", HEAD);
    let error = step.publish().unwrap_err().to_string();
    assert!(error.contains("several open pull requests") && error.contains("#8, #9"), "{error}");
    let mut event = measured_by("pull_request", "you/fork", "topic");
    event["workflow_run"]["pull_requests"] = json!([{"number": 9}]);
    step.event("workflow_run", &event);
    step.publish().unwrap();
    assert_eq!(numbers(&step.fake), [9]);
}

#[test]
fn without_an_open_pull_request_only_the_summary_is_written() {
    for event in ["closed", "schedule", "issue"] {
        let mut step = after_fork();
        match event {
            "closed" => step.fake.close(8),
            "schedule" => {
                step.event("workflow_run", &measured_by("schedule", "me/project", "main"));
            }
            _ => step.event("issue_comment", &json!({"issue": {"number": 8}})),
        }
        step.publish().unwrap();
        assert!(step.fake.reviews().is_empty());
        assert!(step.summary().contains("1 regressed"));
        assert!(step.told().contains("Skipped nothing is posted: "), "{}", step.told());
    }
}

#[test]
fn a_comment_on_a_pull_request_is_answered_there() {
    let mut step = Step::new();
    step.event("issue_comment", &json!({"issue": {"number": 7, "pull_request": {}}}));
    step.publish().unwrap();
    assert_eq!(numbers(&step.fake), [7]);
}

#[test]
fn a_merge_of_the_head_is_of_the_head() {
    // As the event of the pull request says it itself.
    let step = Step::new();
    step.measured(MERGE);
    step.publish().unwrap();
    assert_eq!(step.fake.review().commit.as_deref(), Some(HEAD));
    // As GitHub has it now.
    let step = after_fork();
    step.measured(MERGE);
    step.fake.merge_commit(8, MERGE);
    step.publish().unwrap();
    assert_eq!(step.fake.review().commit.as_deref(), Some(HEAD));
    // By its parents.
    let step = after_fork();
    step.measured(MERGE);
    step.fake.commit(MERGE, &[BASE, HEAD]);
    step.publish().unwrap();
    assert_eq!(step.fake.review().commit.as_deref(), Some(HEAD));
    assert!(!step.fake.review().body.contains("moved on"));
}

#[test]
fn results_of_other_commits_are_refused() {
    for (measured, parents) in [
        (OTHER, None),
        (BASE, None),
        // A commit on top of the head is not of the pull request (yet), and neither is a merge of others.
        (OTHER, Some(&[HEAD][..])),
        (OTHER, Some(&[BASE, NEXT_HEAD][..])),
    ] {
        let step = after_fork();
        step.measured(measured);
        if let Some(parents) = parents {
            step.fake.commit(measured, parents);
        }
        let error = step.publish().unwrap_err().to_string();
        assert!(error.contains("the results are not of the pull request me/project#8"), "{error}");
        assert!(error.contains(HEAD) && error.contains(measured), "{error}");
        assert!(step.fake.reviews().is_empty());
        // They are in the summary nevertheless: that is of this run, not of the pull request.
        assert!(step.summary().contains("1 regressed"));
    }
}

#[test]
fn whoever_names_the_pull_request_may_publish_other_commits_and_readers_are_told() {
    let mut step = Step::new();
    step.settings.pull_request = Some(7);
    step.measured(OTHER);
    step.publish().unwrap();
    let review = step.fake.review();
    assert!(review.body.contains("not of this pull request's commits"), "{}", review.body);
    assert_eq!(review.commit, None);
}

#[test]
fn prebuilt_programs_are_of_no_pull_request() {
    let mut step = Step::new();
    step.measured("");
    let error = step.publish().unwrap_err().to_string();
    assert!(error.contains("what was measured is of no commit"), "{error}");
    step.settings.pull_request = Some(7);
    for run in [100, 101] {
        step.run(run);
        step.publish().unwrap();
    }
    let review = step.fake.review();
    assert!(review.body.contains("not of this pull request's commits.\n"), "{}", review.body);
    assert!(!review.body.contains("<code></code>"), "{}", review.body);
    assert_eq!(review.commit, None);
}

#[test]
fn readers_are_told_that_the_head_has_moved_on() {
    for event in ["pull_request", "workflow_run", "issue_comment"] {
        let mut step = if event == "workflow_run" { after_fork() } else { Step::new() };
        if event == "issue_comment" {
            step.event(event, &json!({"issue": {"number": 7, "pull_request": {}}}));
        }
        let number = if event == "workflow_run" { 8 } else { 7 };
        step.fake.move_head(number, NEXT_HEAD);
        step.publish().unwrap();
        let review = step.fake.review();
        assert!(review.body.contains("has moved on"), "{}", review.body);
        assert!(review.body.contains(&HEAD[..9]) && review.body.contains(&NEXT_HEAD[..9]));
    }
    // Also if the old head is in the pull request no more: then GitHub takes no review of it.
    let step = after_fork();
    step.fake.force_head(8, NEXT_HEAD);
    step.publish().unwrap();
    assert!(step.fake.review().body.contains("has moved on"));
    assert_eq!(step.fake.review().commit, None);
}

#[test]
fn a_fork_that_is_gone_takes_nothing_with_it() {
    let step = Step::new();
    step.fake.delete_fork(7);
    step.publish().unwrap();
    assert_eq!(numbers(&step.fake), [7]);
}

#[test]
fn outside_of_a_workflow_the_pull_request_must_be_named() {
    let mut step = Step::new();
    for variable in ["GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH"] {
        step.variables.remove(variable);
    }
    let error = step.publish().unwrap_err().to_string();
    assert!(error.contains("--repo OWNER/NAME --pr NUMBER"), "{error}");
    step.settings.pull_request = Some(7);
    step.publish().unwrap();
    assert_eq!(numbers(&step.fake), [7]);
}
