//! Columns of text of any width, aligned.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

/// A text in a table, and how it is painted.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    pub text: String,
    pub style: Style,
}

impl Cell {
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), style: Style::new() }
    }
}

/// How a column is set: how many blanks stand before it, and whether its texts end at its right edge.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub gap: usize,
    pub right: bool,
}

/// The widths of the columns of these rows.
pub fn widths(rows: &[Vec<Cell>]) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.text.width());
        }
    }
    widths
}

/// The width of a table of such columns.
pub fn total(columns: &[Column], widths: &[usize]) -> usize {
    columns.iter().zip(widths).map(|(column, width)| column.gap + width).sum()
}

/// The lines of a table, without blanks at their ends.
pub fn render(columns: &[Column], rows: &[Vec<Cell>], color: bool) -> String {
    let widths = widths(rows);
    let mut text = String::new();
    for row in rows {
        // Blanks are written when something follows them.
        let mut blanks = 0;
        for ((cell, column), width) in row.iter().zip(columns).zip(&widths) {
            let padding = width - cell.text.width();
            blanks += column.gap;
            if cell.text.is_empty() {
                blanks += padding;
                continue;
            }
            let before = if column.right { padding } else { 0 };
            text += &" ".repeat(blanks + before);
            text += &painted(&cell.text, cell.style, color);
            blanks = padding - before;
        }
        text.push('\n');
    }
    text
}

/// The text in this style, if colours are used.
pub fn painted(text: &str, style: Style, color: bool) -> String {
    if color && style != Style::new() { format!("{style}{text}{style:#}") } else { text.to_owned() }
}
