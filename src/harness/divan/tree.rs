//! The tree that divan prints. Pure.
//!
//! Names may contain whatever the tree is drawn with: a line's place in the tree is read from the left, its
//! columns are read from the right.

use crate::model::{Count, Throughput};

/// A benchmark in a tree without columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// The names on the way to it, the crate's first.
    names: Vec<String>,
}

impl Leaf {
    /// Its path, and its number of threads where it is a branch for that.
    pub fn variant(self) -> (String, Option<String>) {
        match self.names.split_last() {
            Some((last, others)) if others.len() > 1 => match threads(last) {
                Some(threads) => (others.join("::"), Some(threads.to_owned())),
                None => (self.names.join("::"), None),
            },
            _ => (self.names.join("::"), None),
        }
    }
}

/// `t=4`
fn threads(name: &str) -> Option<&str> {
    name.strip_prefix("t=").filter(|number| number.parse::<usize>().is_ok())
}

/// The benchmarks in a tree without columns, `--list` or `--test`. Those that are ignored are left out.
pub fn leaves(text: &str) -> Vec<Leaf> {
    let mut found: Vec<(usize, Leaf)> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for line in text.lines() {
        let Some((depth, name)) = place(line) else { continue };
        // What a benchmark prints is not in the tree, but may look like a crate.
        if depth > names.len() {
            continue;
        }
        names.truncate(depth);
        if let Some((_, above)) = found.last()
            && names.starts_with(&above.names)
            && names.len() == above.names.len()
        {
            found.pop();
        }
        names.push(name.to_owned());
        found.push((depth, Leaf { names: names.clone() }));
    }
    let is_leaf = |leaf: &Leaf| {
        let last = leaf.names.last().map_or("", String::as_str);
        leaf.names.len() > 1 && !is_ignored(last)
    };
    found.into_iter().map(|(_, leaf)| leaf).filter(is_leaf).collect()
}

fn is_ignored(name: &str) -> bool {
    name.strip_suffix("(ignored)").is_some_and(|name| name.ends_with("  "))
}

/// How deep in the tree a line is, and what follows its branch. `None` for an empty line.
fn place(line: &str) -> Option<(usize, &str)> {
    let mut rest = line;
    let mut depth = 0;
    loop {
        if let Some(name) = rest.strip_prefix("├─ ").or_else(|| rest.strip_prefix("╰─ ")) {
            return Some((depth + 1, name));
        }
        match rest.strip_prefix("│  ").or_else(|| rest.strip_prefix("   ")) {
            Some(deeper) => rest = deeper,
            None if depth == 0 => return Some((0, line)).filter(|_| !line.is_empty()),
            None => return None,
        }
        depth += 1;
    }
}

/// The numbers of threads that a benchmark runs with, none if it has no branches for them. `None` if it is not in
/// the tree. What it prints itself may hide the crate's name.
pub fn threads_of(leaves: &[Leaf], path: &str) -> Option<Vec<String>> {
    let within = |path: &str| path.split_once("::").map(|(_, within)| within.to_owned());
    let wanted = within(path)?;
    let mut found = None;
    for leaf in leaves {
        let whole = leaf.names.join("::");
        if within(&whole).as_ref() == Some(&wanted) {
            found.get_or_insert_with(Vec::new);
        }
        let (path, threads) = leaf.clone().variant();
        if let Some(threads) = threads
            && within(&path).as_ref() == Some(&wanted)
        {
            let found = found.get_or_insert_with(Vec::new);
            // Several benchmarks may have the same path.
            if !found.contains(&threads) {
                found.push(threads);
            }
        }
    }
    found
}

/// What a benchmark's rows say.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// All that stands before the columns: branches, name and the fastest time.
    first: String,
    /// Nanoseconds.
    pub median: f64,
    /// What one iteration works on.
    pub throughput: Option<Throughput>,
    /// Allocations and bytes of an iteration, if the benchmark counts them.
    pub counts: Vec<Count>,
}

impl Row {
    /// Whether this is its name in the tree.
    pub fn is_named(&self, name: &str) -> bool {
        let columns_begin = self.first.trim_end().rsplitn(3, ' ').last().unwrap_or_default();
        place(columns_begin).is_some_and(|(_, found)| found.trim_end() == name)
    }
}

