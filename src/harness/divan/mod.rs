//! The adapter for divan.
//!
//! It prints a tree of summaries and no samples; what counts is the median. The slowest sample says nothing
//! about the code.

mod benchmarks;
pub(super) mod tree;

pub use benchmarks::DivanBenchmarks;
