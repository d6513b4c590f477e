//! The configuration: `bench-compare.toml`, and the metadata in Cargo manifests.

mod rules;

pub use rules::{BenchmarkRule, Ids, Rules, SetAside, Subject, TargetRule};
