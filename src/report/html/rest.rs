//! What belongs to the results and is no comparison: failures, what only one side has, and the circumstances.

use maud::{Markup, html};

use super::Section;
use crate::report::circumstances::{Circumstance, circumstances};
use crate::report::names::Naming;
use crate::report::text::{one_line, printable};
use crate::results::{Missing, Results, SetAside};

/// So many names are shown unfolded.
const UNFOLDED: usize = 20;

/// What could not be measured. Comes first on the page: nothing else tells that something is not there.
pub fn failed(results: &Results, naming: Naming) -> Option<Section> {
    let content = html! {
        ul.failures {
            @for failure in &results.failed {
                li {
                    strong {
                        (part_name(&failure.package, &failure.target, failure.benchmark.as_deref(), naming))
                    }
                    ", on " (one_line(&failure.side)) " (" (one_line(&failure.revision)) ")"
                    pre tabindex="0" aria-label="What happened" { (printable(&failure.error)) }
                }
            }
        }
    };
    let section = Section { id: "failed", title: "Failed", content };
    (!results.failed.is_empty()).then_some(section)
}

/// The name of a benchmark, or of a target with all that it has.
fn part_name(package: &str, target: &str, benchmark: Option<&str>, naming: Naming) -> String {
    match benchmark {
        Some(benchmark) => naming.name(package, target, benchmark),
        None => one_line(&format!("all of {package}::{target}")),
    }
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
    let names = naming.missing(list, results);
    let items = html! { ul.names { @for name in &names { li { (name) } } } };
    match names.len() {
        0 => None,
        1..=UNFOLDED => Some(items),
        many => Some(html! { details { summary { (many) " benchmarks" } (items) } }),
    }
}

/// What was set aside, and why.
pub fn set_aside(results: &Results, naming: Naming) -> Option<Section> {
    let content = html! {
        ul.names {
            @for SetAside { package, target, benchmark, reason } in &results.set_aside {
                li { (part_name(package, target, benchmark.as_deref(), naming)) ": " (one_line(reason)) }
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
