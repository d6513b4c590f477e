//! What every report is about: each revision in comparison with the reference, and the answer in a sentence.

use crate::model::{Percent, Side};
use crate::results::{Comparison, Failure, Missing, Results, Revision};
use crate::stats::Verdict;

use super::text::shortened;

/// One revision in comparison with the reference.
#[derive(Debug, Clone)]
pub struct Variant<'a> {
    /// What it was compared with.
    pub reference: &'a Revision,
    /// The revision.
    pub revision: &'a Revision,
    /// Its comparisons, in the order of the results.
    pub comparisons: Vec<&'a Comparison>,
    /// How many of each kind there are.
    pub tally: Tally,
}

/// The revisions that were compared with the reference, in their order.
pub fn variants(results: &Results) -> Vec<Variant<'_>> {
    let Some((reference, others)) = results.revisions.split_first() else { return Vec::new() };
    let several = others.len() > 1;
    let variant = |revision| variant(results, reference, revision, several);
    others.iter().map(variant).collect()
}

fn variant<'a>(
    results: &'a Results,
    reference: &'a Revision,
    revision: &'a Revision,
    several: bool,
) -> Variant<'a> {
    let of_it = |c: &&Comparison| !several || c.head.label == revision.label;
    let comparisons: Vec<&Comparison> = results.comparisons.iter().filter(of_it).collect();
    let tally = Tally::of(results, &revision.label, &comparisons);
    Variant { reference, revision, comparisons, tally }
}

/// How many benchmarks came out how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Slower, with at least one star.
    pub regressed: usize,
    /// Faster, with at least one star.
    pub improved: usize,
    /// No star, and the interval lies within the margin.
    pub equivalent: usize,
    /// Neither.
    pub inconclusive: usize,
    /// Not measured, because both sides run the same code.
    pub identical_code: usize,
    /// Not compared, because something failed on either side.
    pub failed: usize,
    /// Benchmarks that the reference has not got.
    pub added: usize,
    /// Benchmarks that only the reference has.
    pub removed: usize,
    /// Benchmarks and targets that the configuration sets aside.
    pub set_aside: usize,
    /// Whether all that are equivalent are so within the margin of the whole comparison.
    pub same_margin: bool,
}

impl Tally {
    fn of(results: &Results, label: &str, comparisons: &[&Comparison]) -> Self {
        let count = |verdict| comparisons.iter().filter(|c| c.verdict == verdict).count();
        let missing = |list: &[Missing]| list.iter().filter(|m| m.revision == label).count();
        // What failed at the reference cannot be compared with any revision.
        let reference = Side::REFERENCE.to_string();
        let failed = |f: &&Failure| f.revision == label || f.side == reference;
        Self {
            regressed: count(Verdict::Regressed),
            improved: count(Verdict::Improved),
            equivalent: count(Verdict::Equivalent),
            inconclusive: count(Verdict::Inconclusive),
            identical_code: count(Verdict::IdenticalCode),
            failed: results.failed.iter().filter(failed).count(),
            added: missing(&results.added),
            removed: missing(&results.removed),
            set_aside: results.set_aside.len(),
            same_margin: comparisons
                .iter()
                .filter(|c| c.verdict == Verdict::Equivalent)
                .all(|c| c.margin_percent == results.margin_percent),
        }
    }

    /// As a sentence: `2 regressed, 1 improved, 5 equivalent within 2 %`.
    pub fn sentence(&self, margin: Percent) -> String {
        let equivalent = if self.same_margin {
            format!("equivalent within {margin}")
        } else {
            "equivalent within their margins".to_owned()
        };
        let parts: Vec<String> = [
            (self.regressed, "regressed".to_owned()),
            (self.improved, "improved".to_owned()),
            (self.equivalent, equivalent),
            (self.inconclusive, "inconclusive".to_owned()),
            (self.identical_code, "identical code".to_owned()),
            (self.failed, "failed".to_owned()),
            (self.added, "added".to_owned()),
            (self.removed, "removed".to_owned()),
            (self.set_aside, "set aside".to_owned()),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
        if parts.is_empty() { "nothing was compared".to_owned() } else { parts.join(", ") }
    }
}

/// The answer for one revision in a sentence.
pub fn answer_of(variant: &Variant, results: &Results) -> String {
    let mut sentence = variant.tally.sentence(results.margin_percent);
    if !results.complete {
        sentence += ", incomplete: the run did not come to its end";
    }
    sentence
}

/// The answer of the whole comparison in one line, without markup. With several revisions, each with its
/// label: `first: 2 regressed; second: 1 improved`.
pub fn answer(results: &Results) -> String {
    let variants = variants(results);
    let sentence = |variant: &Variant| answer_of(variant, results);
    match &variants[..] {
        [only] => sentence(only),
        several => several
            .iter()
            .map(|v| format!("{}: {}", shortened(&v.revision.label, 60), sentence(v)))
            .collect::<Vec<_>>()
            .join("; "),
    }
}
