//! Failures, those together that have one reason: where a tool is missing, every benchmark says the same.

use std::collections::HashMap;

use crate::results::{Failure, Results};

/// What failed for one reason.
#[derive(Debug, Clone)]
pub struct Reason<'a> {
    /// The first of them: where it failed, and why.
    pub first: &'a Failure,
    /// The others, which failed on the same side for the same reason.
    pub others: Vec<&'a Failure>,
}

impl<'a> Reason<'a> {
    /// All of them.
    pub fn failures(&self) -> impl Iterator<Item = &'a Failure> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        1 + self.others.len()
    }

    /// What they are, if there are several: `12 benchmarks`.
    pub fn several(&self) -> Option<String> {
        let kind = match self.failures().all(|failure| failure.benchmark.is_some()) {
            true => "benchmarks",
            false => "benchmarks and targets",
        };
        (self.count() > 1).then(|| format!("{} {kind}", self.count()))
    }
}

/// The reasons in the order in which they occur first.
pub fn reasons(results: &Results) -> Vec<Reason<'_>> {
    let mut reasons: Vec<Reason> = Vec::new();
    let mut known: HashMap<(&str, &str, &str), usize> = HashMap::new();
    for failure in &results.failed {
        let reason = (&*failure.side, &*failure.revision, &*failure.error);
        match known.get(&reason) {
            Some(index) => reasons[*index].others.push(failure),
            None => {
                known.insert(reason, reasons.len());
                reasons.push(Reason { first: failure, others: Vec::new() });
            }
        }
    }
    reasons
}
