//! The table on the terminal, with the answer above it and what one needs to judge it below.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use crate::results::{Comparison, Failure, Method, Missing, Results, Revision};
use crate::stats::{
    Confidence, Percent, Verdict, fewest_pairs_for, median, robust_standard_deviation,
};

use super::names::{Naming, natural_order};
use super::text::{one_line, printable};
use super::units::format_quantity;

/// How the table is to look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Table {
    /// Whether colours are used.
    pub color: bool,
}

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const QUIET: Style = Style::new().dimmed();
const PLAIN: Style = Style::new();

/// Renders the results as text, with a line feed at the end.
pub fn table(results: &Results, table: Table) -> String {
    let naming = Naming::for_results(results);
    let mut text = String::new();
    let several = results.revisions.len() > 2;
    for revision in results.revisions.iter().skip(1) {
        let label = revision.label.as_str();
        let mut comparisons: Vec<&Comparison> =
            results.comparisons.iter().filter(|c| !several || c.head.label == label).collect();
        let name = |c: &Comparison| naming.name(&c.package, &c.target, &c.benchmark);
        comparisons.sort_by(|a, b| natural_order(&name(a), &name(b)));
        if several {
            let reference = results.revisions[0].label.as_str();
            _ = writeln!(text, "{} against {}", one_line(label), one_line(reference));
        }
        _ = writeln!(text, "{}", answer(&comparisons, label, results));
        if !comparisons.is_empty() {
            text.push('\n');
            render_rows(&mut text, &comparisons, naming, results.margin_percent, table);
        }
        text.push('\n');
    }
    render_lists(&mut text, results, naming, table);
    render_footer(&mut text, results, table);
    text
}

/// The answer for one revision in a sentence: `2 regressed, 1 improved, 5 equivalent within 2 %`.
fn answer(comparisons: &[&Comparison], label: &str, results: &Results) -> String {
    let count = |verdict| comparisons.iter().filter(|c| c.verdict == verdict).count();
    let missing = |list: &[Missing]| list.iter().filter(|m| m.revision == label).count();
    // What failed at the reference cannot be compared with any revision.
    let failed = |failure: &&Failure| failure.revision == label || failure.side == "base";
    let margin = results.margin_percent;
    let mut parts: Vec<String> = [
        (count(Verdict::Regressed), "regressed".to_owned()),
        (count(Verdict::Improved), "improved".to_owned()),
        (count(Verdict::Equivalent), format!("equivalent within {margin}")),
        (count(Verdict::Inconclusive), "inconclusive".to_owned()),
        (count(Verdict::IdenticalCode), "identical code".to_owned()),
        (results.failed.iter().filter(failed).count(), "failed".to_owned()),
        (missing(&results.added), "added".to_owned()),
        (missing(&results.removed), "removed".to_owned()),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    if parts.is_empty() {
        parts.push("nothing was compared".to_owned());
    }
    if !results.complete {
        parts.push("incomplete: the run did not come to its end".to_owned());
    }
    parts.join(", ")
}

fn render_rows(
    text: &mut String,
    comparisons: &[&Comparison],
    naming: Naming,
    margin: Percent,
    table: Table,
) {
    let header =
        ["", "confidence", "improvement", "accuracy (*)", "(**)", "(***)", "base", "head", ""];
    let mut rows = vec![header.map(str::to_owned)];
    rows.extend(comparisons.iter().map(|comparison| row(comparison, naming, margin)));
    let mut widths = [0; 9];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    for (index, row) in rows.iter().enumerate() {
        let style = index.checked_sub(1).map_or(PLAIN, |index| style(comparisons[index]));
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column] - cell.width());
            // Names and verdicts are texts, everything between them numbers.
            match column {
                0 => _ = write!(line, " {cell}{padding}"),
                8 => _ = write!(line, "  {cell}"),
                6 | 7 => _ = write!(line, "  {padding}{cell}"),
                _ => _ = write!(line, " {padding}{cell}"),
            }
        }
        _ = writeln!(text, "{}", painted(line.trim_end(), style, table));
    }
}

