//! Bytes that a bench process sends over criterion's socket, in pieces of any size.
#![no_main]

use cargo_bench_compare::harness::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (u8, &[u8])| fuzzing::criterion(data.1, usize::from(data.0)));
