//! The format. It grows by optional fields; anything else raises [`SCHEMA_VERSION`].

use crate::model::Shard;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{BenchmarkName, Environment, Percent, Place, Throughput};
use crate::stats::{Confidence, StoppedBy, Verdict};

/// The version of the format that this program writes, and the only one that it reads.
pub const SCHEMA_VERSION: u32 = 1;

/// The results of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// The version of this format.
    pub schema_version: u32,
    /// The program that wrote it: `cargo-bench-compare 0.1.0`.
    pub generator: String,
    /// The command that was given.
    pub command: String,
    /// Whether the run came to its end. A run that was interrupted leaves what it had.
    pub complete: bool,
    /// The seed of the schedule.
    pub seed: u64,
    /// Launch groups of each benchmark, if their number was given. Null: until its comparisons were decided.
    #[serde(default)]
    pub runs: Option<u32>,
    /// How long the measuring was allowed to take.
    #[serde(default)]
    pub time_limit_seconds: Option<f64>,
    /// How long the measuring took, with all that it needs beside the samples: launching, warming up, linking anew. Of
    /// merged results, all their runs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measuring_seconds: Option<f64>,
    /// What is to make the run fail.
    #[serde(default)]
    pub gate: Gate,
    /// The margin X: changes below it do not matter.
    pub margin_percent: Percent,
    /// What was compared, the reference first.
    pub revisions: Vec<Revision>,
    /// The label of the revision whose bench targets were measured on all revisions, if that was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benches_from: Option<String>,
    /// The machine; of merged results, the first.
    pub environment: Environment,
    /// Which part of the benchmarks was measured, if not all were to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The runs of which these results were merged, if they were. Launches name them by position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// What follows from `measured`, one entry for each benchmark and revision other than the first.
    pub comparisons: Vec<Comparison>,
    /// Benchmarks that a revision has and the reference has not.
    pub added: Vec<Missing>,
    /// Benchmarks that the reference has and a revision has not.
    pub removed: Vec<Missing>,
    /// What could not be measured.
    pub failed: Vec<Failure>,
    /// What the configuration sets aside.
    #[serde(default)]
    pub set_aside: Vec<SetAside>,
    /// What was left out or is worth knowing, in words.
    pub notes: Vec<String>,
    /// What was measured: `comparisons` can be derived from it again.
    pub measured: Vec<Measured>,
}

/// What makes a run fail that came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// Nothing.
    #[default]
    None,
    /// A regression beyond the margin that is not one of many chances: its p-value is at most .05 after Holm's
    /// correction for all comparisons, and its 95 % interval lies beyond the margin.
    Regression,
}

/// A run whose results are a part of merged ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// Its machine.
    pub environment: Environment,
    /// Its command.
    pub command: String,
    /// Its seed.
    pub seed: u64,
    /// Which part of the benchmarks it measured, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

/// One revision that was compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Revision {
    /// What the user called it.
    pub label: String,
    /// The full commit id; empty for a prebuilt program.
    pub commit: String,
    /// Whether there were uncommitted changes to that commit.
    pub dirty: bool,
    /// The compiler: `rustc 1.95.0 (59807616e 2026-04-14)`; empty where none was used.
    pub rustc: String,
    /// The path of a prebuilt program, as it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// A digest of all files of the checkout when it was built, with uncommitted changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
}