fn row(comparison: &Comparison, naming: Naming, margin: Percent) -> [String; 9] {
    let measured = comparison.method != Method::None;
    let accuracy = |accuracy: Option<Percent>| match accuracy {
        Some(percent) => format!("±{:.2}%", percent.value()),
        None if measured => "-".to_owned(),
        None => String::new(),
    };
    let time = |nanoseconds: Option<f64>| {
        nanoseconds
            .map(|value| one_line(&format_quantity(value, &comparison.unit)))
            .unwrap_or_default()
    };
    let improvement = comparison
        .improvement_percent
        .map(|percent| format!("{:.2} %", percent.value()))
        .unwrap_or_default();
    [
        naming.name(&comparison.package, &comparison.target, &comparison.benchmark),
        comparison.confidence.stars().to_owned(),
        improvement,
        accuracy(comparison.accuracy_percent.at_95),
        accuracy(comparison.accuracy_percent.at_99),
        accuracy(comparison.accuracy_percent.at_999),
        time(comparison.base.nanoseconds),
        time(comparison.head.nanoseconds),
        verdict(comparison, margin),
    ]
}

fn verdict(comparison: &Comparison, margin: Percent) -> String {
    let within =
        if comparison.within_margin { format!(", by less than {margin}") } else { String::new() };
    match comparison.verdict {
        Verdict::Improved => format!("improved{within}"),
        Verdict::Regressed => format!("regressed{within}"),
        Verdict::Equivalent => format!("equivalent within {margin}"),
        Verdict::Inconclusive => match comparison.pairs_to_decide {
            Some(pairs) => format!("inconclusive; about {pairs} pairs would decide"),
            None => "inconclusive".to_owned(),
        },
        Verdict::IdenticalCode => "identical code".to_owned(),
    }
}

fn style(comparison: &Comparison) -> Style {
    match comparison.verdict {
        Verdict::Improved => GOOD,
        Verdict::Regressed => BAD,
        Verdict::Equivalent | Verdict::IdenticalCode => QUIET,
        Verdict::Inconclusive => PLAIN,
    }
}

fn render_lists(text: &mut String, results: &Results, naming: Naming, table: Table) {
    let several = results.revisions.len() > 2;
    let missing = |text: &mut String, title: &str, list: &[Missing]| {
        if list.is_empty() {
            return;
        }
        _ = writeln!(text, "{title}");
        let mut names: Vec<String> = list
            .iter()
            .map(|missing| {
                let name = naming.name(&missing.package, &missing.target, &missing.benchmark);
                if several { format!("{name} ({})", one_line(&missing.revision)) } else { name }
            })
            .collect();
        names.sort_by(|a, b| natural_order(a, b));
        for name in names {
            _ = writeln!(text, "  {name}");
        }
        text.push('\n');
    };
    missing(text, "Added, so there is nothing to compare with:", &results.added);
    missing(text, "Removed:", &results.removed);
    if !results.failed.is_empty() {
        _ = writeln!(text, "{}", painted("Failed:", BAD, table));
        for failure in &results.failed {
            _ = writeln!(text, "  {}", failed(failure, naming));
        }
        text.push('\n');
    }
}

fn failed(failure: &Failure, naming: Naming) -> String {
    let name = match &failure.benchmark {
        Some(benchmark) => naming.name(&failure.package, &failure.target, benchmark),
        None => one_line(&format!("all of {}::{}", failure.package, failure.target)),
    };
    let (side, revision) = (one_line(&failure.side), one_line(&failure.revision));
    format!(
        "{name}, on {side} ({revision}): {}",
        printable(&failure.error).replace('\n', "\n      ")
    )
}

