//! A command as the user describes it: how it is started, with which parameters, and what is measured.

use std::path::PathBuf;
use std::time::Duration;

use super::sweep::{Combination, Parameter, Setting, combinations, narrow};
use super::template::Template;

/// What is measured of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Quantity {
    /// The time from its start to its end
    #[default]
    WallTime,
    /// The processor time, user and system, of it and all processes that it waited for
    CpuTime,
    /// The largest amount of memory that it had at once, or a process that it waited for
    PeakMemory,
    /// What it prints about its benchmarks: one JSON object a line
    JsonLines,
    /// What it prints about its benchmarks: operations a second, as Node.js's benchmark scripts do
    Rates,
}

impl Quantity {
    /// Whether the program itself says what its benchmarks are called.
    pub fn is_printed(self) -> bool {
        matches!(self, Self::JsonLines | Self::Rates)
    }
}

/// A command that is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEntry {
    /// What its benchmarks are called, before their parameters.
    pub name: String,
    /// The words of its command line.
    pub run: Vec<Template>,
    /// Its parameters, in the user's order.
    pub parameters: Vec<Parameter>,
    /// What is measured.
    pub quantity: Quantity,
    /// A command that makes the program on each side, run once before anything is measured.
    pub build: Vec<Template>,
    /// What `{bin}` stands for: a path relative to the worktree.
    pub bin: Option<Template>,
    /// Environment variables that it is given.
    pub environment: Vec<(String, Template)>,
    /// How long one run may take, if not as long as the general limit says.
    pub timeout: Option<Duration>,
    /// Where it runs, relative to the worktree: the directory of the file that it stands in.
    pub directory: PathBuf,
    /// Where it stands: `bench-compare.toml:12`, or `the command line`.
    pub place: String,
}

/// Placeholders that every command knows, besides its parameters.
pub const PLACEHOLDERS: [&str; 5] = ["worktree", "bin", "revision", "label", "params"];

impl CommandEntry {
    /// The combinations of its parameters' values, with what `--set` says of them.
    pub fn combinations(&self, settings: &[Setting]) -> Vec<Combination> {
        let mut combinations = combinations(&narrow(&self.parameters, settings));
        // A script that sweeps by itself is told what it is narrowed to.
        if self.passes_settings_on() {
            for combination in &mut combinations {
                combination.extend(settings.iter().cloned());
            }
        }
        combinations
    }

    /// Whether it takes `--set` for parameters that it does not name, because it is a script that knows them.
    pub fn passes_settings_on(&self) -> bool {
        self.quantity.is_printed() && self.parameters.is_empty() && self.uses("params")
    }

    /// Whether a placeholder occurs anywhere in how it is started.
    pub fn uses(&self, placeholder: &str) -> bool {
        self.templates().any(|template| template.placeholders().any(|name| name == placeholder))
    }

    /// Everything in which placeholders may stand when it is run.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        self.run.iter().chain(self.environment.iter().map(|(_, template)| template))
    }
}
