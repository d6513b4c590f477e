//! One part of a comparison that is split over several machines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of several parts into which the benchmarks of a comparison were split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shard {
    /// Its number, from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
    /// The same in all shards of one split: a digest of which benchmark is in which.
    pub split: String,
}

/// `2/4`
impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}
