//! What a user can choose: what is compared, and how that is measured.

use std::path::PathBuf;
use std::time::Duration;

use crate::build::Selection;
use crate::commands::CommandSettings;
use crate::config::Config;
use crate::model::{Percent, Rules};
use crate::plan::{Filter, WantedShard};
use crate::results::Gate;
use crate::revision::{Cache, Range};

/// A whole comparison.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What is compared.
    pub what: What,
    /// How it is measured and judged.
    pub how: How,
    /// Where results are saved beside the place where `report` finds them.
    pub save: Option<PathBuf>,
    /// The command as the user gave it, for the report.
    pub command: String,
}

/// What is compared. That is all that is needed to list benchmarks.
#[derive(Debug, Clone)]
pub struct What {
    /// The directory in which the comparison is asked for.
    pub directory: PathBuf,
    /// Where everything is kept that outlives the run.
    pub cache: Cache,
    /// The revisions.
    pub range: Range,
    /// The label of the revision with which the others are compared, unless it is the first.
    pub against: Option<String>,
    /// The label or the side (`head`) of the revision whose bench targets overlay the others'.
    pub benches_from: Option<String>,
    /// What to build.
    pub selection: Selection,
    /// Which benchmarks.
    pub filter: Filter,
    /// What holds for some benchmarks only.
    pub rules: Rules,
    /// Whole commands, and prebuilt programs.
    pub commands: CommandSettings,
    /// Which part of the benchmarks is measured, if not all.
    pub shard: Option<WantedShard>,
    /// The results of an earlier run, by whose times the benchmarks are split.
    pub shard_by: Option<PathBuf>,
    /// How long a bench process may go on without any sign of progress.
    pub timeout: Duration,
}

impl What {
    /// All benchmarks of the default packages in these revisions, with nothing configured.
    pub fn in_directory(directory: PathBuf, cache: Cache, range: Range) -> Self {
        Self {
            directory,
            cache,
            range,
            against: None,
            benches_from: None,
            selection: Selection::default(),
            filter: Filter::default(),
            rules: Rules::default(),
            commands: CommandSettings::default(),
            shard: None,
            shard_by: None,
            timeout: Duration::from_secs(60),
        }
    }

    /// With what the configuration says beside the options, which have been taken from it before.
    #[must_use]
    pub fn configured(self, config: Config) -> Self {
        let mut commands = self.commands;
        // A command line's own command is the one that is wanted.
        if commands.entries.is_empty() {
            commands.entries = config.commands;
        }
        Self { rules: config.rules, commands, ..self }
    }
}

/// How benchmarks are measured and judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct How {
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
    /// Whether benchmarks are measured in lockstep where that is possible.
    pub lockstep: bool,
    /// Whether every launch has a code layout of its own, where that is possible.
    pub layouts: bool,
}

impl Default for How {
    /// As without any option, with a random seed.
    fn default() -> Self {
        Self {
            margin: Percent::new(2.0),
            runs: None,
            time_limit: None,
            gate: Gate::None,
            seed: fastrand::u64(..1 << 32),
            lockstep: true,
            layouts: true,
        }
    }
}
