//! The table as a whole: rows or groups, lists, and what stands below.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use crate::results::{Failure, Missing, Results};
use crate::stats::Verdict;

use super::super::circumstances::{Circumstance, circumstances};
use super::super::failures::{Reason, reasons};
use super::super::names::Naming;
use super::super::order::{Row, Sort, rows};
use super::super::text::{one_line, printable, wrapped};
use super::super::variant::{Variant, answer_of, variants};

use super::fold::fold;
use super::grid::painted;
use super::groups::{legend, render_groups};
use super::rows::render_rows;

/// How the table is to look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Table {
    /// Whether colours are used.
    pub color: bool,
    /// How many columns of a terminal there are; `None` where there is no limit.
    pub width: Option<usize>,
    /// What comes first.
    pub sort: Sort,
    /// Whether rows that say little are shown even if there are many.
    pub all: bool,
}

/// So many names are shown of what failed for one reason, unless all are wanted.
const NAMES_OF_A_REASON: usize = 10;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const QUIET: Style = Style::new().dimmed();

/// Renders the results as text, with a line feed at the end.
pub fn table(results: &Results, table: Table) -> String {
    let naming = Naming::for_results(results);
    let variants = variants(results);
    let mut text = String::new();
    if let [only] = &variants[..] {
        _ = writeln!(text, "{}", answer_of(only, results));
        text += &rendered(only, results, naming, table);
        text.push('\n');
    } else {
        render_several(&mut text, &variants, results, naming, table);
    }
    render_lists(&mut text, results, naming, table);
    render_footer(&mut text, results, table);
    text
}

/// The table of one revision, with an empty line before it; nothing if nothing was compared.
fn rendered(variant: &Variant, results: &Results, naming: Naming, table: Table) -> String {
    let mut rows = rows(std::slice::from_ref(variant), naming, table.sort);
    if rows.is_empty() {
        return String::new();
    }
    let folded = folded(&mut rows, results, table);
    format!("\n{}{folded}", render_rows(&rows, table.width, table.color))
}

/// All answers, then one table if it can be read, else one for each revision.
fn render_several(
    text: &mut String,
    variants: &[Variant],
    results: &Results,
    naming: Naming,
    table: Table,
) {
    let title = |variant: &Variant| {
        let (label, reference) = (&variant.revision.label, &variant.reference.label);
        format!("{} against {}", one_line(label), one_line(reference))
    };
    for variant in variants {
        _ = writeln!(text, "{}: {}", title(variant), answer_of(variant, results));
    }
    text.push('\n');
    let mut rows = rows(variants, naming, table.sort);
    if rows.is_empty() {
        return;
    }
    let folded = folded(&mut rows, results, table);
    if let Some(grouped) = render_groups(variants, &rows, table.width, table.color) {
        *text += &format!("{grouped}{}{folded}\n", legend(&rows, results.margin_percent));
        return;
    }
    for variant in variants.iter().filter(|variant| !variant.comparisons.is_empty()) {
        let rows = rendered(variant, results, naming, table);
        *text += &format!("{}\n{rows}\n", title(variant));
    }
}

/// Takes rows out that say little, and gives back the line that says so.
fn folded(rows: &mut Vec<Row>, results: &Results, table: Table) -> String {
    let folded = if table.all { None } else { fold(rows, results.margin_percent) };
    folded.map(|said| format!("{said}\n")).unwrap_or_default()
}

pub(super) fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Improved => GOOD,
        Verdict::Regressed => BAD,
        Verdict::Equivalent | Verdict::IdenticalCode => QUIET,
        Verdict::Inconclusive => Style::new(),
    }
}

fn render_lists(text: &mut String, results: &Results, naming: Naming, table: Table) {
    let missing = |text: &mut String, title: &str, list: &[Missing]| {
        if list.is_empty() {
            return;
        }
        _ = writeln!(text, "{title}");
        for name in naming.missing(list, results) {
            _ = writeln!(text, "  {name}");
        }
        text.push('\n');
    };
    missing(text, "Added, so there is nothing to compare with:", &results.added);
    missing(text, "Removed:", &results.removed);
    if !results.set_aside.is_empty() {
        _ = writeln!(text, "Set aside:");
        for aside in &results.set_aside {
            let name = naming.part(&aside.package, &aside.target, aside.benchmark.as_deref());
            _ = writeln!(text, "  {name}: {}", one_line(&aside.reason));
        }
        text.push('\n');
    }
    if !results.failed.is_empty() {
        _ = writeln!(text, "{}", painted("Failed:", BAD, table.color));
        for reason in reasons(results) {
            _ = writeln!(text, "  {}", failed(&reason, naming, table.all));
        }
        text.push('\n');
    }
}

fn failed(reason: &Reason, naming: Naming, all: bool) -> String {
    let name = |failure: &Failure| {
        naming.part(&failure.package, &failure.target, failure.benchmark.as_deref())
    };
    let first = reason.first;
    let (side, revision) = (one_line(&first.side), one_line(&first.revision));
    let mut text = format!(
        "{}, on {side} ({revision}): {}",
        reason.several().unwrap_or_else(|| name(first)),
        printable(&first.error).replace('\n', "\n      ")
    );
    if reason.count() > 1 {
        let most = if all { usize::MAX } else { NAMES_OF_A_REASON };
        for failure in reason.failures().take(most) {
            _ = write!(text, "\n    - {}", name(failure));
        }
        let left_out = reason.count().saturating_sub(most);
        if left_out > 0 {
            _ = write!(text, "\n    and {left_out} more; --all shows them");
        }
    }
    text
}

fn render_footer(text: &mut String, results: &Results, table: Table) {
    let lines = circumstances(results);
    let width = lines.iter().map(|line| line.title.width()).max().unwrap_or_default();
    for Circumstance { title, text: line } in lines {
        let styled = painted(&format!("{title:width$}"), QUIET, table.color);
        // A note may have several lines. A command is to be copied.
        let lines: Vec<String> = match table.width {
            Some(columns) if title != "command" => printable(&line)
                .split('\n')
                .flat_map(|line| wrapped(line, columns.saturating_sub(width + 2).max(20)))
                .collect(),
            _ => printable(&line).split('\n').map(str::to_owned).collect(),
        };
        _ = writeln!(text, "{styled}  {}", lines.join(&format!("\n{:width$}  ", "")));
    }
}
