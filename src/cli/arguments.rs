//! The arguments, and what they mean.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use regex::Regex;

use super::publish::PublishArguments;
use crate::build::Selection;
use crate::config::{margin, timeout};
use crate::model::{MOST_LAUNCHES, Percent, Rules};
use crate::plan::{Filter, WantedShard};
use crate::report::Sort;
use crate::results::Gate;
use crate::revision::{Cache, Range};
use crate::session::{How, Settings, What};
use crate::system::{Error, Result};

use super::commands::CommandArguments;

/// Compare the benchmarks of two git revisions, and say which differences can be believed
#[derive(Debug, Parser)]
#[command(
    name = "cargo-bench-compare",
    bin_name = "cargo bench-compare",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Exit codes: 0 done, 1 the gate is tripped, 2 wrong usage, 3 something could not be compared, 4 could not publish, 130 interrupted"
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub comparison: ComparisonArguments,
}

impl Arguments {
    /// What is compared or listed, if anything is.
    pub fn what(&self) -> Option<&WhatArguments> {
        match &self.command {
            None => Some(&self.comparison.what),
            Some(Command::List(arguments)) => Some(&arguments.what),
            Some(_) => None,
        }
    }

    /// How results are shown, if any are.
    pub fn presentation(&self) -> Option<&Presentation> {
        match &self.command {
            None => Some(&self.comparison.presentation),
            Some(Command::Report(arguments)) => Some(&arguments.presentation),
            Some(Command::Merge(arguments)) => Some(&arguments.presentation),
            Some(Command::Demo(arguments)) => Some(&arguments.presentation),
            Some(_) => None,
        }
    }

    /// The user's choice of colours, if any.
    pub fn color(&self) -> Option<anstream::ColorChoice> {
        match self.presentation()?.color {
            Color::Auto => None,
            Color::Always => Some(anstream::ColorChoice::Always),
            Color::Never => Some(anstream::ColorChoice::Never),
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the benchmarks of both revisions
    List(Box<ListArguments>),
    /// Show the results of an earlier comparison again
    Report(ReportArguments),
    /// Make one comparison of the shards of a run, or of runs on several machines
    Merge(MergeArguments),
    /// Judge a CSV file of Node.js's benchmark/compare.js, as its compare.R does
    Analyze(AnalyzeArguments),
    /// Publish results on a pull request on GitHub, and in the job's summary
    Publish(PublishArguments),
    /// Make a small sample repository and compare its two revisions
    Demo(DemoArguments),
    /// Find out which differences can be measured on this machine, and in how many seconds
    Doctor,
    /// Remove what was kept between the comparisons of this repository
    Clean,
    /// Write down how cargo starts a bench executable
    #[command(hide = true, name = crate::build::RECORD_SUBCOMMAND)]
    RecordLaunch {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        launch: Vec<OsString>,
    },
    /// Run a command and write down what it took
    #[command(hide = true, name = crate::commands::MEASURE_SUBCOMMAND)]
    MeasureRun {
        account: PathBuf,
        #[arg(last = true, required = true)]
        words: Vec<OsString>,
    },
}

#[derive(Debug, Args)]
pub struct ListArguments {
    #[command(flatten)]
    pub what: WhatArguments,
}

impl ListArguments {
    /// Listing needs none of the options for measuring.
    pub fn what(&self) -> Result<What> {
        self.what.what(std::env::current_dir()?)
    }
}

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Results files, shown one after the other [default: the last comparison in this repository]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Say whether these runs of the same comparison agree, and what they say together
    #[arg(long, conflicts_with_all = ["gate", "sort", "all", "width"])]
    pub agree: bool,
    /// Compare with the revision of this label [default: the first]
    #[arg(long, value_name = "LABEL")]
    pub against: Option<String>,
    /// Changes smaller than this do not matter [default: as it was when it was measured]
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    pub margin: Option<Percent>,
    /// What makes the exit code 1 [default: nothing; what the comparison was asked for is shown]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "What to show")]
    pub gate: Option<GateChoice>,
    #[command(flatten)]
    pub presentation: Presentation,
}

#[derive(Debug, Args)]
pub struct MergeArguments {
    /// The results files, in any order
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Changes smaller than this do not matter [default: as it was when it was measured]
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    pub margin: Option<Percent>,
    /// Fail with exit code 1 if this shows [default: nothing]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub gate: Option<GateChoice>,
    /// Save the merged results here
    #[arg(long, value_name = "FILE", help_heading = "What to show")]
    pub save: Option<PathBuf>,
    #[command(flatten)]
    pub presentation: Presentation,
}

#[derive(Debug, Args)]
pub struct AnalyzeArguments {
    /// The CSV file
    pub file: PathBuf,
    /// Compare with this binary [default: old, else the first in the file]
    #[arg(long, value_name = "BINARY")]
    pub against: Option<String>,
}

#[derive(Debug, Args)]
pub struct DemoArguments {
    #[command(flatten)]
    pub presentation: Presentation,
}

#[derive(Debug, Args)]
pub struct ComparisonArguments {
    #[command(flatten)]
    pub what: WhatArguments,
    /// A fixed number of launch pairs for each benchmark; `***` needs 12 [default: 12 to 40, until it is decided]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_LAUNCHES)), help_heading = "How to measure")]
    runs: Option<u32>,
    /// Measure no longer than this; what is not decided by then is inconclusive
    #[arg(long, value_name = "TIME", value_parser = timeout, help_heading = "How to measure")]
    time_limit: Option<Duration>,
    /// What makes the exit code 1
    #[arg(long, value_enum, default_value_t = GateChoice::None, value_name = "WHAT", help_heading = "What to show")]
    gate: GateChoice,
    /// Changes smaller than this do not matter
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = margin, help_heading = "How to measure")]
    margin: Percent,
    /// The seed of the order of measurements [default: a random one, which is recorded]
    #[arg(long, value_name = "N", help_heading = "How to measure")]
    seed: Option<u64>,
    /// Keep both sides in step, taking turns within each benchmark, where that is possible
    #[arg(long, value_enum, default_value_t = Lockstep::Auto, value_name = "WHEN", help_heading = "How to measure")]
    lockstep: Lockstep,
    /// Give every launch a random code layout of its own, where that is possible
    #[arg(long, value_enum, default_value_t = Layouts::Auto, value_name = "WHEN", help_heading = "How to measure")]
    layouts: Layouts,
    /// Save the results here, while they come in
    #[arg(long, value_name = "FILE", help_heading = "What to show")]
    save: Option<PathBuf>,
    #[command(flatten)]
    pub presentation: Presentation,
}

