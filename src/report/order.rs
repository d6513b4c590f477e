//! In which order comparisons are shown.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::results::Comparison;
use crate::stats::Verdict;

use super::names::{Naming, natural_order};
use super::variant::Variant;

/// What comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Sort {
    /// Names, as people order them: n=4 before n=16
    #[default]
    Name,
    /// Regressions, the worst first; then improvements, then what is undecided
    Regressions,
    /// Improvements, the greatest first; then regressions, then what is undecided
    Improvements,
    /// The greatest differences, whatever their direction and their confidence
    Change,
}

/// A benchmark as a row: its name, and its comparison in each revision, where there is one.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// The name that is shown.
    pub name: String,
    /// One for each variant, in their order.
    pub comparisons: Vec<Option<&'a Comparison>>,
}

impl<'a> Row<'a> {
    /// The comparisons that there are.
    pub fn present(&self) -> impl Iterator<Item = &'a Comparison> + '_ {
        self.comparisons.iter().copied().flatten()
    }

    /// Whether any of them has a star.
    pub fn changed(&self) -> bool {
        self.present().any(|c| is_change(c.verdict))
    }
}

/// The benchmarks of these variants as rows.
pub fn rows<'a>(variants: &[Variant<'a>], naming: Naming, sort: Sort) -> Vec<Row<'a>> {
    let mut found: BTreeMap<[&str; 3], Vec<Option<&Comparison>>> = BTreeMap::new();
    for (position, variant) in variants.iter().enumerate() {
        for &comparison in &variant.comparisons {
            let key = [&*comparison.package, &comparison.target, &comparison.benchmark];
            let row = found.entry(key).or_insert_with(|| vec![None; variants.len()]);
            row[position] = Some(comparison);
        }
    }
    let mut rows: Vec<Row> = found
        .into_iter()
        .map(|([package, target, benchmark], comparisons)| Row {
            name: naming.name(package, target, benchmark),
            comparisons,
        })
        .collect();
    rows.sort_by(|a, b| sort.compare(a, b).then_with(|| natural_order(&a.name, &b.name)));
    rows
}

impl Sort {
    fn compare(self, a: &Row, b: &Row) -> Ordering {
        let first: fn(&Comparison) -> u8 = match self {
            Self::Name => return Ordering::Equal,
            Self::Regressions => |c| rank(c.verdict, Verdict::Regressed),
            Self::Improvements => |c| rank(c.verdict, Verdict::Improved),
            Self::Change => |_| 0,
        };
        // With several revisions, a row is as important as what is most important in it.
        let key = |row: &Row| row.present().map(|c| (first(c), size(c))).min_by(by_rank_and_size);
        match (key(a), key(b)) {
            (Some(a), Some(b)) => by_rank_and_size(&a, &b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        }
    }
}

fn by_rank_and_size(a: &(u8, f64), b: &(u8, f64)) -> Ordering {
    a.0.cmp(&b.0).then(b.1.total_cmp(&a.1))
}

fn rank(verdict: Verdict, first: Verdict) -> u8 {
    match verdict {
        verdict if verdict == first => 0,
        Verdict::Regressed | Verdict::Improved => 1,
        Verdict::Inconclusive => 2,
        Verdict::Equivalent => 3,
        Verdict::IdenticalCode => 4,
    }
}

/// The size of a difference. Half the speed matters as much as twice.
fn size(comparison: &Comparison) -> f64 {
    let improvement = comparison.improvement_percent;
    improvement.map_or(-1.0, |percent| percent.to_log_ratio().abs())
}

/// Whether something was shown to differ.
pub fn is_change(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Regressed | Verdict::Improved)
}
