//! The parts of the report, each as a block that can be cut.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use unicode_width::UnicodeWidthStr;

use crate::report::cells::{Cells, TITLES, verdict};
use crate::report::circumstances::circumstances;
use crate::report::failures::{Reason, reasons};
use crate::report::names::{Naming, natural_order};
use crate::report::text::{one_line, printable, shortened};
use crate::report::variant::Variant;
use crate::results::{Comparison, Failure, Gate, Missing, Results, SetAside};
use crate::stats::Verdict;

use super::budget::{Block, Item};
use super::escape::{block, code, cut, fence, own};

/// The most bytes of one error, and of the circumstances.
const LONGEST_ERROR: usize = 1_500;
const LONGEST_CIRCUMSTANCES: usize = 6_000;

/// The most names of what failed for one reason.
const NAMES_OF_A_REASON: usize = 20;

/// The most characters of a name in a text block.
const LONGEST_PLAIN_NAME: usize = 100;

/// The comparisons of a report, as rows.
pub struct Rows<'a> {
    results: &'a Results,
    naming: Naming,
    /// By name and revision.
    comparisons: Vec<&'a Comparison>,
    /// Whether rows must name their revision.
    several: bool,
}

impl<'a> Rows<'a> {
    pub fn of(results: &'a Results, comparisons: &[&'a Comparison], several: bool) -> Self {
        let naming = Naming::for_results(results);
        let mut rows = Self { results, naming, comparisons: comparisons.to_vec(), several };
        // Stable, so that several revisions of one benchmark keep their order.
        let mut comparisons = comparisons.to_vec();
        comparisons.sort_by_cached_key(|c| NaturalName(rows.name(c)));
        rows.comparisons = comparisons;
        rows
    }

    fn name(&self, comparison: &Comparison) -> String {
        self.naming.name(&comparison.package, &comparison.target, &comparison.benchmark)
    }

    fn with(&self, wanted: impl Fn(Verdict) -> bool) -> Vec<&'a Comparison> {
        self.comparisons.iter().copied().filter(|c| wanted(c.verdict)).collect()
    }

    /// Regressions, the worst first, then improvements, the greatest first.
    fn most_important_first(&self) -> Vec<&'a Comparison> {
        let mut changed = self.with(is_change);
        changed.sort_by(|a, b| by_importance(a, b));
        changed
    }

    /// The table of what changed, with a legend below.
    pub fn changed(&self, legend: &str) -> Option<Block> {
        self.table(
            2,
            "regressed or improved",
            &self.most_important_first(),
            "",
            &format!("\n{legend}"),
        )
    }

    /// The same for several revisions, folded, because there is a table of all revisions already.
    pub fn all_changed(&self) -> Option<Block> {
        let changed = self.most_important_first();
        let summary = summary(&format!("{} regressed or improved, in full", changed.len()));
        self.table(4, "regressed or improved", &changed, &summary, "\n</details>\n\n")
    }

    /// The folded table of those with this verdict.
    pub fn folded(&self, verdict: Verdict) -> Option<Block> {
        let rows = self.with(|v| v == verdict);
        let margin = self.results.margin_percent;
        let (importance, what) = match verdict {
            Verdict::Inconclusive => (4, "inconclusive".to_owned()),
            _ if rows.iter().all(|c| c.margin_percent == margin) => {
                (6, format!("equivalent within {margin}"))
            }
            _ => (6, "equivalent within their margins".to_owned()),
        };
        let summary = summary(&format!("{} {what}", rows.len()));
        self.table(importance, &own(&what), &rows, &summary, "\n</details>\n\n")
    }

    fn table(
        &self,
        importance: u8,
        what: &str,
        rows: &[&Comparison],
        before: &str,
        after: &str,
    ) -> Option<Block> {
        if rows.is_empty() {
            return None;
        }
        let revision = if self.several { ("| revision ", "| :-- ") } else { ("", "") };
        let titles: Vec<String> = TITLES.map(own).to_vec();
        let header = format!(
            "| benchmark {}| {} | |\n| :-- {}| :-: |{} :-- |\n",
            revision.0,
            titles.join(" | "),
            revision.1,
            " --: |".repeat(TITLES.len() - 1),
        );
        Some(Block {
            importance,
            what: what.to_owned(),
            before: format!("{before}{header}"),
            items: rows.iter().map(|c| Item { rank: 0, text: self.row(c) }).collect(),
            after: after.to_owned(),
        })
    }

    fn row(&self, comparison: &Comparison) -> String {
        let cells = Cells::of(comparison);
        let verdict = own(&cells.verdict);
        // Units other than those of time are the benchmark's own words.
        let quantity = |text: &str| match comparison.unit.as_str() {
            "ns" => text.replace(' ', "\u{a0}"),
            _ if text.is_empty() => String::new(),
            _ => code(text),
        };
        let [stars, improvement, at_95, at_99, at_999, base, head] = cells.numbers();
        let mut cells = vec![code(&self.name(comparison))];
        if self.several {
            cells.push(code(&comparison.head.label));
        }
        cells.extend([stars, improvement, at_95, at_99, at_999].map(|cell| own(&cell)));
        cells.extend([quantity(&base), quantity(&head), verdict]);
        format!("| {} |\n", cells.join(" | "))
    }

    /// The names of what runs the same code.
    pub fn identical(&self) -> Option<Block> {
        let rows = self.with(|v| v == Verdict::IdenticalCode);
        let names = rows.iter().map(|c| {
            let revision =
                if self.several { format!(" ({})", code(&c.head.label)) } else { String::new() };
            format!("- {}{revision}\n", code(&self.name(c)))
        });
        folded(7, "identical code, so not measured", names.collect())
    }
}

