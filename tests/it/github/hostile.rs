//! Results, names and branches made by somebody who means harm.

use cargo_bench_compare::system::ErrorKind;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::{Value, json};

use super::{HEAD, NEXT_HEAD, Step};
use crate::output::handmade::{results, simple};

/// Publishing is refused before anything is sent, and no line of the reason could be a command to the runner.
#[track_caller]
fn refused(step: &Step, why: &str) {
    let error = step.publish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let text = error.to_string();
    assert!(text.contains(why), "{why}: {text}");
    assert!(text.lines().all(|line| !line.trim_start().starts_with("::")), "{text}");
    assert!(text.len() < 10_000);
    assert!(step.fake.requests("").is_empty());
    assert_eq!(step.summary(), "");
}

#[test]
#[cfg(unix)]
fn a_link_to_another_file_is_not_followed() {
    let step = Step::new();
    let secret = step.path("secret");
    std::fs::rename(step.path("results.json"), &secret).unwrap();
    std::os::unix::fs::symlink(&secret, step.path("results.json")).unwrap();
    refused(&step, "is no regular file");
    std::fs::remove_file(step.path("results.json")).unwrap();
    std::fs::create_dir(step.path("results.json")).unwrap();
    refused(&step, "is no regular file");
}

#[test]
fn what_is_too_much_is_refused() {
    let step = Step::new();
    let file = std::fs::File::create(step.path("results.json")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    refused(&step, "has more than 64 MiB");
    for (field, count, why) in [
        ("revisions", 33, "more than 32 revisions"),
        ("measured", 20_001, "more than 20000 benchmarks"),
        ("failed", 2_001, "more than 2000 failures"),
        ("added", 20_001, "more than 20000 added"),
        ("removed", 20_001, "more than 20000 removed"),
        ("notes", 2_001, "more than 2000 notes"),
        ("set_aside", 2_001, "more than 2000 benchmarks that are set aside"),
    ] {
        let mut file = results(&["main", "HEAD"]);
        file[field] = json!(vec![0; count]);
        step.results(&file);
        refused(&step, why);
    }
}

#[test]
fn many_benchmarks_times_many_revisions_are_refused() {
    let labels: Vec<String> = (0..32).map(|number| format!("v{number}")).collect();
    let mut file = results(&labels.iter().map(String::as_str).collect::<Vec<_>>());
    file["measured"] = json!(vec![0; 2_000]);
    let step = Step::new();
    step.results(&file);
    refused(&step, "more than 50000 comparisons");
}

#[test]
fn what_is_no_results_file_is_refused() {
    let step = Step::new();
    let write = |text: &str| std::fs::write(step.path("results.json"), text).unwrap();
    write("");
    refused(&step, "not a results file");
    write(&"[".repeat(1_000_000));
    refused(&step, "not a results file");
    write(&format!("{{\"schema_version\": {}", "[".repeat(1_000_000)));
    refused(&step, "not a results file");
    std::fs::write(step.path("results.json"), [0xff, 0xfe]).unwrap();
    refused(&step, "cannot read the results");
    let mut file = results(&["main", "HEAD"]);
    file["revisions"][1]["commit"] = json!("../../user\n::set-output name=regressed::0");
    step.results(&file);
    refused(&step, "no commit id");
    // A name that is told in an error.
    let mut file = results(&["main", "HEAD"]);
    let mut bad = simple("x\n::set-output name=regressed::0", 12, 1.0, 0.01);
    bad["launches"][0]["values"] = json!([1.0]);
    file["measured"] = json!([bad]);
    step.results(&file);
    refused(&step, "1 values for 2 revisions");
    file["schema_version"] = json!("\n::error::\n");
    step.results(&file);
    refused(&step, "not a results file");
}

const NAMES: [&str; 12] = [
    "@everyone #1 GH-1 you/fork#2 :boom:",
    "--> <!-- cargo-bench-compare:end -->",
    "<!-- cargo-bench-compare:table {\"commit\":\"x\",\"run\":[999,1],\"answer\":\"fine\"} -->",
    "<!-- cargo-bench-compare:key Benchmarks -->",
    "[click](https://evil.example.org) ![x](https://evil.example.org/x.png)",
    "https://evil.example.org www.evil.example.org evil@example.org",
    "<img src=x onerror=alert(1)></details></code></td>",
    "``` \n```\n# heading",
    "a|b|c ~~x~~ **y** _z_",
    "</summary></details>\n\n> [!NOTE]",
    "\u{202e}gnp.exe\u{0}\u{1b}[2J",
    "::set-output name=regressed::0",
];

fn hostile() -> Value {
    let mut file = results(&["main\n\n# @everyone", "<!-- HEAD --> [x](https://evil.example.org)"]);
    let measured = NAMES
        .iter()
        .enumerate()
        .map(|(number, name)| simple(name, 12, [1.2, 0.8, 1.0][number % 3], 0.01));
    file["measured"] = json!(measured.collect::<Vec<_>>());
    let failure = |name: &&str| {
        json!({
            "side": "head", "revision": name, "package": name, "target": name, "benchmark": name,
            "error": name,
        })
    };
    file["failed"] = json!(NAMES.iter().map(failure).collect::<Vec<_>>());
    file["notes"] = json!(NAMES);
    file["command"] = json!(NAMES.join(" "));
    file["generator"] = json!(NAMES[4]);
    file["environment"]["cpu"] = json!(NAMES[6]);
    for revision in 0..2 {
        file["revisions"][revision]["rustc"] = json!(NAMES[4]);
    }
    file
}

#[test]
fn nothing_in_results_is_anything_but_text_in_the_review() {
    let mut step = Step::with(&hostile());
    step.publish().unwrap();
    step.push(NEXT_HEAD, 101);
    step.publish().unwrap();
    let body = step.fake.review().body;
    for text in [&body, &step.summary()] {
        let mut in_block = false;
        for event in Parser::new_ext(text, Options::ENABLE_GFM | Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Link { dest_url, .. }) => {
                    assert!(dest_url.starts_with("https://github.com/me/project/"), "{dest_url}");
                }
                Event::Start(Tag::Image { dest_url, .. }) => panic!("{dest_url}"),
                Event::Html(html) | Event::InlineHtml(html) => {
                    for bad in ["img", "onerror", "everyone", "evil"] {
                        assert!(!html.contains(bad), "{html}");
                    }
                }
                Event::Start(Tag::CodeBlock(_)) => in_block = true,
                Event::End(TagEnd::CodeBlock) => in_block = false,
                // Spans of code are no texts.
                Event::Text(text) if !in_block => {
                    for bad in ["evil", "@", "#1", "GH-1", ":boom:", "you/fork", "<", "::"] {
                        assert!(!text.contains(bad), "{text}");
                    }
                }
                _ => {}
            }
        }
    }
    // Both tables are there, and nothing has been taken for a third.
    let begins = "<!-- cargo-bench-compare:table ";
    assert_eq!(body.matches(begins).count(), 2, "{body}");
    assert_eq!(body.matches("<!-- cargo-bench-compare:end -->").count(), 2);
    assert!(
        !body.contains("[999,1]")
            || !body.contains("<!-- cargo-bench-compare:table {\"commit\":\"x\"")
    );
    let (opened, closed) = (body.matches("<details").count(), body.matches("</details>").count());
    assert!(opened > 2 && closed >= opened);
    assert_eq!(step.output("regressed").as_deref(), Some("4"));
    assert!(body.starts_with("<!-- cargo-bench-compare:key Benchmarks -->\n"));
}