impl ComparisonArguments {
    /// What the arguments ask for.
    pub fn settings(&self, command: String, directory: PathBuf) -> Result<Settings> {
        Ok(Settings {
            what: self.what.what(directory)?,
            how: How {
                margin: self.margin,
                runs: self.runs,
                time_limit: self.time_limit,
                gate: self.gate.into(),
                seed: self.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)),
                lockstep: self.lockstep == Lockstep::Auto,
                layouts: self.layouts == Layouts::Auto,
            },
            save: self.save.clone(),
            command,
        })
    }
}

/// What is compared: common to comparing and listing.
#[derive(Debug, Args)]
pub struct WhatArguments {
    /// What to compare: A..B, A...B (the merge base of A and B against B), A (against the working tree
    /// with its uncommitted changes), or two or more in one session, A B C, of which `.` is the working
    /// tree and label=A is called `label` [default: the merge base with the default branch]
    #[arg(value_name = "REVISIONS")]
    revisions: Vec<String>,
    /// Compare with the revision of this label [default: the first]
    #[arg(long, value_name = "LABEL")]
    against: Option<String>,
    /// Measure the bench targets of this revision (a label, or head) on all revisions: their sources, data
    /// and dev-dependencies are laid over those of the others
    #[arg(long, value_name = "LABEL")]
    benches_from: Option<String>,
    #[command(flatten)]
    pub selection: Selection,
    /// Only benchmarks whose id matches this regular expression (repeatable: any of them)
    #[arg(long, value_name = "REGEX", help_heading = "Which benchmarks")]
    filter: Vec<Regex>,
    /// No benchmarks whose id matches this regular expression (repeatable)
    #[arg(long, value_name = "REGEX", help_heading = "Which benchmarks")]
    skip: Vec<Regex>,
    /// Only a part of the benchmarks: 1/4 is the first of four, to be put together by merge
    #[arg(long, value_name = "N/M", help_heading = "Which benchmarks")]
    shard: Option<WantedShard>,
    /// Split so that every part takes about as long, by the times in these results; the same for all parts
    #[arg(long, value_name = "FILE", requires = "shard", help_heading = "Which benchmarks")]
    shard_by: Option<PathBuf>,
    /// Give up on a benchmark that shows no sign of progress for so long
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = timeout, help_heading = "How to measure")]
    timeout: Duration,
    #[command(flatten)]
    pub commands: CommandArguments,
    /// Read this configuration [default: bench-compare.toml here or above, up to the top of the repository]
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub config: Option<PathBuf>,
    /// Read no configuration, neither bench-compare.toml nor that of Cargo manifests
    #[arg(long, conflicts_with = "config", help_heading = "Configuration")]
    pub no_config: bool,
}