/// A name that is ordered as people do.
#[derive(PartialEq, Eq)]
struct NaturalName(String);

impl Ord for NaturalName {
    fn cmp(&self, other: &Self) -> Ordering {
        natural_order(&self.0, &other.0)
    }
}

impl PartialOrd for NaturalName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn is_change(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Regressed | Verdict::Improved)
}

fn by_importance(a: &Comparison, b: &Comparison) -> Ordering {
    let improved = |c: &Comparison| c.verdict == Verdict::Improved;
    // As factors: half the speed matters as much as twice.
    let size = |c: &Comparison| c.improvement_percent.map_or(0.0, |p| p.to_log_ratio().abs());
    improved(a).cmp(&improved(b)).then(size(b).total_cmp(&size(a)))
}

/// One row for each benchmark of which any revision changed, one column for each revision.
pub fn matrix(results: &Results, variants: &[Variant]) -> Option<Block> {
    let naming = Naming::for_results(results);
    let mut rows: BTreeMap<(&str, &str, &str), Vec<Option<&Comparison>>> = BTreeMap::new();
    for (position, variant) in variants.iter().enumerate() {
        for &c in &variant.comparisons {
            let row = rows.entry((&c.package, &c.target, &c.benchmark)).or_default();
            row.resize(variants.len(), None);
            row[position] = Some(c);
        }
    }
    let mut rows: Vec<(String, Vec<Option<&Comparison>>)> = rows
        .into_iter()
        .filter(|(_, row)| row.iter().flatten().any(|c| is_change(c.verdict)))
        .map(|((package, target, benchmark), row)| (naming.name(package, target, benchmark), row))
        .collect();
    if rows.is_empty() {
        return None;
    }
    rows.sort_by(|a, b| natural_order(&a.0, &b.0));
    let labels: Vec<String> = variants.iter().map(|v| code(&v.revision.label)).collect();
    let items = rows.iter().map(|(name, row)| {
        let cells: Vec<String> =
            row.iter().map(|c| c.map(matrix_cell).unwrap_or_default()).collect();
        Item { rank: 0, text: format!("| {} | {} |\n", code(name), cells.join(" | ")) }
    });
    Some(Block {
        importance: 2,
        what: "benchmarks with a change".to_owned(),
        before: format!(
            "| improvement | {} |\n| :-- |{}\n",
            labels.join(" | "),
            " --: |".repeat(labels.len())
        ),
        items: items.collect(),
        after: "\n".to_owned(),
    })
}

