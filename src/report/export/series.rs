//! The values of one revision of one benchmark, which all forms for other programs write.

use std::collections::HashMap;

use crate::results::{Comparison, LaunchValues, Measured, Method, Results};

/// The times of one benchmark in one revision, one for each launch, in the order of the launch groups.
pub(super) struct Series<'a> {
    pub(super) measured: &'a Measured,
    /// The revision by its position.
    pub(super) revision: usize,
    /// How it compares with the reference, unless it is the reference.
    pub(super) comparison: Option<&'a Comparison>,
    /// Time per iteration of each launch, in the benchmark's unit.
    pub(super) values: Vec<f64>,
}

/// What was measured of everything that was compared; identical code was not. Benchmark by benchmark, in each the
/// reference first.
pub(super) fn series(results: &Results) -> Vec<Series<'_>> {
    let compared: HashMap<[&str; 4], &Comparison> = results
        .comparisons
        .iter()
        .filter(|c| c.method != Method::None && c.pairs > 0)
        .map(|c| ([&*c.package, &c.target, &c.benchmark, &c.head.label], c))
        .collect();
    let mut all = Vec::new();
    for measured in &results.measured {
        let comparison = |revision: usize| {
            let label = &results.revisions[revision].label;
            let key = [&*measured.package, &measured.target, &measured.benchmark, label];
            compared.get(&key).copied()
        };
        let others: Vec<(usize, &Comparison)> = (1..results.revisions.len())
            .filter_map(|revision| Some((revision, comparison(revision)?)))
            .collect();
        if others.is_empty() {
            continue;
        }
        let others = others.into_iter().map(|(revision, comparison)| (revision, Some(comparison)));
        all.extend(std::iter::once((0, None)).chain(others).map(|(revision, comparison)| {
            let column = measured.measured_as(revision);
            let value = |launch: &LaunchValues| launch.values.get(column).copied().flatten();
            let values = measured.launches.iter().filter_map(value).collect();
            Series { measured, revision, comparison, values }
        }));
    }
    all
}
