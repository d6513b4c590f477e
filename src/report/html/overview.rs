//! The table of all comparisons with the forest plot in it, and below each benchmark its details.

use maud::{Markup, html};

use crate::report::cells::Cells;
use crate::report::text::{one_line, shortened};
use crate::report::variant::Variant;
use crate::results::{Comparison, Results};

use super::plot::Forest;
use super::{Benchmark, Section, class, details};

/// The section with the table, if anything was compared.
pub fn section(
    results: &Results,
    variants: &[Variant],
    benchmarks: &[Benchmark],
    forest: &Forest,
) -> Option<Section> {
    let several = variants.len() > 1;
    let content = html! {
        (toolbar(benchmarks.len()))
        table.comparisons.several[several] {
            (caption(results))
            (head(forest, several))
            @for (index, benchmark) in benchmarks.iter().enumerate() {
                (body(index, benchmark, results, forest, several))
            }
        }
        p #nothing-found hidden { "No benchmark is like that." }
    };
    let section = Section { id: "comparisons", title: "Comparisons", content };
    (!benchmarks.is_empty()).then_some(section)
}

/// Shown by the script, which makes it work.
fn toolbar(count: usize) -> Markup {
    let verdicts = ["regressed", "improved", "inconclusive", "equivalent", "identical"];
    html! {
        form #toolbar role="search" hidden {
            label { "Search " input #search type="search" autocomplete="off" spellcheck="false"; }
            label { "Verdict "
                select #verdict {
                    option value="" { "all" }
                    @for verdict in verdicts {
                        option value=(verdict) {
                            (if verdict == "identical" { "identical code" } else { verdict })
                        }
                    }
                }
            }
            output #shown for="search verdict" { (count) " benchmarks" }
        }
    }
}

fn caption(results: &Results) -> Markup {
    let margin = results.margin_percent;
    let own_margins = results.comparisons.iter().any(|c| c.margin_percent != margin);
    html! {
        caption {
            "Improvement is base time / head time \u{2212} 1: positive is faster. Bars are 95 % confidence \
            intervals, and the shaded band is the margin of ±" (margin)
            @if own_margins { "; dashed where a benchmark has its own" }
            ". Stars and accuracies are at 95 (*), 99 (**) and 99.9 % (***). Open a benchmark to see its launch pairs."
        }
    }
}

fn head(forest: &Forest, several: bool) -> Markup {
    html! {
        thead {
            tr {
                th.name scope="col" data-sort="name" { "Benchmark" }
                @if several { th.revision scope="col" { "Revision" } }
                th.plot scope="col" { span.sr { "Interval" } (forest.axis()) }
                th.number.improvement scope="col" data-sort="improvement" { "Improvement" }
                th.stars scope="col" data-sort="p" { "Confidence" }
                th.number.accuracy scope="col" { "Accuracy (*)" }
                th.number.accuracy.wide scope="col" { "(**)" }
                th.number.accuracy.wide scope="col" { "(***)" }
                th.number scope="col" data-sort="base" { "Base" }
                th.number scope="col" data-sort="head" { "Head" }
                th.verdict scope="col" { "Verdict" }
            }
        }
    }
}

/// Under which the benchmark in this place is linked.
pub fn id(index: usize) -> String {
    format!("b{}", index + 1)
}

/// One benchmark: a row for each comparison, and one that is shown while the name is open.
fn body(
    index: usize,
    benchmark: &Benchmark,
    results: &Results,
    forest: &Forest,
    several: bool,
) -> Markup {
    let comparisons = &benchmark.comparisons;
    let keys = |of: fn(&Comparison) -> Option<f64>| {
        let values: Vec<String> = comparisons.iter().filter_map(|c| of(c)).map(sort_key).collect();
        values.join(" ")
    };
    let mut verdicts: Vec<&str> = comparisons.iter().map(|c| class(c.verdict)).collect();
    verdicts.dedup();
    html! {
        tbody id=(id(index)) data-verdict=(verdicts.join(" "))
            data-improvement=(keys(|c| Some(c.improvement_percent?.value()))) data-p=(keys(|c| c.p_value))
            data-base=(keys(|c| c.base.nanoseconds)) data-head=(keys(|c| c.head.nanoseconds)) {
            @for (row, comparison) in comparisons.iter().enumerate() {
                tr class=(class(comparison.verdict)) {
                    @if row == 0 {
                        th.name scope="rowgroup" rowspan=[(comparisons.len() > 1).then_some(comparisons.len())] {
                            details { summary { (breakable(&benchmark.name)) } }
                        }
                    }
                    @if several { td.revision { (breakable(&one_line(&comparison.head.label))) } }
                    (cells(comparison, forest))
                }
            }
            tr.details { td colspan=(10 + usize::from(several)) { (details::details(benchmark, results)) } }
        }
    }
}

fn cells(comparison: &Comparison, forest: &Forest) -> Markup {
    let cells = Cells::of(comparison);
    let [at_95, at_99, at_999] = cells.accuracies;
    html! {
        td.plot { (forest.row(comparison)) }
        td.number.improvement { (signed(&cells.improvement)) }
        td.stars { (cells.confidence) }
        td.number.accuracy { (at_95) }
        td.number.accuracy.wide { (at_99) }
        td.number.accuracy.wide { (at_999) }
        td.number.base { (shortened(&cells.base, LONGEST_VALUE)) }
        td.number.head { (shortened(&cells.head, LONGEST_VALUE)) }
        td.verdict { (cells.verdict) }
    }
}

/// With a sign either way: `+0.50 %`, `−16.67 %`; but `0.00 %` has none.
pub fn signed(improvement: &str) -> String {
    let number = improvement.trim_start_matches('-');
    if !number.contains(|c: char| ('1'..='9').contains(&c)) {
        return number.to_owned();
    }
    let sign = if number.len() < improvement.len() { '\u{2212}' } else { '+' };
    format!("{sign}{number}")
}

/// Names up to this length have room in one line.
const ONE_LINE: usize = 24;

/// A name that is broken where its parts end, if it has to be broken. Short names have no such places, because
/// screen readers may take them for spaces.
pub fn breakable(name: &str) -> Markup {
    let ends_part =
        |c: char, next: Option<&char>| "/:_,.<(".contains(c) && next.is_some_and(|next| *next != c);
    let mut characters = name.chars().peekable();
    let mut parts = vec![String::new()];
    while let Some(c) = characters.next() {
        parts.last_mut().expect("there is always one").push(c);
        if ends_part(c, characters.peek()) {
            parts.push(String::new());
        }
    }
    html! {
        @if name.chars().count() <= ONE_LINE {
            (name)
        } @else {
            @for (index, part) in parts.iter().enumerate() {
                @if index > 0 { wbr; }
                (part)
            }
        }
    }
}

/// What a unit may take of a row.
const LONGEST_VALUE: usize = 28;

/// Enough digits to sort by.
fn sort_key(value: f64) -> String {
    format!("{value:.4e}").replace("e0", "")
}
