//! The page as a whole: its head, the answers, and the sections in their order.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::plot::Forest;

use crate::results::{Comparison, Measured, Results};
use crate::stats::Verdict;

use super::super::names::Naming;
use super::super::order::{Sort, rows};
use super::super::text::one_line;
use super::super::variant::{Tally, Variant, answer, variants};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Renders the results as a page.
pub fn html(results: &Results) -> String {
    let naming = Naming::for_results(results);
    let forest = Forest::of(&results.comparisons, results.margin_percent);
    let style = forest.style() + STYLE;
    let variants = variants(results);
    let benchmarks = benchmarks(results, &variants, naming);
    let sections = [
        super::rest::failed(results, naming),
        super::overview::section(results, &variants, &benchmarks, &forest),
        super::sweeps::section(results, &benchmarks),
        super::rest::added(results, naming),
        super::rest::removed(results, naming),
        super::rest::set_aside(results, naming),
        Some(super::rest::circumstances_section(results)),
    ];
    let sections: Vec<Section> = sections.into_iter().flatten().collect();
    let title = title(&variants);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(&style));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(one_line(&results.generator));
                meta name="description" content=(one_line(&answer(results)));
                title { "Benchmarks: " (title) }
                link rel="icon" href=(ICON);
                style { (PreEscaped(&style)) }
            }
            body {
                header {
                    h1 { (title) }
                    (answers(&variants, results, &benchmarks))
                    (navigation(&sections))
                }
                main {
                    @for section in &sections {
                        section id=(section.id) aria-labelledby={ (section.id) "-title" } {
                            h2 id={ (section.id) "-title" } { (section.title) }
                            (section.content)
                        }
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// A part of the page with a title.
pub(super) struct Section {
    /// Under which it is linked.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) content: Markup,
}

fn navigation(sections: &[Section]) -> Markup {
    html! {
        nav aria-label="Sections" {
            ul {
                @for section in sections {
                    li { a href={ "#" (section.id) } { (section.title) } }
                }
            }
        }
    }
}

/// Nothing is loaded; the styles and the script are the ones that stand in the page; no form is sent.
fn policy(style: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src {}; script-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(style),
        hash(SCRIPT)
    )
}

/// Two bars, one shorter than the other. Without an icon in the page browsers ask the server for one.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
    %3Cpath fill='%23888' d='M2 2h4v12H2z'/%3E%3Cpath fill='%231a7f37' d='M10 7h4v7h-4z'/%3E%3C/svg%3E";

fn title(variants: &[Variant]) -> String {
    let Some(first) = variants.first() else { return "nothing compared".to_owned() };
    let labels: Vec<String> = variants.iter().map(|v| one_line(&v.revision.label)).collect();
    let labels = match labels.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => labels.concat(),
    };
    format!("{labels} against {}", one_line(&first.reference.label))
}

/// The answer in a sentence, for each revision.
fn answers(variants: &[Variant], results: &Results, benchmarks: &[Benchmark]) -> Markup {
    html! {
        @if let [only] = variants {
            p.answer { (sentence(&only.tally, results)) }
        } @else {
            dl.answers {
                @for variant in variants {
                    div {
                        dt { (one_line(&variant.revision.label)) }
                        dd.answer { (sentence(&variant.tally, results)) }
                    }
                }
            }
        }
        (gate(results, benchmarks))
        @if !results.complete {
            p.warning { "Incomplete: the run did not come to its end. This is what it had by then." }
        }
    }
}

/// So many benchmarks that trip the gate are named at the top.
const NAMED: usize = 10;

/// Which benchmarks trip the gate, if there is one and any does.
fn gate(results: &Results, benchmarks: &[Benchmark]) -> Markup {
    let trips = |benchmark: &Benchmark| benchmark.comparisons.iter().any(|c| c.trips_gate);
    let tripped: Vec<(usize, &Benchmark)> =
        benchmarks.iter().enumerate().filter(|(_, benchmark)| trips(benchmark)).collect();
    html! {
        @if results.trips_gate() {
            p.warning {
                "The gate is tripped by "
                @for (place, (index, benchmark)) in tripped.iter().take(NAMED).enumerate() {
                    @if place > 0 { ", " }
                    a href={ "#" (super::overview::id(*index)) } { (super::overview::breakable(&benchmark.name)) }
                }
                @if tripped.len() > NAMED { " and " (tripped.len() - NAMED) " more" }
                "."
            }
        }
    }
}

/// The tally's sentence, with what has changed marked.
fn sentence(tally: &Tally, results: &Results) -> Markup {
    let text = tally.sentence(results.margin_percent);
    let parts: Vec<&str> = text.split(", ").collect();
    html! {
        @for (index, part) in parts.iter().enumerate() {
            @if index > 0 { ", " }
            @let what = part.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
            @match what {
                "regressed" | "failed" => strong.regressed { (part) },
                "improved" => strong.improved { (part) },
                _ => (part),
            }
        }
    }
}

/// Everything that is known of one benchmark.
#[derive(Debug)]
pub(super) struct Benchmark<'a> {
    /// How it is called in this report.
    pub(super) name: String,
    /// Against the reference, in the order of the revisions; at least one.
    pub(super) comparisons: Vec<&'a Comparison>,
    /// What was measured.
    pub(super) measured: Option<&'a Measured>,
}

