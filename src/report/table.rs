//! The table on the terminal, with the answer above it and what one needs to judge it below.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use crate::results::{Comparison, Failure, Missing, Results};
use crate::stats::Verdict;

use super::cells::{Cells, TITLES};
use super::circumstances::{Circumstance, circumstances};
use super::names::{Naming, natural_order};
use super::text::{one_line, printable};
use super::variant::{answer_of, variants};

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
    let variants = variants(results);
    for variant in &variants {
        let mut comparisons = variant.comparisons.clone();
        let name = |c: &Comparison| naming.name(&c.package, &c.target, &c.benchmark);
        comparisons.sort_by(|a, b| natural_order(&name(a), &name(b)));
        if variants.len() > 1 {
            let (label, reference) = (&variant.revision.label, &variant.reference.label);
            _ = writeln!(text, "{} against {}", one_line(label), one_line(reference));
        }
        _ = writeln!(text, "{}", answer_of(variant, results));
        if !comparisons.is_empty() {
            text.push('\n');
            render_rows(&mut text, &comparisons, naming, table);
        }
        text.push('\n');
    }
    render_lists(&mut text, results, naming, table);
    render_footer(&mut text, results, table);
    text
}

fn render_rows(text: &mut String, comparisons: &[&Comparison], naming: Naming, table: Table) {
    let mut header: [String; 9] = Default::default();
    header[1..8].clone_from_slice(&TITLES.map(str::to_owned));
    let mut rows = vec![header];
    rows.extend(comparisons.iter().map(|comparison| row(comparison, naming)));
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

fn row(comparison: &Comparison, naming: Naming) -> [String; 9] {
    let name = naming.name(&comparison.package, &comparison.target, &comparison.benchmark);
    let cells = Cells::of(comparison);
    let verdict = cells.verdict.clone();
    let [confidence, improvement, at_95, at_99, at_999, base, head] = cells.numbers();
    [name, confidence, improvement, at_95, at_99, at_999, base, head, verdict]
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
    if !results.set_aside.is_empty() {
        _ = writeln!(text, "Set aside:");
        for aside in &results.set_aside {
            let name = match &aside.benchmark {
                Some(benchmark) => naming.name(&aside.package, &aside.target, benchmark),
                None => one_line(&format!("all of {}::{}", aside.package, aside.target)),
            };
            _ = writeln!(text, "  {name}: {}", one_line(&aside.reason));
        }
        text.push('\n');
    }
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
    let lines = circumstances(results);
    let width = lines.iter().map(|line| line.title.width()).max().unwrap_or_default();
    for Circumstance { title, text: line } in lines {
        let title = painted(&format!("{title:width$}"), QUIET, table);
        // A note may have several lines.
        let line = printable(&line).replace('\n', &format!("\n{:width$}  ", ""));
        _ = writeln!(text, "{title}  {line}");
    }
}

fn painted(text: &str, style: Style, table: Table) -> String {
    if table.color && style != PLAIN { format!("{style}{text}{style:#}") } else { text.to_owned() }
}
