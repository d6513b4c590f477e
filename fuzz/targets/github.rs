//! An event of GitHub Actions, and a review of an earlier run that people have edited: the first line is the event's name,
//! the rest of it and of the review stand on either side of an empty line.
#![no_main]

use cargo_bench_compare::{report, system};
use libfuzzer_sys::fuzz_target;

// Compiled into the target itself: the rest of the module needs a client of HTTP, which takes minutes to compile.
#[allow(dead_code)]
#[path = "../../src/github/body.rs"]
mod body;
#[allow(dead_code)]
#[path = "../../src/github/event.rs"]
mod event;
#[allow(dead_code)]
#[path = "../../src/github/names.rs"]
mod names;

use body::{MOST_CHARACTERS, Section};
use event::{Context, Run};
use names::Key;

fuzz_target!(|text: &str| {
    let (name, text) = text.split_once('\n').unwrap_or_default();
    let (event, review) = text.split_once("\n\n").unwrap_or((text, text));
    read_event(name, event);
    add_to_review(review);
});

fn read_event(name: &str, event: &str) {
    let file = std::env::temp_dir().join(format!("event-{}.json", std::process::id()));
    std::fs::write(&file, event).expect("there is room for temporary files");
    let variable = |variable: &str| match variable {
        "GITHUB_REPOSITORY" => Some("me/project".to_owned()),
        "GITHUB_EVENT_NAME" => Some(name.to_owned()),
        "GITHUB_EVENT_PATH" => Some(file.display().to_string()),
        _ => None,
    };
    if let Ok(context) = Context::read(&variable, (None, None)) {
        // Nothing that an event says leads to another repository.
        assert_eq!(context.repository.to_string(), "me/project");
        context.run_address();
    }
}

fn add_to_review(review: &str) {
    let key: Key = "workflow".parse().expect("it is one");
    let run = Run { id: 5, attempt: 1, workflow: String::new() };
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let section = || Section::new(commit, Some(&run), Some("1 improved".to_owned()), "| a |");
    let once = body::add(&key, review, section());
    assert!(body::has_key(&once, &key));
    // In JSON a character can become six.
    assert!(review.len() > MOST_CHARACTERS / 8 || once.chars().count() <= MOST_CHARACTERS);
    // Where nothing had to be left out, the run is there, and is told once only. Line ends may have changed.
    if !once.contains("not kept here") && !review.contains('\r') {
        assert!(body::has_run(&once, Some(&run)));
        assert_eq!(body::add(&key, &once, section()), once);
    }
}
