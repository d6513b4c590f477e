//! What is said on GitHub: the report of `report`, and a few sentences of its own around it. Pure.

use crate::report::{MarkdownOptions, markdown, short_commit, variants};
use crate::results::Results;

use super::event::Context;
use super::names::Key;
use super::pull_request::Measured;

/// The heading of everything that is posted. A key that was given tells several of them apart for readers, too.
fn heading(key: Option<&Key>) -> String {
    let key = key.map(|key| format!(" `{key}`")).unwrap_or_default();
    format!("### Benchmarks{key}\n\n")
}

/// The whole report as Markdown, in at most `room` bytes. `key` is the one that was given.
pub fn whole(results: &Results, context: &Context, key: Option<&Key>, room: usize) -> String {
    let heading = heading(key);
    let Context { server, repository, .. } = context;
    let options = MarkdownOptions {
        repository_url: Some(format!("{server}/{repository}")),
        ci_url: context.run_address(),
        limit: room.saturating_sub(heading.len()),
    };
    format!("{heading}{}", markdown(results, &options))
}

/// The answer, without names: how many benchmarks of each verdict.
pub fn counts(results: &Results) -> String {
    let sentences: Vec<String> = variants(results)
        .iter()
        .map(|variant| variant.tally.sentence(results.margin_percent))
        .collect();
    sentences.join("; ")
}

/// That benchmarks of a commit have started.
pub fn announcement(context: &Context, key: Option<&Key>, commit: &str) -> String {
    let heading = heading(key);
    let commit = short_commit(commit);
    let run = context.run_address().map(|run| format!(": [CI run]({run})")).unwrap_or_default();
    format!(
        "{heading}The benchmarks of {commit} have been started{run}. The results will be shown here.\n"
    )
}

/// What readers must know before they read the report: nothing, if it is of the pull request's present head.
pub fn remark(measured: &Measured, head: &str) -> String {
    let (commit, head) = (short_commit(measured.commit()), short_commit(head));
    match measured {
        Measured::Head(_) => String::new(),
        Measured::EarlierHead(_) => format!(
            "> [!NOTE]\n> The head of this pull request has moved on: what follows is of {commit}, and the head is \
             now {head}.\n\n"
        ),
        // Prebuilt programs are of no commit.
        Measured::Other(commit) if commit.is_empty() => {
            "> [!WARNING]\n> What follows is not of this pull request's commits.\n\n".to_owned()
        }
        Measured::Other(_) => format!(
            "> [!WARNING]\n> What follows is not of this pull request's commits: {commit} was measured, and the head \
             is {head}.\n\n"
        ),
    }
}