impl Benchmark<'_> {
    /// Where it stands: where that of its comparisons does that matters most.
    fn order(&self) -> (u8, f64) {
        let orders = self.comparisons.iter().map(|comparison| order_of(comparison));
        orders.fold((u8::MAX, 0.0), |first, other| if other < first { other } else { first })
    }
}

/// Regressions first, then improvements, each by their size; then what is open, and at last what has not changed.
fn order_of(comparison: &Comparison) -> (u8, f64) {
    let kind = match (comparison.verdict, comparison.within_margin) {
        (Verdict::Regressed, false) => 0,
        (Verdict::Improved, false) => 1,
        (Verdict::Regressed, true) => 2,
        (Verdict::Improved, true) => 3,
        (Verdict::Inconclusive, _) => 4,
        (Verdict::Equivalent, _) => 5,
        (Verdict::IdenticalCode, _) => 6,
    };
    let size = comparison.improvement_percent.map_or(0.0, |i| i.to_log_ratio().abs());
    let by_size = kind < 4 && size.is_finite();
    (kind, if by_size { -size } else { 0.0 })
}

/// All benchmarks that were compared, what matters most first.
fn benchmarks<'a>(
    results: &'a Results,
    variants: &[Variant<'a>],
    naming: Naming,
) -> Vec<Benchmark<'a>> {
    let measured: HashMap<[&str; 3], &Measured> = results
        .measured
        .iter()
        .map(|m| ([m.package.as_str(), m.target.as_str(), m.benchmark.as_str()], m))
        .collect();
    let mut benchmarks: Vec<Benchmark> = rows(variants, naming, Sort::Name)
        .into_iter()
        .filter_map(|row| {
            let comparisons: Vec<&Comparison> = row.present().collect();
            let first = comparisons.first()?;
            let key = [first.package.as_str(), first.target.as_str(), first.benchmark.as_str()];
            let measured = measured.get(&key).copied();
            Some(Benchmark { name: row.name, comparisons, measured })
        })
        .collect();
    // Names stay in order where nothing else decides.
    benchmarks.sort_by(|a, b| {
        let ((a_kind, a_size), (b_kind, b_size)) = (a.order(), b.order());
        a_kind.cmp(&b_kind).then(a_size.total_cmp(&b_size))
    });
    benchmarks
}

/// The class that gives a comparison its colour.
pub(super) fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Improved => "improved",
        Verdict::Regressed => "regressed",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
        Verdict::IdenticalCode => "identical",
    }
}

/// The class that gives a revision its colour, where several stand in one plot: the reference is grey.
pub(super) fn side_class(position: usize) -> &'static str {
    const CLASSES: [&str; 7] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6"];
    match position {
        0 => CLASSES[0],
        other => CLASSES[1 + (other - 1) % (CLASSES.len() - 1)],
    }
}

/// Where a revision stands among the revisions: the reference is at 0.
pub(super) fn position(results: &Results, label: &str) -> usize {
    results
        .revisions
        .iter()
        .skip(1)
        .position(|r| r.label == label)
        .map_or(0, |position| position + 1)
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
