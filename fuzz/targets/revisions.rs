//! What is to be compared, as words of the command line.
#![no_main]

use cargo_bench_compare::revision::Range;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let words: Vec<&str> = text.split('\n').collect();
    let _ = Range::from_words(&words);
});
