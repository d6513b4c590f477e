//! A results file from a stranger: it is read or refused, and what was read can be shown in every form.
#![no_main]

use cargo_bench_compare::report::{MarkdownOptions, Sort, Table, bencher, csv, github_action_benchmark, html, markdown, table};
use cargo_bench_compare::results::Results;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(results) = Results::from_json(text) else { return };
    for width in [None, Some(40), Some(80), Some(180)] {
        table(&results, Table { color: true, width, sort: Sort::Regressions, all: false });
    }
    let options = MarkdownOptions { limit: 3_000, ..MarkdownOptions::default() };
    assert!(markdown(&results, &options).len() <= options.limit);
    for render in [html, csv, bencher, github_action_benchmark] {
        render(&results);
    }
    let again = Results::from_json(&results.to_json()).expect("what was read can be written");
    assert_eq!(again.measured, results.measured);
});
