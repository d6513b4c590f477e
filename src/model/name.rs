//! What benchmarks and their targets are called.

use std::fmt;

/// The full name of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BenchmarkName {
    /// The cargo package.
    pub package: String,
    /// The cargo target.
    pub target: String,
    /// The id within the target's executable.
    pub benchmark: String,
}

/// A bench target of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetName {
    /// The cargo package.
    pub package: String,
    /// The cargo target.
    pub target: String,
}

impl TargetName {
    /// The name of a benchmark in this target.
    pub fn benchmark(&self, id: &str) -> BenchmarkName {
        BenchmarkName {
            package: self.package.clone(),
            target: self.target.clone(),
            benchmark: id.to_owned(),
        }
    }
}

/// `package::target`
impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.package, self.target)
    }
}
