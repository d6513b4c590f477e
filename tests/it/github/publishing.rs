//! What is posted, updated and kept.

use cargo_bench_compare::github::Mode;
use serde_json::json;

use super::fake::BOT;
use super::{BASE, HEAD, NEXT_HEAD, Step};
use crate::output::handmade::{results, simple};

#[test]
fn the_report_is_posted_as_a_review_with_the_run_that_measured() {
    let step = Step::new();
    step.publish().unwrap();
    let review = step.fake.review();
    assert_eq!(review.commit.as_deref(), Some(HEAD));
    for part in [
        "1 regressed",
        "parse",
        "https://github.com/me/project/actions/runs/100/attempts/1",
        &HEAD[..9],
        &BASE[..9],
    ] {
        assert!(review.body.contains(part), "{part}:\n{}", review.body);
    }
    assert_eq!(step.output("regressed").as_deref(), Some("1"));
    assert_eq!(step.output("improved").as_deref(), Some("0"));
    assert_eq!(step.output("summary").as_deref(), Some("1 regressed"));
    assert_eq!(step.output("pull-request").as_deref(), Some("7"));
    assert_eq!(step.output("url").unwrap(), "https://github.com/me/project/pull/7#post-1");
    assert_eq!(step.output("results").unwrap(), step.path("results.json").display().to_string());
    assert!(step.summary().contains("1 regressed"), "{}", step.summary());
    assert_eq!(
        step.told(),
        format!("Summarized on the page of this job\nPosted {}", step.output("url").unwrap())
    );
}

#[test]
fn each_push_updates_the_review_and_folds_the_earlier_table() {
    let mut step = Step::new();
    step.publish().unwrap();
    step.push(NEXT_HEAD, 101);
    let mut next = results(&["main", "HEAD"]);
    next["measured"] = json!([simple("parse", 12, 0.8, 0.01)]);
    step.results(&next);
    step.measured(NEXT_HEAD);
    step.publish().unwrap();
    let body = step.fake.review().body;
    let (new, old) = body.split_once("#### Earlier").expect("something is folded");
    assert!(new.contains("1 improved") && !new.contains("1 regressed"), "{body}");
    assert!(old.contains("<details>") && old.contains("1 regressed"), "{body}");
    assert!(new.contains("runs/101/") && old.contains("runs/100/"), "{body}");
    assert_eq!(step.fake.requests("PUT"), ["PUT /repos/me/project/pulls/7/reviews/1"]);
}

#[test]
fn publishing_again_sends_nothing() {
    let step = Step::new();
    step.publish().unwrap();
    step.publish().unwrap();
    step.fake.review();
    assert!(step.fake.requests("PUT").is_empty());
    assert!(step.told().ends_with("Unchanged https://github.com/me/project/pull/7#post-1"));
}

#[test]
fn workflows_and_keys_have_a_review_each() {
    let mut step = Step::new();
    step.publish().unwrap();
    step.set("GITHUB_WORKFLOW", "Others");
    step.publish().unwrap();
    step.settings.key = Some("Benchmarks".parse().unwrap());
    step.publish().unwrap();
    assert_eq!(step.fake.reviews().len(), 2);
    step.settings.key = Some("second".parse().unwrap());
    step.publish().unwrap();
    assert!(step.fake.reviews()[2].body.contains("### Benchmarks `second`\n"));
}

#[test]
fn a_full_summary_is_told_and_left_as_it_is() {
    let step = Step::new();
    let full = "x".repeat((1 << 20) - 500);
    std::fs::write(step.path("summary"), &full).unwrap();
    step.publish().unwrap();
    assert_eq!(step.summary(), full);
    assert!(step.told().contains("warning: the summary of this job is full"), "{}", step.told());
    // With room for a part of it.
    std::fs::write(step.path("summary"), &full[..full.len() - 2000]).unwrap();
    step.publish().unwrap();
    assert!(step.summary().len() > full.len() - 2000 && step.summary().len() <= 1 << 20);
}

#[test]
fn only_the_own_review_is_touched_whatever_others_paste() {
    let step = Step::new();
    step.publish().unwrap();
    let own = step.fake.review().body;
    for author in [Some("somebody"), Some("github-actions"), None] {
        step.fake.write_review(author, &own);
    }
    // Another workflow that quotes it.
    step.fake.write_review(Some(BOT), &format!("As seen above:\n\n{own}"));
    std::fs::write(step.path("summary"), "").unwrap();
    let mut next = results(&["main", "HEAD"]);
    next["measured"] = json!([simple("unlike", 12, 1.3, 0.01)]);
    step.results(&next);
    step.measured(HEAD);
    step.publish().unwrap();
    let reviews = step.fake.reviews();
    assert_eq!(reviews.len(), 5);
    assert!(reviews[0].body.contains("unlike"));
    assert!(reviews[1..4].iter().all(|review| review.body == own));
    assert!(!reviews[4].body.contains("unlike"));
}

