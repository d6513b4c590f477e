//! What is behind one row: the pairs, the distributions, the figures, and the raw numbers.

use std::fmt::Write as _;

use maud::{Markup, html};

use crate::model::Percent;
use crate::report::text::{one_line, shortened};
use crate::results::{Comparison, Measured, Method, Results};
use crate::stats::StoppedBy;

use super::plot::{Run, Side, Strip, distribution, pairs};
use super::runs::{machine, machines, runs};
use super::{Benchmark, class, position, side_class};

/// The details of one benchmark.
pub fn details(benchmark: &Benchmark, results: &Results) -> Markup {
    let measured: Vec<&Comparison> =
        benchmark.comparisons.iter().copied().filter(|c| !c.log_ratios.is_empty()).collect();
    let runs: Vec<Vec<Run>> =
        measured.iter().map(|c| runs(c, benchmark.measured, results)).collect();
    let strips: Vec<Strip> =
        measured.iter().zip(&runs).map(|(c, runs)| strip(c, runs, results)).collect();
    html! {
        div.panel {
            @if !measured.is_empty() {
                figure {
                    figcaption { (caption(&runs)) }
                    (pairs(&strips))
                    (machines(&runs, results))
                }
                figure {
                    figcaption { (quantity(measured[0])) " of the launches" }
                    (distribution(&sides(&measured, benchmark.measured, results), &short_unit(measured[0])))
                }
            }
            div.figures {
                @for comparison in &benchmark.comparisons {
                    (figures(comparison, benchmark, results))
                }
                @if let Some(measured) = benchmark.measured.filter(|m| !m.launches.is_empty()) {
                    details.raw {
                        summary { "Raw numbers" }
                        pre tabindex="0" aria-label="Raw numbers, separated by tabs" {
                            (raw(measured, results))
                        }
                    }
                }
            }
        }
    }
}

/// What was measured, in words.
pub fn quantity(comparison: &Comparison) -> String {
    match comparison.unit.as_str() {
        "ns" => "Time per iteration".to_owned(),
        "bytes" => "Memory".to_owned(),
        unit => format!("Value in {}", shortened(unit, 40)),
    }
}

/// The unit, without what might break a line.
pub fn short_unit(comparison: &Comparison) -> String {
    one_line(&comparison.unit)
}

fn caption(runs: &[Vec<Run>]) -> &'static str {
    if runs.iter().any(|runs| runs.len() > 1) {
        "Improvement of the launch pairs, in time order within each run"
    } else {
        "Improvement of the launch pairs, in time order"
    }
}

fn strip<'a>(comparison: &'a Comparison, runs: &'a [Run], results: &Results) -> Strip<'a> {
    let improvement = |d: &f64| Percent::improvement_from_log_ratio(*d).value();
    Strip {
        label: &comparison.head.label,
        class: head_class(comparison, results),
        runs,
        improvements: comparison.log_ratios.iter().map(improvement).collect(),
        estimate: comparison.improvement_percent.map(Percent::value),
        interval: comparison.interval_percent,
        margin: comparison.margin_percent,
    }
}

/// All sides with the launches in which they were measured.
fn sides<'a>(
    compared: &[&'a Comparison],
    measured: Option<&Measured>,
    results: &Results,
) -> Vec<Side<'a>> {
    let values = |position: usize| -> Vec<f64> {
        let launches = measured.iter().flat_map(|measured| &measured.launches);
        let place = measured.map_or(position, |measured| measured.measured_as(position));
        launches.filter_map(|launch| *launch.values.get(place)?).collect()
    };
    let reference = measured.map_or(0, |measured| measured.reference);
    let (label, class) = (&compared[0].base.label, side_class(reference));
    let base = Side { label, class, values: values(reference) };
    let heads = compared.iter().map(|comparison| Side {
        label: &comparison.head.label,
        class: head_class(comparison, results),
        values: values(position(results, &comparison.head.label)),
    });
    std::iter::once(base).chain(heads).collect()
}

/// The colour of the verdict; where there are several revisions, each has its own.
fn head_class(comparison: &Comparison, results: &Results) -> &'static str {
    if results.revisions.len() > 2 {
        side_class(position(results, &comparison.head.label))
    } else {
        class(comparison.verdict)
    }
}

fn figures(comparison: &Comparison, benchmark: &Benchmark, results: &Results) -> Markup {
    let several = results.revisions.len() > 2;
    let facts = facts(comparison, benchmark.measured, results);
    html! {
        @if several { h3 { (one_line(&comparison.head.label)) } }
        @if !facts.is_empty() {
            dl.facts {
                @for (name, value) in facts {
                    div { dt { (name) } dd { (value) } }
                }
            }
        }
        @for note in &comparison.notes {
            p.note { (one_line(note)) }
        }
    }
}

