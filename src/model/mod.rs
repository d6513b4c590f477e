//! The vocabulary: names, sides, measurements, and what else several stages speak of.
//!
//! Plain values. No input or output, and nothing that knows of a stage.

mod custom_harness;
mod environment;
mod layout_seed;
mod limits;
mod measurement;
mod name;
mod percent;
mod place;
mod rules;
mod shard;
mod side;

pub use custom_harness::CustomHarness;
pub use environment::Environment;
pub use layout_seed::LayoutSeed;
pub use limits::TimeLimits;
pub use measurement::{Count, MOST_LAUNCHES, Measurement, Sample, Throughput, is_quantity};
pub use name::{BenchmarkName, TargetName};
pub use percent::{Percent, is_margin};
pub use place::Place;
pub use rules::{BenchmarkRule, Ids, Rules, SkipRule, Subject, TargetRule};
pub use shard::Shard;
pub use side::{PerSide, Side};
