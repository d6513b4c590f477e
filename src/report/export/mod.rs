//! Results for other programs: Node.js's CSV, Bencher's metrics, github-action-benchmark's list.
//!
//! All of them are about single revisions and their times, launch by launch or summed up: see [`Series`].

mod csv;
mod neighbours;

use std::collections::HashMap;

use crate::results::{Comparison, LaunchValues, Measured, Method, Results};

pub use csv::csv;
pub use neighbours::{bencher, github_action_benchmark};

/// The times of one benchmark in one revision, one for each launch, in the order of the launch groups.
struct Series<'a> {
    measured: &'a Measured,
    /// The revision by its position.
    revision: usize,
    /// How it compares with the reference, unless it is the reference.
    comparison: Option<&'a Comparison>,
    /// Time per iteration of each launch, in the benchmark's unit.
    values: Vec<f64>,
}

/// What was measured of everything that was compared; identical code was not. Benchmark by benchmark, in each the
/// reference first.
fn series(results: &Results) -> Vec<Series<'_>> {
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