#[test]
fn a_users_own_token_updates_that_users_review() {
    let mut step = Step::new();
    step.fake.log_in("Me");
    step.publish().unwrap();
    step.push(NEXT_HEAD, 101);
    step.publish().unwrap();
    assert_eq!(step.fake.review().author.as_deref(), Some("Me"));
    // The token of an app, which may not ask who it is.
    let mut step = Step::new();
    step.fake.write_as("our-app[bot]");
    step.publish().unwrap();
    assert!(step.told().contains("only with --author our-app[bot]"), "{}", step.told());
    step.settings.author = Some("our-app[bot]".to_owned());
    step.publish().unwrap();
    step.push(NEXT_HEAD, 101);
    step.publish().unwrap();
    step.fake.review();
    assert_eq!(step.told().matches("--author").count(), 1);
}

#[test]
fn the_own_review_is_found_behind_hundreds_of_others() {
    let mut step = Step::new();
    for number in 0..230 {
        step.fake.write_review(Some("somebody"), &format!("review {number}"));
    }
    step.publish().unwrap();
    step.push(NEXT_HEAD, 101);
    step.publish().unwrap();
    assert_eq!(step.fake.reviews().len(), 231);
}

#[test]
fn a_comment_is_updated_too_and_made_anew_if_it_was_deleted() {
    let mut step = Step::new();
    step.settings.mode = Mode::Comment;
    step.publish().unwrap();
    step.push(NEXT_HEAD, 101);
    step.publish().unwrap();
    assert!(step.fake.reviews().is_empty());
    let [comment] = &step.fake.comments()[..] else { panic!() };
    assert!(comment.body.contains("#### Earlier"));
    step.fake.delete_comments();
    step.publish().unwrap();
    assert_eq!(step.fake.comments().len(), 1);
}

#[test]
fn new_reviews_are_one_for_each_run() {
    let mut step = Step::new();
    step.settings.mode = Mode::New;
    step.publish().unwrap();
    step.publish().unwrap();
    step.push(NEXT_HEAD, 101);
    step.publish().unwrap();
    let reviews = step.fake.reviews();
    assert_eq!(reviews.len(), 2);
    assert!(reviews.iter().all(|review| !review.body.contains("#### Earlier")));
}

#[test]
fn an_announcement_is_filled_in() {
    for mode in [Mode::Review, Mode::Comment, Mode::New] {
        let mut step = Step::new();
        step.settings.mode = mode;
        let file = step.settings.file.take();
        step.publish().unwrap();
        let post = || step.fake.reviews().into_iter().chain(step.fake.comments()).next().unwrap();
        assert!(post().body.contains("have been started"), "{}", post().body);
        assert!(post().body.contains("actions/runs/100/attempts/1"), "{}", post().body);
        assert!(!step.path("summary").exists());
        step.settings.file = file;
        step.publish().unwrap();
        let posts = [step.fake.reviews(), step.fake.comments()].concat();
        assert_eq!(posts.len(), 1);
        assert!(posts[0].body.contains("1 regressed"));
        assert!(!posts[0].body.contains("have been started"), "{}", posts[0].body);
    }
}

#[test]
fn nothing_is_posted_if_only_the_summary_is_wanted() {
    let mut step = Step::new();
    step.settings.mode = Mode::None;
    step.variables.remove("GITHUB_TOKEN");
    step.set("RUNNER_TEMP", &step.directory.path().display().to_string());
    step.publish().unwrap();
    assert!(step.summary().contains("1 regressed"));
    let report = step.output("report").unwrap();
    assert!(std::fs::read_to_string(report).unwrap().contains("1 regressed"));
    assert!(step.fake.requests("").is_empty());
}

#[test]
fn a_dry_run_shows_what_it_would_send_and_sends_nothing() {
    let mut step = Step::new();
    step.publish().unwrap();
    step.push(NEXT_HEAD, 101);
    step.settings.dry_run = true;
    let before = step.summary();
    step.publish().unwrap();
    let shown = step.shown.borrow().clone();
    let (request, body) = shown.split_once('\n').unwrap();
    assert_eq!(request, "PUT /repos/me/project/pulls/7/reviews/1");
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert!(body["body"].as_str().unwrap().contains("#### Earlier"));
    assert!(!step.fake.review().body.contains("#### Earlier"));
    assert_eq!(step.summary(), before);

    // Without anything but the file and the number.
    step.variables.clear();
    step.set("GITHUB_API_URL", "http://127.0.0.1:1");
    step.settings.repository = Some("me/project".parse().unwrap());
    step.settings.pull_request = Some(7);
    step.settings.patience.pauses.clear();
    step.shown.take();
    step.publish().unwrap();
    assert!(step.shown.borrow().starts_with("POST /repos/me/project/pulls/7/reviews\n"));
    assert!(step.told().contains("shown as if nothing had been posted yet"), "{}", step.told());
}
