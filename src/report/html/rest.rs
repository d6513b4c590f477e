//! What belongs to the results and is no comparison: failures, what only one side has, and the circumstances.

use maud::{Markup, html};

use super::Section;
use crate::report::circumstances::{Circumstance, circumstances};
use crate::report::failures::reasons;
use crate::report::names::Naming;
use crate::report::text::{one_line, printable};
use crate::results::{Failure, Missing, Results, SetAside};

/// So many names are shown unfolded.
pub const UNFOLDED: usize = 20;

/// What could not be measured. Comes first on the page: nothing else tells that something is not there.
pub fn failed(results: &Results, naming: Naming) -> Option<Section> {
    let name = |failure: &Failure| {
        naming.part(&failure.package, &failure.target, failure.benchmark.as_deref())
    };
    let content = html! {
        ul.failures {
            @for reason in reasons(results) {
                li {
                    strong { (reason.several().unwrap_or_else(|| name(reason.first))) }
                    ", on " (one_line(&reason.first.side)) " (" (one_line(&reason.first.revision)) ")"
                    pre tabindex="0" aria-label="What happened" { (printable(&reason.first.error)) }
                    @if let Some(several) = reason.several() {
                        (names(&reason.failures().map(name).collect::<Vec<_>>(), &several))
                    }
                }
            }
        }
    };
    let section = Section { id: "failed", title: "Failed", content };
    (!results.failed.is_empty()).then_some(section)
}

/// Benchmarks that the reference has not got.
pub fn added(results: &Results, naming: Naming) -> Option<Section> {
    let list = list(&results.added, results, naming)?;
    let content = html! { p.hint { "There is nothing to compare them with." } (list) };
    Some(Section { id: "added", title: "Added", content })
}

/// Benchmarks that only the reference has.
pub fn removed(results: &Results, naming: Naming) -> Option<Section> {
    let content = list(&results.removed, results, naming)?;
    Some(Section { id: "removed", title: "Removed", content })
}

fn list(list: &[Missing], results: &Results, naming: Naming) -> Option<Markup> {
    let title = format!("{} benchmarks", list.len());
    (!list.is_empty()).then(|| names(&naming.missing(list, results), &title))
}

/// A list, folded below its title if it is long.
fn names(names: &[String], title: &str) -> Markup {
    let items = html! { ul.names { @for name in names { li { (name) } } } };
    if names.len() <= UNFOLDED {
        return items;
    }
    html! { details { summary { (title) } (items) } }
}

/// What was set aside, and why.
pub fn set_aside(results: &Results, naming: Naming) -> Option<Section> {
    let content = html! {
        ul.names {
            @for SetAside { package, target, benchmark, reason } in &results.set_aside {
                li { (naming.part(package, target, benchmark.as_deref())) ": " (one_line(reason)) }
            }
        }
    };
    let section = Section { id: "set-aside", title: "Set aside", content };
    (!results.set_aside.is_empty()).then_some(section)
}

/// Revisions, machine, method and command.
pub fn circumstances_section(results: &Results) -> Section {
    let content = html! {
        dl.circumstances {
            @for Circumstance { title, text } in circumstances(results) {
                div {
                    dt { (title) }
                    dd {
                        @if title == "command" { code { (printable(&text)) } } @else { (printable(&text)) }
                    }
                }
            }
            @for (title, text) in more(results) {
                div { dt { (title) } dd { (text) } }
            }
        }
    };
    Section { id: "circumstances", title: "How it was measured", content }
}

/// What a page has room for besides.
fn more(results: &Results) -> Vec<(&'static str, String)> {
    let of_git = results.revisions.iter().filter(|revision| revision.program.is_none());
    let commits: Vec<String> =
        of_git.map(|r| one_line(&format!("{} {}", r.label, r.commit))).collect();
    let mut more = Vec::new();
    if !commits.is_empty() {
        more.push(("commits", commits.join("\n")));
    }
    more.extend(results.environment.kernel.as_deref().map(|kernel| ("kernel", one_line(kernel))));
    more.push(("seed", results.seed.to_string()));
    more.push(("made by", one_line(&results.generator)));
    more
}