/// `-16.67 % ±0.15% ***`
fn matrix_cell(comparison: &Comparison) -> String {
    let Some(improvement) = comparison.improvement_percent else {
        return own(&verdict(comparison));
    };
    let accuracy = comparison.accuracy_percent.at_95;
    let accuracy = accuracy.map(|p| format!(" ±{:.2}%", p.value())).unwrap_or_default();
    let stars = comparison.confidence.stars();
    own(format!("{:.2} %{accuracy} {stars}", improvement.value()).trim_end())
}

/// What trips the gate, if anything does.
pub fn gate(results: &Results) -> Option<Block> {
    let naming = Naming::for_results(results);
    let several = results.revisions.len() > 2;
    let line = |comparison: &Comparison| {
        let Comparison { package, target, benchmark, .. } = comparison;
        let name = code(&naming.name(package, target, benchmark));
        let revision =
            if several { format!(" ({})", code(&comparison.head.label)) } else { String::new() };
        Item { rank: 0, text: format!("- {name}{revision}\n") }
    };
    let items: Vec<Item> = results.comparisons.iter().filter(|c| c.trips_gate).map(line).collect();
    (results.gate != Gate::None && !items.is_empty()).then(|| Block {
        importance: 1,
        what: "that trip the gate".to_owned(),
        before: "**The gate is tripped** by regressions beyond the margin, at 5 % for all comparisons together:\n\n"
            .to_owned(),
        items,
        after: "\n".to_owned(),
    })
}

/// What failed, with the errors.
pub fn failures(results: &Results) -> Option<Block> {
    let naming = Naming::for_results(results);
    let name = |failure: &Failure| {
        part(naming, &failure.package, &failure.target, failure.benchmark.as_deref())
    };
    let item = |reason: &Reason| {
        let first = reason.first;
        let (side, revision) = (code(&first.side), code(&first.revision));
        let error = block(&first.error, LONGEST_ERROR);
        let what = reason.several().unwrap_or_else(|| name(first));
        let mut text = format!("{what}, on {side} ({revision}):\n\n{error}\n");
        if reason.count() > 1 {
            let names: Vec<String> = reason.failures().take(NAMES_OF_A_REASON).map(name).collect();
            let left_out = reason.count() - names.len();
            let more = if left_out > 0 { format!(" and {left_out} more") } else { String::new() };
            text += &format!("{}{more}\n\n", names.join(", "));
        }
        Item { rank: 0, text }
    };
    (!results.failed.is_empty()).then(|| Block {
        importance: 3,
        what: "reasons of failures".to_owned(),
        before: "**Failed:**\n\n".to_owned(),
        items: reasons(results).iter().map(item).collect(),
        after: String::new(),
    })
}

/// The name of a benchmark, or of a target with all that it has: as [`Naming::part`], but in code.
fn part(naming: Naming, package: &str, target: &str, benchmark: Option<&str>) -> String {
    match benchmark {
        Some(benchmark) => code(&naming.name(package, target, benchmark)),
        None => format!("all of {}", code(&format!("{package}::{target}"))),
    }
}

/// Names of benchmarks, as items of a list, in their order.
pub fn names(results: &Results, list: &[Missing]) -> Vec<String> {
    let naming = Naming::for_results(results);
    let several = results.revisions.len() > 2;
    let mut names: Vec<(String, &str)> = list
        .iter()
        .map(|m| (naming.name(&m.package, &m.target, &m.benchmark), m.revision.as_str()))
        .collect();
    names.sort_by(|a, b| natural_order(&a.0, &b.0));
    let line = |(name, revision): (String, &str)| {
        let revision = if several { format!(" ({})", code(revision)) } else { String::new() };
        format!("- {}{revision}\n", code(&name))
    };
    names.into_iter().map(line).collect()
}

