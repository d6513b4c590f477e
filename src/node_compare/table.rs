//! The table of `compare.R`.

use std::cmp::Ordering;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use crate::model::Percent;
use crate::stats::{NoTest, WelchTest, improvement_of_rates, welch_test};

use super::rates::RateTable;

/// One benchmark of two binaries.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassicRow {
    /// `filename configuration`
    pub name: String,
    /// The improvement of the mean rate.
    pub improvement: Percent,
    /// The test, or why there is none.
    pub test: Result<WelchTest, NoTest>,
}

impl ClassicRow {
    /// Stars at .05, .01 and .001.
    pub fn stars(&self) -> &'static str {
        match self.test.as_ref().map(|test| test.p_value) {
            Ok(p) if p < 0.001 => "***",
            Ok(p) if p < 0.01 => "**",
            Ok(p) if p < 0.05 => "*",
            Ok(_) => "",
            Err(_) => "NA",
        }
    }
}

/// A benchmark that is not in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCompared {
    /// `filename configuration`
    pub name: String,
    /// Why, in words.
    pub reason: String,
}

/// Compares the rates of one binary with those of another, benchmark by benchmark, in R's order.
pub fn compare_rates(
    table: &RateTable,
    old: &str,
    new: &str,
) -> (Vec<ClassicRow>, Vec<NotCompared>) {
    let mut rows = Vec::new();
    let mut not_compared = Vec::new();
    for (name, rates) in &table.benchmarks {
        let of = |binary: &str| rates.get(binary).map_or(&[][..], Vec::as_slice);
        match row(name, (old, of(old)), (new, of(new))) {
            Ok(row) => rows.push(row),
            Err(reason) => not_compared.push(NotCompared { name: name.clone(), reason }),
        }
    }
    rows.sort_by(|a, b| r_order(&a.name, &b.name));
    not_compared.sort_by(|a, b| r_order(&a.name, &b.name));
    (rows, not_compared)
}

fn row(name: &str, old: (&str, &[f64]), new: (&str, &[f64])) -> Result<ClassicRow, String> {
    for (binary, rates) in [old, new] {
        if rates.is_empty() {
            return Err(format!("`{binary}` has no rate for it"));
        }
        if let Some(rate) = rates.iter().find(|rate| !rate.is_finite()) {
            return Err(format!("`{binary}` has the rate {rate}"));
        }
    }
    let improvement = improvement_of_rates(old.1, new.1).ok_or_else(|| {
        format!("the mean rate of `{}` is 0, so nothing is in percent of it", old.0)
    })?;
    Ok(ClassicRow { name: name.to_owned(), improvement, test: welch_test(old.1, new.1) })
}

/// The table as `compare.R` prints it, with its footer; then in words what else there is to say.
pub fn render(rows: &[ClassicRow], not_compared: &[NotCompared]) -> String {
    let mut text = String::new();
    if !rows.is_empty() {
        render_table(&mut text, rows);
        render_footer(&mut text, rows.len());
    }
    let without_test = rows.iter().filter_map(|row| {
        let reason = match row.test.as_ref().err()? {
            NoTest::TooFew => "there is only one rate on a side, so there is no test",
            NoTest::Constant | NoTest::OldMeanIsZero => {
                "the rates do not vary, so there is no test"
            }
        };
        Some((row.name.as_str(), reason))
    });
    let missing = not_compared.iter().map(|n| (n.name.as_str(), n.reason.as_str()));
    let remarks: Vec<String> = without_test
        .chain(missing)
        .map(|(name, reason)| format!("  {}: {reason}\n", one_line(name)))
        .collect();
    if !remarks.is_empty() {
        let separator = if text.is_empty() { "" } else { "\n" };
        _ = write!(text, "{separator}Not tested:\n{}", remarks.concat());
    }
    text
}

fn render_table(text: &mut String, rows: &[ClassicRow]) {
    let header = ["", "confidence", "improvement", "accuracy (*)", "(**)", "(***)"];
    let mut cells = vec![header.map(str::to_owned)];
    cells.extend(rows.iter().map(|row| {
        let accuracy = |level: usize| match &row.test {
            Ok(test) => format!("±{:.2}%", test.accuracies[level].value()),
            Err(_) => "NA".to_owned(),
        };
        [
            one_line(&row.name),
            row.stars().to_owned(),
            format!("{:.2} %", row.improvement.value()),
            accuracy(0),
            accuracy(1),
            accuracy(2),
        ]
    }));
    let widths: [usize; 6] = std::array::from_fn(|column| {
        cells.iter().map(|row| row[column].width()).max().unwrap_or_default()
    });
    for row in cells {
        let mut line = row[0].clone() + &" ".repeat(widths[0] - row[0].width());
        for (cell, width) in row.iter().zip(widths).skip(1) {
            _ = write!(line, " {}{cell}", " ".repeat(width - cell.width()));
        }
        _ = writeln!(text, "{line}");
    }
}

fn render_footer(text: &mut String, comparisons: usize) {
    let count = comparisons as f64;
    _ = write!(
        text,
        "
Be aware that when doing many comparisons the risk of a false-positive
result increases. In this case, there are {comparisons} comparisons, you can thus
expect the following amount of false-positive results:
  {:.2} false positives, when considering a   5% risk acceptance (*, **, ***),
  {:.2} false positives, when considering a   1% risk acceptance (**, ***),
  {:.2} false positives, when considering a 0.1% risk acceptance (***)
",
        count * 0.05,
        count * 0.01,
        count * 0.001
    );
}

/// As R prints names: line feeds and the like are escaped.
fn one_line(name: &str) -> String {
    name.chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect()
}

/// The order of R in an English locale: punctuation before digits before letters, in the order of ISO 14651;
/// capitals count only where everything else is equal.
fn r_order(a: &str, b: &str) -> Ordering {
    const PUNCTUATION: &str = " _-,;:!?/.`^~'\"()[]{}@$*\\&#%+<=>|";
    let key = |text: &str| -> Vec<(u8, u32)> {
        text.chars()
            .map(|c| match PUNCTUATION.chars().position(|p| p == c) {
                Some(position) => (0, position as u32),
                None if c.is_numeric() => (1, u32::from(c)),
                None => (2, u32::from(c.to_lowercase().next().unwrap_or(c))),
            })
            .collect()
    };
    key(a).cmp(&key(b)).then_with(|| b.cmp(a))
}
