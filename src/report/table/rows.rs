//! The table of one revision, as wide as there is room for.

use crate::report::cells::{Cells, TITLES};
use crate::report::order::Row;
use crate::report::text::shortened_to_width;
use crate::results::{Comparison, Method};
use crate::stats::Verdict;

use super::bar::Scale;
use super::grid::{Cell, Column, render, total, widths};
use super::style;

/// What a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Name,
    /// By its position in [`TITLES`].
    Number(usize),
    Bar,
    Verdict,
    ShortVerdict,
}

use Shown::{Bar, Name, Number, ShortVerdict, Verdict as LongVerdict};

const STARS: Shown = Number(0);
const CHANGE: Shown = Number(1);
const AT_95: Shown = Number(2);
const AT_99: Shown = Number(3);
const AT_999: Shown = Number(4);
const BASE: Shown = Number(5);
const HEAD: Shown = Number(6);

/// What is shown, the most first, and how narrow names may become for it. The last one takes what it needs.
const LAYOUTS: [(&[Shown], usize); 7] = [
    (&[Name, STARS, CHANGE, AT_95, AT_99, AT_999, BASE, HEAD, Bar, LongVerdict], 40),
    (&[Name, STARS, CHANGE, AT_95, AT_99, AT_999, BASE, HEAD, Bar, ShortVerdict], 40),
    (&[Name, STARS, CHANGE, AT_95, AT_99, AT_999, BASE, HEAD, LongVerdict], 36),
    (&[Name, STARS, CHANGE, AT_95, AT_99, AT_999, BASE, HEAD, ShortVerdict], 32),
    (&[Name, STARS, CHANGE, AT_95, BASE, HEAD, Bar, ShortVerdict], 24),
    (&[Name, STARS, CHANGE, AT_95, BASE, HEAD, ShortVerdict], 20),
    (&[Name, STARS, CHANGE, AT_95, ShortVerdict], 12),
];

/// Without a limit: everything but the bar, which is for eyes alone.
const UNLIMITED: usize = 2;

/// The rows with as much of each as there is room for.
pub fn render_rows(rows: &[Row], width: Option<usize>, color: bool) -> String {
    let comparisons: Vec<(&str, &Comparison)> =
        rows.iter().flat_map(|row| row.present().map(|c| (row.name.as_str(), c))).collect();
    let scale = Scale::for_comparisons(comparisons.iter().map(|(_, c)| *c));
    let Some(width) = width else {
        return drawn(LAYOUTS[UNLIMITED].0, &comparisons, scale).render(color);
    };
    let (last, others) = LAYOUTS.split_last().expect("there are layouts");
    let fitting = others
        .iter()
        .find_map(|(shown, narrowest)| drawn(shown, &comparisons, scale).fitted(width, *narrowest));
    let (shown, narrowest) = last;
    let table = fitting.unwrap_or_else(|| {
        let mut table = drawn(shown, &comparisons, scale);
        table.shorten_names(width, *narrowest);
        table
    });
    table.render(color)
}

/// A table with all its texts.
struct Drawn {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

fn drawn(shown: &[Shown], comparisons: &[(&str, &Comparison)], scale: Scale) -> Drawn {
    let compact = !shown.contains(&AT_99);
    let header = shown.iter().map(|shown| Cell::plain(title(*shown, compact, scale)));
    let mut rows: Vec<Vec<Cell>> = vec![header.collect()];
    for (name, comparison) in comparisons {
        let cells = Cells::of(comparison);
        let numbers = cells.clone().numbers();
        let style = style(comparison.verdict);
        let texts = shown.iter().map(|shown| match shown {
            Name => (*name).to_owned(),
            Number(position) => numbers[*position].clone(),
            Bar => scale.bar(comparison),
            LongVerdict => cells.verdict.clone(),
            ShortVerdict => short_verdict(comparison),
        });
        rows.push(texts.map(|text| Cell { text, style }).collect());
    }
    Drawn { columns: shown.iter().map(|shown| column(*shown)).collect(), rows }
}

fn title(shown: Shown, compact: bool, scale: Scale) -> String {
    match shown {
        // What stars and accuracies are is known to who has seen the whole table.
        STARS if compact => String::new(),
        AT_95 if compact => "(*)".to_owned(),
        Number(position) => TITLES[position].to_owned(),
        Bar => scale.header(),
        Name | LongVerdict | ShortVerdict => String::new(),
    }
}

fn column(shown: Shown) -> Column {
    // Names, bars and verdicts begin at the left, everything between them are numbers.
    match shown {
        Name => Column { gap: 1, right: false },
        BASE | HEAD => Column { gap: 2, right: true },
        Number(_) => Column { gap: 1, right: true },
        Bar | LongVerdict | ShortVerdict => Column { gap: 2, right: false },
    }
}

/// As few words as possible.
fn short_verdict(comparison: &Comparison) -> String {
    let word = match comparison.verdict {
        Verdict::Improved => "improved",
        Verdict::Regressed => "regressed",
        Verdict::Equivalent if comparison.method == Method::Count => "same count",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
        Verdict::IdenticalCode => "identical",
    };
    let changed = matches!(comparison.verdict, Verdict::Improved | Verdict::Regressed);
    if changed && comparison.within_margin {
        return format!("{word} < {}", comparison.margin_percent);
    }
    word.to_owned()
}

impl Drawn {
    /// The same with names that make it fit into this width, if they need not become narrower than that.
    fn fitted(mut self, width: usize, narrowest: usize) -> Option<Self> {
        self.shorten_names(width, narrowest);
        (total(&self.columns, &widths(&self.rows)) <= width).then_some(self)
    }

    fn shorten_names(&mut self, width: usize, narrowest: usize) {
        let widths = widths(&self.rows);
        let others = total(&self.columns, &widths) - widths[0];
        let room = width.saturating_sub(others).max(narrowest);
        for row in &mut self.rows {
            row[0].text = shortened_to_width(&row[0].text, room);
        }
    }

    fn render(&self, color: bool) -> String {
        render(&self.columns, &self.rows, color)
    }
}
