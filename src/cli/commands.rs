//! The arguments about whole commands and prebuilt programs.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::commands::{
    CommandSettings, Only, PrebuiltProgram, Quantity, Setting, ad_hoc, in_order, labelled,
};
use crate::system::{Error, Result};

/// Whole commands, and prebuilt programs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Whole commands and prebuilt programs")]
pub struct CommandArguments {
    /// Compare prebuilt programs, without git and cargo: this one is called `old`
    #[arg(long, value_name = "PROGRAM", conflicts_with = "revisions")]
    old: Option<PathBuf>,
    /// ... and this one `new`
    #[arg(long, value_name = "PROGRAM", conflicts_with = "revisions")]
    new: Option<PathBuf>,
    /// ... and this one as it is said (repeatable)
    #[arg(long, value_name = "LABEL=PROGRAM", value_parser = labelled, conflicts_with = "revisions")]
    program: Vec<(String, PathBuf)>,
    /// Give a parameter of commands this value only (repeatable: these values)
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<Setting>,
    /// What is measured of the command after `--` [default: wall-time]
    #[arg(long, value_enum, value_name = "WHAT", requires = "command_line")]
    measure: Option<Quantity>,
    /// Measure only cargo's benchmarks, or only the commands that are configured
    #[arg(long, value_enum, value_name = "WHAT")]
    only: Option<Only>,
    /// Compare this command, run without a shell in the worktree of each revision, instead of benchmarks;
    /// `{bin}` stands for a prebuilt program
    #[arg(last = true, value_name = "COMMAND")]
    command_line: Vec<String>,
}

impl CommandArguments {
    /// Whether programs are compared, and no revisions.
    pub fn has_programs(&self) -> bool {
        self.old.is_some() || self.new.is_some() || !self.program.is_empty()
    }

    /// What the arguments ask for in this directory.
    pub fn settings(&self, directory: &Path, against: Option<&str>) -> Result<CommandSettings> {
        let own = [("old", &self.old), ("new", &self.new)];
        let own = own.iter().filter_map(|(label, path)| Some((*label, path.as_deref()?)));
        let labelled = self.program.iter().map(|(label, path)| (label.as_str(), path.as_path()));
        let programs = own
            .chain(labelled)
            .map(|(label, path)| PrebuiltProgram::find(label, path, directory))
            .collect::<Result<Vec<_>>>()?;
        let entry =
            ad_hoc(&self.command_line, self.measure.unwrap_or_default(), &self.set, directory)?;
        if let Some(entry) = entry.as_ref().filter(|entry| entry.uses("bin") == programs.is_empty())
        {
            return Err(if programs.is_empty() {
                Error::usage(format!("nothing says what `{{bin}}` stands for in `{}`", entry.name))
                    .help("compare programs with --old and --new, or write a path in the worktree")
            } else {
                Error::usage("nothing in the command stands for the programs")
                    .help("write `{bin}` where the path of the program belongs: -- {bin} script.js")
            });
        }
        let only = if entry.is_some() { Some(Only::Commands) } else { self.only };
        let programs = in_order(programs, against)?;
        Ok(CommandSettings {
            entries: entry.into_iter().collect(),
            settings: self.set.clone(),
            programs,
            only,
        })
    }
}
