//! What a user can choose.

use std::path::PathBuf;
use std::time::Duration;

use crate::build::Selection;
use crate::commands::CommandSettings;
use crate::config::Config;
use crate::model::{Percent, Rules};
use crate::plan::{Filter, WantedShard};
use crate::results::Gate;
use crate::revision::{Cache, Range};

/// Everything that a user can choose.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The directory in which the comparison is asked for.
    pub directory: PathBuf,
    /// Where everything is kept that outlives the run.
    pub cache: Cache,
    /// What to compare.
    pub range: Range,
    /// The label of the revision with which the others are compared, unless it is the first.
    pub against: Option<String>,
    /// The label or the side (`head`) of the revision whose bench targets are laid over the others'.
    pub benches_from: Option<String>,
    /// What to build.
    pub selection: Selection,
    /// Which benchmarks.
    pub filter: Filter,
    /// What holds for some benchmarks only.
    pub rules: Rules,
    /// Whole commands, and prebuilt programs.
    pub commands: CommandSettings,
    /// Changes below it do not matter.
    pub margin: Percent,
    /// A fixed number of launch groups for each benchmark, instead of as many as it takes to decide it.
    pub runs: Option<u32>,
    /// How long the measuring may take.
    pub time_limit: Option<Duration>,
    /// What makes the run fail.
    pub gate: Gate,
    /// The seed of everything random.
    pub seed: u64,
    /// Whether benchmarks are measured in step where that is possible.
    pub lockstep: bool,
    /// Whether every launch has a code layout of its own, where that is possible.
    pub layouts: bool,
    /// How long a bench process may go on without any sign of progress.
    pub timeout: Duration,
    /// Which part of the benchmarks is measured, if not all.
    pub shard: Option<WantedShard>,
    /// The results of an earlier run, by whose times the benchmarks are split.
    pub shard_by: Option<PathBuf>,
    /// Where results are saved beside the place where `report` finds them.
    pub save: Option<PathBuf>,
    /// The command as the user gave it, for the report.
    pub command: String,
}

impl Settings {
    /// With what the configuration says beside the options, which have been taken from it before.
    #[must_use]
    pub fn configured(self, config: Config) -> Self {
        let mut commands = self.commands;
        // One that stands on the command line is what is wanted.
        if commands.entries.is_empty() {
            commands.entries = config.commands;
        }
        Self { rules: config.rules, commands, ..self }
    }
}
