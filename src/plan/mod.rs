//! What is to be measured: the benchmarks of all sides, matched by package, target and id.
//!
//! In: what each side has, and which executables are the same code. Out: every benchmark with what each side has
//! of it, and from that what is to be measured. Pure: starts no process.

mod filter;
mod inventory;
mod matching;
mod planned;
mod shard;

pub use filter::Filter;
pub use inventory::{Inventories, Inventory, Listed};
pub use planned::{
    Benchmark, Failed, Plan, PlannedBenchmark, PlannedTarget, Skipped, Standing, Target,
};
pub use shard::{Costs, WantedShard, keep_shard};