/// The benchmarks in a tree with columns, in their order.
pub fn rows(text: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    // The operation that allocation rows are about, and which row of it is next.
    let mut operation: Option<(&str, usize)> = None;
    for line in text.lines() {
        let Some([first, median, samples]) = columns(line) else { continue };
        if let Some(median) = nanoseconds(median)
            && samples.parse::<u64>().is_ok()
        {
            let first = first.to_owned();
            rows.push(Row { first, median, throughput: None, counts: Vec::new() });
            operation = None;
            continue;
        }
        let Some(row) = rows.last_mut().filter(|_| samples.is_empty()) else { continue };
        if let Some(named) = OPERATIONS.iter().find(|name| is_operation(first, name)) {
            operation = Some((named, 0));
        } else if let Some((name, number)) = &mut operation {
            if let Some(value) = amount(median) {
                row.count(name, *number, value);
            }
            *number += 1;
        } else if let Some((rate, unit)) = rate(median) {
            // The first one: bytes, then characters, cycles and items.
            let amount = (rate * row.median / 1e9).round();
            row.throughput.get_or_insert_with(|| Throughput { amount, unit: unit.to_owned() });
        }
    }
    rows
}

/// The longer name first.
const OPERATIONS: [&str; 5] = ["max alloc:", "dealloc:", "alloc:", "grow:", "shrink:"];

fn is_operation(first: &str, name: &str) -> bool {
    first
        .trim_end()
        .strip_suffix(name)
        .is_some_and(|before| before.is_empty() || before.ends_with(' '))
}

impl Row {
    /// Takes the first row of an operation, which is how often, or the second, which is how much.
    fn count(&mut self, operation: &str, row: usize, value: f64) {
        let metric = match (operation, row) {
            ("alloc:" | "grow:", 0) => "allocations",
            ("alloc:" | "grow:", 1) => "allocated bytes",
            ("max alloc:", 1) => "most bytes at once",
            _ => return,
        };
        match self.counts.iter_mut().find(|count| count.metric == metric) {
            Some(count) => count.value += value,
            None => self.counts.push(Count { metric: metric.to_owned(), value }),
        }
    }
}

/// What stands before the columns with the fastest time, the median, and the number of samples.
fn columns(line: &str) -> Option<[&str; 3]> {
    fn parts(line: &str, count: usize) -> Option<Vec<&str>> {
        let cells: Vec<&str> = line.rsplitn(count, " │ ").collect();
        (cells.len() == count).then_some(cells)
    }
    // Further rows of a benchmark have nothing in their last column, and no space before it.
    let cells = match line.strip_suffix(" │") {
        Some(line) => parts(line, 5)?,
        None => parts(line, 6)?.split_off(1),
    };
    let [samples, _mean, median, _slowest, first] = cells[..] else { return None };
    Some([first, median.trim(), samples.trim()])
}

/// `1.351 µs`
fn nanoseconds(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let unit = match unit {
        "ps" => 1e-3,
        "ns" => 1.0,
        "µs" | "μs" | "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        "d" => 86400e9,
        _ => return None,
    };
    number.parse::<f64>().ok().filter(|number| *number >= 0.0).map(|number| number * unit)
}

/// `12`, `1.5 KB`, `2 KiB`
fn amount(text: &str) -> Option<f64> {
    match text.split_once(' ') {
        None => text.parse().ok(),
        Some((number, unit)) => {
            let factor = prefix(unit.strip_suffix('B')?)?;
            number.parse::<f64>().ok().map(|number| number * factor)
        }
    }
}

/// `18.31 Gitem/s`: how many a second, and of what.
fn rate(text: &str) -> Option<(f64, &'static str)> {
    let (number, unit) = text.split_once(' ')?;
    let number: f64 = number.parse().ok()?;
    let units = [("B/s", "bytes"), ("char/s", "chars"), ("Hz", "cycles"), ("item/s", "items")];
    units.into_iter().find_map(|(suffix, name)| {
        let factor = prefix(unit.strip_suffix(suffix)?)?;
        Some((number * factor, name))
    })
}

/// `K` is a thousand, `Ki` 1024.
fn prefix(text: &str) -> Option<f64> {
    let (letter, base) = match text.strip_suffix('i') {
        Some(letter) => (letter, 1024f64),
        None => (text, 1000.0),
    };
    let power = ["", "k", "m", "g", "t", "p"].iter().position(|p| *p == letter.to_lowercase())?;
    Some(base.powi(i32::try_from(power).ok()?))
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
