//! A file that is said to come from Node.js's compare.js: every binary can be compared with every other.
#![no_main]

use cargo_bench_compare::node_compare::{compare_rates, parse, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(rates) = parse(text) else { return };
    for old in rates.binaries.iter().take(3) {
        for new in rates.binaries.iter().take(3) {
            let (rows, not_compared) = compare_rates(&rates, old, new);
            render(&rows, &not_compared);
        }
    }
});
