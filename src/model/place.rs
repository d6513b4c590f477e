//! Where a benchmark is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place in the sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The file, relative to the repository, with `/` between its parts.
    pub path: String,
    /// The line, from 1: the first one if the benchmark is nowhere to be found in the file.
    pub line: u32,
}
