//! What is to be measured: the benchmarks of all sides, matched by package, target and id.
//!
//! In: what each side has, and which executables are the same code. Out: benchmarks to measure, benchmarks
//! whose code is identical, and those that only some sides have. Pure: starts no process.

mod filter;
mod inventory;
mod matching;
mod planned;
mod shard;

pub use filter::Filter;
pub use inventory::{Inventories, Inventory, Listed};
pub use planned::{Failed, OnSide, Plan, PlannedBenchmark, PlannedTarget, SameCode, SetAside};
pub use shard::{Costs, WantedShard, keep_shard};