/// One benchmark of one revision, compared with the reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The cargo package.
    pub package: String,
    /// The cargo target.
    pub target: String,
    /// The benchmark's id in the target.
    pub benchmark: String,
    /// The reference's time.
    pub base: SideTime,
    /// The revision's time.
    pub head: SideTime,
    /// `ns` if the benchmark measures time; then `nanoseconds` are that, else they are in this unit.
    pub unit: String,
    /// Base time / head time - 1, in percent: positive is faster. Null if nothing was measured.
    pub improvement_percent: Option<Percent>,
    /// Half the width of its confidence intervals.
    pub accuracy_percent: Accuracy,
    /// The ends of the 95 % confidence interval of the improvement.
    pub interval_percent: Option<[f64; 2]>,
    /// Stars.
    pub confidence: Confidence,
    /// Exact Wilcoxon signed-rank test of "no difference", two-sided.
    pub p_value: Option<f64>,
    /// Benjamini-Hochberg's q-value over all comparisons of the file.
    pub q_value: Option<f64>,
    /// The p-value after Holm's correction for all comparisons of the file.
    #[serde(default)]
    pub adjusted_p_value: Option<f64>,
    /// Whether it is what the file's gate is about.
    #[serde(default)]
    pub trips_gate: bool,
    /// Why it was measured no further. Null if it was not measured, or if the run did not come to its end.
    #[serde(default)]
    pub stopped_by: Option<StoppedBy>,
    /// The answer.
    pub verdict: Verdict,
    /// The margin of this benchmark: its own, or `margin_percent` of the file.
    #[serde(default = "margin_of_old")]
    pub margin_percent: Percent,
    /// Whether the 95 % interval lies within the margin.
    pub within_margin: bool,
    /// If inconclusive: about how many pairs would decide it.
    pub pairs_to_decide: Option<u64>,
    /// How many launch pairs were measured.
    pub pairs: usize,
    /// How it was measured.
    pub method: Method,
    /// What is worth knowing about it, in words.
    pub notes: Vec<String>,
    /// What one iteration works on, if the benchmark says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
    /// ln(head time / base time) of each launch pair, in the order of measurement.
    pub log_ratios: Vec<f64>,
    /// How many of them come from each run, one after the other, if there are several: each is a stratum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strata: Vec<usize>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideTime {
    /// The revision's label.
    pub label: String,
    /// Time per iteration: the median over the launches. Null if nothing was measured.
    pub nanoseconds: Option<f64>,
}

/// Half widths of confidence intervals, in percent; null where there are too few pairs for the level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Accuracy {
    /// At 95 %.
    #[serde(rename = "95")]
    pub at_95: Option<Percent>,
    /// At 99 %.
    #[serde(rename = "99")]
    pub at_99: Option<Percent>,
    /// At 99.9 %.
    #[serde(rename = "99.9")]
    pub at_999: Option<Percent>,
}

/// How a benchmark was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Live processes of all sides in step, taking turns of about a millisecond.
    Lockstep,
    /// Live processes of all sides, one benchmark of each in turn.
    Process,
    /// Counted, not timed: the same code gives the same number.
    Count,
    /// Not at all: the code is identical, or there was no time.
    None,
}

/// A benchmark that one of two revisions has not got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// The cargo package.
    pub package: String,
    /// The cargo target.
    pub target: String,
    /// The benchmark's id.
    pub benchmark: String,
    /// The label of the revision: of what was added, the first that has it.
    pub revision: String,
}

/// Something that could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// `base`, `head`, `variant 2`: where it failed.
    pub side: String,
    /// The label of that side's revision.
    pub revision: String,
    /// The cargo package.
    pub package: String,
    /// The cargo target.
    pub target: String,
    /// The benchmark's id; null if the whole target failed.
    pub benchmark: Option<String>,
    /// What happened.
    pub error: String,
}

/// Something that was not measured because the configuration sets it aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetAside {
    /// The cargo package.
    pub package: String,
    /// The cargo target.
    pub target: String,
    /// The benchmark's id; null if the whole target is set aside.
    pub benchmark: Option<String>,
    /// Why, in the user's words.
    pub reason: String,
}

/// The launches of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// The cargo package.
    pub package: String,
    /// The cargo target.
    pub target: String,
    /// The benchmark's id.
    pub benchmark: String,
    /// The unit of the values, `ns` for times.
    pub unit: String,
    /// The margin that this benchmark has instead of the file's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin_percent: Option<Percent>,
    /// Where it is written in the last revision, as far as that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Place>,
    /// The position of the revision with which the others are compared: the first that has the benchmark.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reference: usize,
    /// The revisions, by position, whose code is that of the first: they are not measured.
    pub identical: Vec<usize>,
    /// Revisions whose code is that of another one than the first: they have its values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_code: Vec<SameCode>,
    /// What is worth knowing about how it was measured, in words.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Why each revision, by position, was measured no further; null where nothing is to be said.
    #[serde(default)]
    pub stopped_by: Vec<Option<StoppedBy>>,
    /// The id of the benchmark beside which this was counted, such as its allocations. It is compared only if it
    /// has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_beside: Option<String>,
    /// What one iteration works on, if the benchmark says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
    /// How long all its samples took together, on all sides: what it costs to measure it.
    #[serde(default)]
    pub seconds: f64,
    /// One entry for each launch group.
    pub launches: Vec<LaunchValues>,
}