/// What the configuration sets aside, with the reasons.
pub fn set_aside(results: &Results) -> Vec<String> {
    let naming = Naming::for_results(results);
    let line = |aside: &SetAside| {
        let name = part(naming, &aside.package, &aside.target, aside.benchmark.as_deref());
        format!("- {name}: {}\n", code(&aside.reason))
    };
    results.set_aside.iter().map(line).collect()
}

/// A list that is folded. Its lines are Markdown, what they are is this program's own words.
pub fn folded(importance: u8, what: &str, lines: Vec<String>) -> Option<Block> {
    (!lines.is_empty()).then(|| Block {
        importance,
        what: what.split(',').next().unwrap_or_default().to_owned(),
        before: summary(&format!("{} {what}", lines.len())),
        items: lines.into_iter().map(|text| Item { rank: 0, text }).collect(),
        after: "\n</details>\n\n".to_owned(),
    })
}

/// The beginning of something folded, up to its content.
pub fn summary(text: &str) -> String {
    format!("<details><summary>{}</summary>\n\n", own(text))
}

/// The columns of Node.js's table as plain text, which can be copied.
pub fn classic(rows: &Rows) -> Option<Block> {
    let measured = rows.with(|v| v != Verdict::IdenticalCode);
    if measured.is_empty() {
        return None;
    }
    let mut lines: Vec<(u8, [String; 6])> = vec![(0, Default::default())];
    lines[0].1[1..]
        .clone_from_slice(&TITLES[..5].iter().map(|t| (*t).to_owned()).collect::<Vec<_>>());
    lines.extend(measured.iter().map(|c| {
        let name = shortened(&rows.name(c), LONGEST_PLAIN_NAME);
        let label = shortened(&c.head.label, LONGEST_PLAIN_NAME);
        let name = if rows.several { format!("{label}: {name}") } else { name };
        let cells = Cells::of(c).numbers();
        let [stars, improvement, at_95, at_99, at_999, ..] = cells;
        (u8::from(!is_change(c.verdict)), [name, stars, improvement, at_95, at_99, at_999])
    }));
    let widths: [usize; 6] = std::array::from_fn(|column| {
        lines.iter().map(|(_, cells)| cells[column].width()).max().unwrap_or_default()
    });
    let items = lines.iter().map(|(rank, cells)| {
        let mut line = cells[0].clone() + &" ".repeat(widths[0] - cells[0].width());
        for (cell, width) in cells.iter().zip(widths).skip(1) {
            line += &format!(" {}{cell}", " ".repeat(width - cell.width()));
        }
        Item { rank: *rank, text: format!("{}\n", line.trim_end()) }
    });
    let items: Vec<Item> = items.collect();
    let fence = fence(items.iter().map(|item| item.text.as_str()));
    Some(Block {
        importance: 8,
        what: "lines of the plain text".to_owned(),
        before: format!("{}{fence}text\n", summary("As plain text")),
        items,
        after: format!("{fence}\n\n</details>\n\n"),
    })
}

/// Revisions, machine, method, noise and command.
pub fn machine(results: &Results) -> Block {
    let lines: Vec<(String, String)> = circumstances(results)
        .into_iter()
        .map(|line| (line.title, printable(&line.text)))
        .collect();
    let width = lines.iter().map(|(title, _)| title.width()).max().unwrap_or_default();
    let mut text = String::new();
    let mut command = String::new();
    for (title, line) in lines {
        if title == "command" {
            command = one_line(&line);
            continue;
        }
        text += &format!("{title:width$}  {}\n", line.replace('\n', &format!("\n{:width$}  ", "")));
    }
    let text = block(&text, LONGEST_CIRCUMSTANCES);
    let command = cut(&command, LONGEST_ERROR);
    let fence = fence([command.as_str()]);
    Block {
        importance: 1,
        what: "circumstances".to_owned(),
        before: summary("Machine, method and command"),
        items: vec![Item { rank: 0, text: format!("{text}\n{fence}sh\n{command}\n{fence}\n") }],
        after: "\n</details>\n\n".to_owned(),
    }
}
