//! A `bench-compare.toml`: it is read or refused, and its commands become command lines.
#![no_main]

use cargo_bench_compare::cli::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| fuzzing::configuration(text));