impl WhatArguments {
    /// What the arguments ask for in this directory.
    pub fn what(&self, directory: PathBuf) -> Result<What> {
        let commands = self.commands.settings(&directory, self.against.as_deref())?;
        Ok(What {
            directory,
            cache: Cache::from_environment()?,
            range: Range::from_words(&self.revisions).map_err(Error::usage)?,
            against: self.against.clone(),
            benches_from: self.benches_from.clone(),
            selection: self.selection.clone(),
            filter: Filter { only: self.filter.clone(), skip: self.skip.clone() },
            rules: Rules::default(),
            commands,
            shard: self.shard,
            shard_by: self.shard_by.clone(),
            timeout: self.timeout,
        })
    }
}

#[derive(Debug, Args)]
pub struct Presentation {
    /// The form of the results
    #[arg(long, value_enum, default_value_t = Format::Table, help_heading = "What to show")]
    pub format: Format,
    /// Write the results to this file instead of standard output
    #[arg(long, value_name = "FILE", help_heading = "What to show")]
    pub output: Option<PathBuf>,
    /// In the table, what comes first [default: name]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "What to show")]
    pub sort: Option<Sort>,
    /// In the table, show every row, however many there are and however little they say
    #[arg(long, help_heading = "What to show")]
    pub all: bool,
    /// In the table, the width [default: the terminal's; elsewhere it has no limit]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..), help_heading = "What to show")]
    pub width: Option<u16>,
    /// In Markdown, link commits to the repository with this address
    #[arg(long, value_name = "URL", help_heading = "What to show")]
    pub repository_url: Option<String>,
    /// In Markdown, link to this CI run
    #[arg(long, value_name = "URL", help_heading = "What to show")]
    pub ci_url: Option<String>,
    /// When to use colours
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = "What to show")]
    pub color: Color,
}

impl Presentation {
    /// Refuses options that the form of the results has no use for.
    pub fn check(&self) -> Result<()> {
        let given = [
            ("--sort", Format::Table, self.sort.is_some()),
            ("--all", Format::Table, self.all),
            ("--width", Format::Table, self.width.is_some()),
            ("--repository-url", Format::Markdown, self.repository_url.is_some()),
            ("--ci-url", Format::Markdown, self.ci_url.is_some()),
        ];
        let useless = given.iter().find(|(_, form, given)| *given && *form != self.format);
        let Some((option, form, _)) = useless else { return Ok(()) };
        let name = |form: Format| {
            let value = form.to_possible_value().expect("no form is hidden");
            value.get_name().to_owned()
        };
        let (form, asked) = (name(*form), name(self.format));
        Err(Error::usage(format!("{option} is for --format {form}; {asked} has no use for it"))
            .help(format!("leave out {option}, or give --format {form}")))
    }
}

/// The form in which results are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people at a terminal
    Table,
    /// For pull requests on GitHub
    Markdown,
    /// Every launch in the form of Node.js's benchmark/compare.js, for its compare.R
    Csv,
    /// The results file
    Json,
    /// A page with plots, in one file
    Html,
    /// Bencher's metrics of what was compared with the reference
    Bencher,
    /// The same as github-action-benchmark's customSmallerIsBetter
    GithubActionBenchmark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lockstep {
    /// Where it is possible
    Auto,
    /// Never: one side's benchmark runs after the other's
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GateChoice {
    /// A regression beyond the margin, with at most 5 % risk of a single false one among all comparisons
    Regression,
    /// Nothing
    None,
}

impl From<GateChoice> for Gate {
    fn from(choice: GateChoice) -> Self {
        match choice {
            GateChoice::Regression => Self::Regression,
            GateChoice::None => Self::None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Layouts {
    /// Where the linker can shuffle functions
    Auto,
    /// Never: what cargo has built is launched
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
