//! What bench processes print: divan's tree, libtest's lines, JSON lines.
#![no_main]

use cargo_bench_compare::harness::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| fuzzing::output(text));
