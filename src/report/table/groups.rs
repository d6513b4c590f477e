//! The table of several revisions: a benchmark is a row, and each revision has a group of columns.

use unicode_width::UnicodeWidthStr;

use crate::model::Percent;
use crate::report::cells::Cells;
use crate::report::order::Row;
use crate::report::text::{one_line, shortened_to_width};
use crate::report::variant::Variant;
use crate::results::{Comparison, Revision};
use crate::stats::Verdict;

use super::grid::{Cell, Column, render, total, widths};
use super::style;

/// Where the width is not known, groups are shown if so many columns suffice.
const READABLE: usize = 120;

/// How narrow names may become.
const NARROWEST_NAME: usize = 16;

/// The table, if it is not wider than there is room for. It shows times if they fit as well.
pub fn render_groups(
    variants: &[Variant],
    rows: &[Row],
    width: Option<usize>,
    color: bool,
) -> Option<String> {
    let width = width.unwrap_or(READABLE);
    [true, false].into_iter().find_map(|times| {
        let columns = columns(variants.len(), times);
        let mut cells = vec![titles(variants, times)];
        cells.extend(rows.iter().map(|row| line(row, variants, times)));
        let widths = widths(&cells);
        let others = total(&columns, &widths) - widths[0];
        let room = width.checked_sub(others)?;
        if room < widths[0].min(NARROWEST_NAME) {
            return None;
        }
        for row in &mut cells {
            row[0].text = shortened_to_width(&row[0].text, room);
        }
        let labels = label_line(&columns, &cells, variants, times);
        Some(format!("{labels}\n{}", render(&columns, &cells, color)))
    })
}

fn group_size(times: bool) -> usize {
    if times { 4 } else { 3 }
}

fn columns(variants: usize, times: bool) -> Vec<Column> {
    let number = |gap| Column { gap, right: true };
    let mut columns = vec![Column { gap: 1, right: false }];
    if times {
        columns.push(number(2));
    }
    for _ in 0..variants {
        columns.extend([number(3), number(1), number(1)]);
        if times {
            columns.push(number(2));
        }
    }
    columns
}

fn titles(variants: &[Variant], times: bool) -> Vec<Cell> {
    let mut cells = vec![Cell::default()];
    if times {
        cells.push(Cell::plain("time"));
    }
    for _ in variants {
        cells.extend(["", "improvement", "(*)"].map(Cell::plain));
        if times {
            cells.push(Cell::plain("time"));
        }
    }
    cells
}

fn line(row: &Row, variants: &[Variant], times: bool) -> Vec<Cell> {
    // What the others of this row are compared with has a time and nothing else.
    let time_of = |revision: &Revision| {
        let against_it = row.present().filter(|c| times && c.base.label == revision.label);
        let mut times = against_it.map(|c| Cells::of(c).base);
        Cell::plain(times.find(|time| !time.is_empty()).unwrap_or_default())
    };
    let mut cells = vec![Cell::plain(row.name.clone())];
    if times {
        cells.extend(variants.first().map(|variant| time_of(variant.reference)));
    }
    for (comparison, variant) in row.comparisons.iter().zip(variants) {
        match comparison {
            Some(comparison) => cells.extend(group(comparison, times)),
            None => {
                cells.extend(vec![Cell::default(); group_size(times) - 1]);
                cells.push(time_of(variant.revision));
            }
        }
    }
    cells
}

fn group(comparison: &Comparison, times: bool) -> Vec<Cell> {
    let cells = Cells::of(comparison);
    let mark = match comparison.verdict {
        Verdict::Improved | Verdict::Regressed => cells.confidence,
        Verdict::Equivalent => "=".to_owned(),
        Verdict::Inconclusive => "?".to_owned(),
        Verdict::IdenticalCode => "==".to_owned(),
    };
    let [at_95, ..] = cells.accuracies;
    let mut texts = vec![mark, cells.improvement, at_95];
    if times {
        texts.push(cells.head);
    }
    let style = style(comparison.verdict);
    texts.into_iter().map(|text| Cell { text, style }).collect()
}

/// The labels over their groups, of which each is as wide as all its columns.
fn label_line(
    columns: &[Column],
    cells: &[Vec<Cell>],
    variants: &[Variant],
    times: bool,
) -> String {
    let widths = widths(cells);
    let size = group_size(times);
    let before = columns.len() - variants.len() * size;
    let mut line = " ".repeat(columns[0].gap + widths[0]);
    if let (true, Some(variant)) = (times, variants.first()) {
        line += &right(&variant.reference.label, columns[1].gap, widths[1]);
    }
    for (position, variant) in variants.iter().enumerate() {
        let from = before + position * size;
        let group = from..from + size;
        let gap = columns[from].gap;
        let room = total(&columns[group.clone()], &widths[group]) - gap;
        line += &right(&variant.revision.label, gap, room);
    }
    line
}

/// A label that ends where its columns end.
fn right(label: &str, gap: usize, room: usize) -> String {
    let label = shortened_to_width(&one_line(label), room);
    format!("{}{label}", " ".repeat(gap + room - label.width()))
}

/// What the marks mean that stand in the place of stars, if any does.
pub fn legend(rows: &[Row], margin: Percent) -> String {
    let marks = [
        (Verdict::Equivalent, format!("= equivalent within {margin}")),
        (Verdict::Inconclusive, "? inconclusive".to_owned()),
        (Verdict::IdenticalCode, "== identical code".to_owned()),
    ];
    let shown = |verdict| rows.iter().flat_map(Row::present).any(|c| c.verdict == verdict);
    let marks: Vec<String> =
        marks.into_iter().filter(|(verdict, _)| shown(*verdict)).map(|(_, words)| words).collect();
    if marks.is_empty() { String::new() } else { format!(" {}\n", marks.join(", ")) }
}