fn facts(
    comparison: &Comparison,
    measured: Option<&Measured>,
    results: &Results,
) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some([low, high]) = comparison.interval_percent {
        facts.push(("95 % interval", format!("{} to {}", percent(low), percent(high))));
    }
    for (name, accuracy) in [
        ("accuracy (**)", comparison.accuracy_percent.at_99),
        ("accuracy (***)", comparison.accuracy_percent.at_999),
    ] {
        facts.extend(accuracy.map(|accuracy| (name, format!("±{:.2}%", accuracy.value()))));
    }
    facts.extend(throughput(comparison).map(|text| ("throughput", text)));
    let probability = |p: f64| if p < 0.001 { format!("{p:.1e}") } else { format!("{p:.3}") };
    facts.extend(comparison.p_value.map(|p| ("p", probability(p))));
    facts.extend(comparison.q_value.map(|q| ("q", probability(q))));
    if comparison.pairs > 0 {
        facts.push(("launch pairs", comparison.pairs.to_string()));
    }
    if comparison.margin_percent != results.margin_percent {
        facts.push(("margin of its own", format!("±{}", comparison.margin_percent)));
    }
    if let [only] = runs(comparison, measured, results)[..] {
        let Run { number, .. } = only;
        let run = format!("{number} of {}: {}", results.parts.len(), machine(number, results));
        facts.push(("run", run));
    }
    facts.push(("measured", method(comparison.method).to_owned()));
    facts.extend(comparison.stopped_by.map(|by| ("stopped", stopped(by).to_owned())));
    facts.extend(
        measured
            .and_then(|m| m.source.as_ref())
            .map(|place| ("source", one_line(&format!("{}:{}", place.path, place.line)))),
    );
    facts
}

/// What both sides get done in a second, if the benchmark says what an iteration works on.
fn throughput(comparison: &Comparison) -> Option<String> {
    let throughput = comparison.throughput.as_ref().filter(|_| comparison.unit == "ns")?;
    let rate =
        |nanoseconds: f64| per_second(throughput.amount / nanoseconds * 1e9, &throughput.unit);
    let (base, head) = (comparison.base.nanoseconds?, comparison.head.nanoseconds?);
    Some(format!("{} \u{2192} {}", rate(base), rate(head)))
}

/// `1.50 GB/s`, `20.0 million items/s`.
fn per_second(rate: f64, unit: &str) -> String {
    let (scale, bytes, others) = match rate {
        rate if rate >= 1e9 => (1e9, "GB", "billion "),
        rate if rate >= 1e6 => (1e6, "MB", "million "),
        rate if rate >= 1e3 => (1e3, "kB", "thousand "),
        _ => (1.0, "B", ""),
    };
    let number = rate / scale;
    let decimals = if number >= 100.0 { 0 } else { 1 + usize::from(number < 10.0) };
    match unit {
        "bytes" => format!("{number:.decimals$} {bytes}/s"),
        unit => format!("{number:.decimals$} {others}{}/s", shortened(unit, 30)),
    }
}

fn percent(value: f64) -> String {
    super::overview::signed(&format!("{value:.2} %"))
}

fn method(method: Method) -> &'static str {
    match method {
        Method::Lockstep => "in step",
        Method::Process => "one side after the other",
        Method::Count => "counted",
        Method::None => "not at all: identical code",
    }
}

fn stopped(by: StoppedBy) -> &'static str {
    match by {
        StoppedBy::Efficacy => "the difference was beyond doubt",
        StoppedBy::Precision => "precise enough for the margin",
        StoppedBy::Equivalence => "equivalent within the margin",
        StoppedBy::Budget => "all pairs were measured",
        StoppedBy::Runs => "all pairs that were asked for",
        StoppedBy::TimeLimit => "the time was up",
    }
}

/// One line a launch group, separated by tabs, so that they can be pasted into a spreadsheet.
fn raw(measured: &Measured, results: &Results) -> String {
    let is_merged = results.parts.len() > 1;
    let mut text = String::from(if is_merged { "run\tlaunch" } else { "launch" });
    for revision in &results.revisions {
        _ = write!(text, "\t{}", shortened(&revision.label, 14));
    }
    text.push('\n');
    for launch in &measured.launches {
        if is_merged {
            _ = write!(text, "{}\t", launch.part + 1);
        }
        _ = write!(text, "{}", launch.group);
        for value in &launch.values {
            text.push('\t');
            if let Some(value) = value {
                text += &significant(*value);
            }
        }
        text.push('\n');
    }
    text
}

/// Six digits: what a clock and a scheduler leave of a measurement is less.
fn significant(value: f64) -> String {
    if !(1e-4..1e9).contains(&value.abs()) {
        return format!("{value:.5e}");
    }
    let before = value.abs().log10().floor() as i32 + 1;
    format!("{value:.*}", (6 - before).clamp(0, 9) as usize)
}

#[cfg(test)]
mod tests {
    use super::{per_second, significant};

    #[test]
    fn rates_are_told_in_words_or_units() {
        for (rate, unit, text) in [
            (1.5e9, "bytes", "1.50 GB/s"),
            (999.4, "bytes", "999 B/s"),
            (2e7, "items", "20.0 million items/s"),
            (3.0, "items", "3.00 items/s"),
        ] {
            assert_eq!(per_second(rate, unit), text);
        }
    }

    #[test]
    fn raw_numbers_have_six_digits() {
        for (value, text) in [
            (1234.56789, "1234.57"),
            (0.012_345_678, "0.0123457"),
            (123_456_789.0, "123456789"),
            (1.5, "1.50000"),
            (1e-9, "1.00000e-9"),
            (2e12, "2.00000e12"),
        ] {
            assert_eq!(significant(value), text);
        }
    }
}