/// A revision whose code is that of another one, so that only that one was measured. By position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SameCode {
    /// The revision that was not measured.
    pub revision: usize,
    /// The revision whose values it has.
    pub measured_as: usize,
}

impl Measured {
    /// The revision whose values stand for this one's, by position.
    pub fn measured_as(&self, position: usize) -> usize {
        if self.identical.contains(&position) {
            return 0;
        }
        let same = self.same_code.iter().find(|same| same.revision == position);
        same.map_or(position, |same| same.measured_as)
    }

    /// The name of the benchmark.
    pub fn name(&self) -> BenchmarkName {
        BenchmarkName {
            package: self.package.clone(),
            target: self.target.clone(),
            benchmark: self.benchmark.clone(),
        }
    }

    /// A benchmark of which nothing is measured yet.
    pub fn new(package: String, target: String, benchmark: String) -> Self {
        Self {
            package,
            target,
            benchmark,
            unit: "ns".to_owned(),
            margin_percent: None,
            source: None,
            reference: 0,
            identical: Vec::new(),
            same_code: Vec::new(),
            notes: Vec::new(),
            stopped_by: Vec::new(),
            counted_beside: None,
            throughput: None,
            seconds: 0.0,
            launches: Vec::new(),
        }
    }

    /// The values of two revisions in each launch group that has both.
    pub fn pairs(&self, base: usize, head: usize) -> Vec<(f64, f64)> {
        let pair = |launch: &LaunchValues| {
            Some(((*launch.values.get(base)?)?, (*launch.values.get(head)?)?))
        };
        self.launches.iter().filter_map(pair).collect()
    }

    /// The same, apart for each run of which results were merged; runs without any are left out.
    pub fn strata(&self, base: usize, head: usize) -> Vec<Vec<(f64, f64)>> {
        self.pairs_of_runs(base, head).into_values().collect()
    }

    /// The same by run, in the same order: a position in `parts`, and its pairs.
    pub fn pairs_of_runs(&self, base: usize, head: usize) -> BTreeMap<usize, Vec<(f64, f64)>> {
        let mut strata: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
        for launch in &self.launches {
            let value = |position: usize| launch.values.get(position).copied().flatten();
            if let (Some(base), Some(head)) = (value(base), value(head)) {
                strata.entry(launch.part).or_default().push((base, head));
            }
        }
        strata
    }

    /// ln(head time / base time) of each launch group that has both.
    pub fn log_ratios(&self, base: usize, head: usize) -> Vec<f64> {
        self.pairs(base, head).into_iter().map(|(base, head)| (head / base).ln()).collect()
    }
}

/// One benchmark in one launch group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchValues {
    /// The number of the launch group, from 1.
    pub group: u32,
    /// The run in which it was measured, of merged results: a position in `parts`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub part: usize,
    /// How it was measured.
    #[serde(default = "not_in_step")]
    pub method: Method,
    /// The revisions, by position, in the order in which they were measured.
    pub order: Vec<usize>,
    /// The time per iteration of each revision, by position; null where it was not measured.
    pub values: Vec<Option<f64>>,
    /// The seed of the random code layout of each revision's executable, by position; null, or nothing at all,
    /// where it was launched as it was built.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<Option<u32>>,
}

/// In files of before benchmarks had margins of their own; it is derived anew.
fn margin_of_old() -> Percent {
    Percent::new(2.0)
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What is meant where nothing is said.
fn not_in_step() -> Method {
    Method::Process
}

/// The JSON Schema of the results file.
pub fn json_schema() -> serde_json::Value {
    schemars::schema_for!(Results).to_value()
}