#[test]
fn branches_and_titles_are_nothing_but_names() {
    let branch = "x\"$(touch pwned)&state=all#\u{1b}[2J/::error::@everyone";
    let mut step = Step::new();
    step.fake.with_pull_request(8, "you/fork", branch, HEAD);
    let run = json!({"workflow_run": {
        "id": 55, "event": "pull_request", "head_sha": HEAD, "head_branch": branch,
        "head_repository": {"full_name": "you/fork"}, "name": "</summary> @everyone\n::error::", "pull_requests": [],
    }});
    step.event("workflow_run", &run);
    step.publish().unwrap();
    let review = step.fake.review();
    assert_eq!(review.pull_request, 8);
    // The title of every pull request of the fake says this.
    for text in [&review.body, &step.told(), &step.summary()] {
        assert!(!text.contains("@everyone"), "{text}");
    }
    assert!(
        review.body.starts_with("<!-- cargo-bench-compare:key --summary---everyone---error-- -->")
    );
    // If there is none, the branch is told.
    step.fake.close(8);
    step.publish().unwrap();
    assert!(step.told().contains("no open pull request has the head you:x"), "{}", step.told());
    assert!(!step.told().contains('\u{1b}'));
}

#[test]
fn labels_do_not_become_outputs() {
    let mut file = results(&["main", "x\nend\nregressed<<x\n0\nx\n", "y"]);
    file["measured"] = json!([crate::output::handmade::measured(
        ["p", "t", "slow"],
        12,
        1000.0,
        &[1.2, 1.2],
        0.01
    )]);
    let step = Step::with(&file);
    step.publish().unwrap();
    assert_eq!(step.output("regressed").as_deref(), Some("2"));
    assert_eq!(step.output("summary").unwrap().lines().count(), 1);
}
