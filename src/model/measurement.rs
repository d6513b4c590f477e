//! What one launch measured of one benchmark.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One timed batch of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// How often the benchmarked code ran in the batch.
    pub iterations: f64,
    /// What the batch took, in the [`Measurement`]'s unit; usually nanoseconds.
    pub total: f64,
}

/// The samples of one benchmark in one launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The benchmark's id within its executable.
    pub benchmark: String,
    /// The unit of [`Sample::total`]: `ns` unless the benchmark measures something else than time.
    pub unit: String,
    /// In the order in which they were taken.
    pub samples: Vec<Sample>,
    /// Whether the harness gives no samples, but one figure that it has made of them: their median.
    pub is_summary: bool,
    /// Whether it was counted, not timed: the same code gives the same number, and once is enough.
    pub is_counted: bool,
    /// What one iteration works on, if the benchmark says so.
    pub throughput: Option<Throughput>,
    /// What was counted beside, such as allocations.
    pub counts: Vec<Count>,
}

impl Measurement {
    /// Samples in a unit, and nothing else.
    pub fn new(
        benchmark: impl Into<String>,
        unit: impl Into<String>,
        samples: Vec<Sample>,
    ) -> Self {
        Self {
            benchmark: benchmark.into(),
            unit: unit.into(),
            samples,
            is_summary: false,
            is_counted: false,
            throughput: None,
            counts: Vec::new(),
        }
    }

    /// The median time of an iteration, in nanoseconds, where the harness tells no more.
    pub fn median(benchmark: impl Into<String>, nanoseconds: f64) -> Self {
        let sample = Sample { iterations: 1.0, total: nanoseconds };
        Self { is_summary: true, ..Self::new(benchmark, "ns", vec![sample]) }
    }
}

/// How much one iteration of a benchmark works on, as precisely as its harness says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throughput {
    /// How many of them an iteration takes.
    pub amount: f64,
    /// `bytes`, `items`, `elements`, `chars`, `cycles`, ...
    pub unit: String,
}

/// Something that is counted, not timed: the same code gives the same number.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    /// What is counted: `allocations`, `allocated bytes`, ...
    pub metric: String,
    /// How many of them in one iteration.
    pub value: f64,
}

/// The most launch groups that a run may have. Statistics are exact, and their cost grows with the third
/// power of it.
pub const MOST_LAUNCHES: u32 = 1000;

/// Whether a number can be a time per iteration, or another quantity that is compared as a ratio.
pub fn is_quantity(value: f64) -> bool {
    // Far from the ends of what there is, so that ratios are numbers too.
    (1e-100..1e100).contains(&value)
}