fn render_footer(text: &mut String, results: &Results, table: Table) {
    let roles = ["base", "head"];
    let mut lines: Vec<(String, String)> = Vec::new();
    for (index, revision) in results.revisions.iter().enumerate() {
        let role = roles.get(index).map_or_else(|| format!("variant {index}"), |r| (*r).to_owned());
        lines.push((role, describe(revision)));
    }
    let compilers: Vec<&str> = results.revisions.iter().map(|r| r.rustc.as_str()).collect();
    if compilers.iter().all(|compiler| *compiler == compilers[0]) {
        lines.push(("compiler".to_owned(), compilers[0].to_owned()));
    } else {
        let text =
            format!("they differ, and so may the times for that reason: {}", compilers.join(" | "));
        lines.push(("compilers".to_owned(), text));
    }
    lines.push(("machine".to_owned(), machine(results)));
    let tested: Vec<&Comparison> =
        results.comparisons.iter().filter(|c| c.p_value.is_some()).collect();
    if !tested.is_empty() {
        lines.push(("comparisons".to_owned(), comparisons(&tested)));
    }
    lines.extend(methods(&tested).map(|methods| ("method".to_owned(), methods)));
    if let Some(noise) = noise(&tested) {
        lines.push(("noise".to_owned(), noise));
    }
    lines.extend(results.notes.iter().map(|note| ("note".to_owned(), note.clone())));
    lines.push(("command".to_owned(), results.command.clone()));
    let width = lines.iter().map(|(title, _)| title.width()).max().unwrap_or_default();
    for (title, line) in lines {
        let title = painted(&format!("{title:width$}"), QUIET, table);
        // A note may have several lines.
        let line = printable(&line).replace('\n', &format!("\n{:width$}  ", ""));
        _ = writeln!(text, "{title}  {line}");
    }
}

fn describe(revision: &Revision) -> String {
    let commit: String = revision.commit.chars().take(9).collect();
    let dirty = if revision.dirty { " with uncommitted changes" } else { "" };
    format!("{} ({commit}{dirty})", revision.label)
}

fn machine(results: &Results) -> String {
    let environment = &results.environment;
    let mut parts = vec![environment.system.clone()];
    parts.extend(environment.cpu.clone());
    parts.extend(environment.cores.map(|cores| format!("{cores} cores")));
    parts.extend(environment.load.map(|load| format!("load {load:.1} at the start")));
    parts.join(", ")
}

/// In how many comparisons how many false stars are to be expected. Where there are too few pairs for a
/// star, none is.
fn comparisons(tested: &[&Comparison]) -> String {
    let count = tested.len();
    let expected: Vec<String> =
        [(Confidence::One, 0.05), (Confidence::Two, 0.01), (Confidence::Three, 0.001)]
            .iter()
            .map(|(level, risk)| {
                let fewest = fewest_pairs_for(*level) as usize;
                let reachable = tested.iter().filter(|c| c.pairs >= fewest).count();
                format!("{} at {}", short(reachable as f64 * risk), level.stars())
            })
            .collect();
    let fewest = tested.iter().map(|c| c.pairs).min().unwrap_or_default();
    let most = tested.iter().map(|c| c.pairs).max().unwrap_or_default();
    let pairs = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
    let mut text = format!(
        "{count} of {pairs} launch pairs each; if nothing had changed, {} would be expected to be starred",
        expected.join(", ")
    );
    let out_of_reach = [Confidence::One, Confidence::Two, Confidence::Three]
        .into_iter()
        .find(|level| most < fewest_pairs_for(*level) as usize);
    if let Some(level) = out_of_reach {
        _ = write!(text, "; {} needs at least {} pairs", level.stars(), fewest_pairs_for(level));
    }
    text
}

/// `0.25`, `0.005`: at most two significant digits for small numbers.
fn short(value: f64) -> String {
    let rounded = (value * 1000.0).round() / 1000.0;
    format!("{rounded}")
}

/// How many were measured in step, and which were not, and why.
fn methods(tested: &[&Comparison]) -> Option<String> {
    let (in_step, others): (Vec<&Comparison>, Vec<&Comparison>) =
        tested.iter().partition(|c| c.method == Method::Lockstep);
    let mut reasons: Vec<&str> = others.iter().flat_map(|c| &c.notes).map(String::as_str).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let because =
        if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) };
    match (in_step.len(), others.len()) {
        (0, 0) => None,
        (_, 0) => Some("in step: both sides take turns within each benchmark".to_owned()),
        (0, _) => Some(format!("one side after the other{because}")),
        (some, rest) => Some(format!("{some} in step, {rest} one side after the other{because}")),
    }
}

fn noise(tested: &[&Comparison]) -> Option<String> {
    let spreads: Vec<f64> =
        tested.iter().filter_map(|c| robust_standard_deviation(&c.log_ratios)).collect();
    let typical = 100.0 * median(&spreads)?;
    Some(format!(
        "{typical:.2} % from one launch pair to the next (standard deviation, median of the benchmarks)"
    ))
}

fn painted(text: &str, style: Style, table: Table) -> String {
    if table.color && style != PLAIN { format!("{style}{text}{style:#}") } else { text.to_owned() }
}
