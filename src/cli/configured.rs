//! Arguments and configuration put together: what is not said on the command line is said by the configuration.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};

use crate::build::CARGO_HEADING;
use crate::config::{Config, ConfiguredOption, FILE_NAME, OptionKey, Scalar, Search, option_keys};
use crate::system::{Error, Result, with_suggestion};

use super::arguments::Arguments;

/// How reading the arguments can fail: clap shows its own errors, help among them.
pub enum Refused {
    /// What clap has to say.
    Arguments(clap::Error),
    /// What is wrong with the configuration.
    Configuration(Error),
}

impl From<clap::Error> for Refused {
    fn from(error: clap::Error) -> Self {
        Self::Arguments(error)
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Configuration(error)
    }
}

/// All options that can be set in a file.
pub fn all_option_keys() -> Vec<OptionKey> {
    option_keys(&Arguments::command(), CARGO_HEADING)
}

/// Reads the arguments, and what is configured where they are given.
pub fn parse(words: &[OsString]) -> std::result::Result<(Arguments, Config), Refused> {
    let matches = Arguments::command().try_get_matches_from(words)?;
    let first = Arguments::from_arg_matches(&matches)?;
    if let Some(presentation) = first.presentation() {
        presentation.check()?;
    }
    let Some(what) = first.what().filter(|what| !what.no_config) else {
        return Ok((first, Config::default()));
    };
    let directory = std::env::current_dir().map_err(Error::from)?;
    let keys = all_option_keys();
    let config = Config::load(
        &Search {
            directory: &directory,
            file: what.config.as_deref(),
            manifest_path: what.selection.manifest_path.as_deref(),
            manifests: !what.commands.has_programs(),
        },
        &keys,
    )?;
    let (command, given, insert_at) = match matches.subcommand() {
        None => (Arguments::command(), &matches, 1),
        Some((name, given)) => {
            let command = Arguments::command().find_subcommand(name).cloned();
            let position = words.iter().position(|word| word == name).unwrap_or(0);
            (command.unwrap_or_default(), given, position + 1)
        }
    };
    let mut all = words.to_vec();
    let further = further_words(&config.options, &command, given)?;
    all.splice(insert_at..insert_at, further.into_iter().map(OsString::from));
    let merged = Arguments::command().try_get_matches_from(all).map_err(|mut error| {
        if !config.options.is_empty() {
            let note = format!("{FILE_NAME} and the Cargo manifests have set options, too");
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![note.into()]));
        }
        error
    })?;
    Ok((Arguments::from_arg_matches(&merged)?, config))
}

/// The words for options that the command has and that are not given.
fn further_words(
    options: &[ConfiguredOption],
    command: &Command,
    given: &ArgMatches,
) -> Result<Vec<String>> {
    let mut words = Vec::new();
    for option in options {
        let Some(arg) = command.get_arguments().find(|arg| *arg.get_id() == option.id) else {
            continue;
        };
        let is_given = is_on_command_line(given, &option.id);
        for (word, value) in &option.words {
            check_value(command, word, option, value)?;
            // Two that exclude each other: the one that is given counts.
            let excluded = command.get_arguments().any(|other| {
                let conflict = |a, b| command.get_arg_conflicts_with(a).contains(&b);
                is_on_command_line(given, other.get_id().as_str())
                    && (conflict(arg, other) || conflict(other, arg))
            });
            if !is_given && !excluded {
                words.push(word.clone());
            }
        }
    }
    Ok(words)
}

fn is_on_command_line(given: &ArgMatches, id: &str) -> bool {
    given.value_source(id) == Some(ValueSource::CommandLine)
}

/// Whether a value is one that the option takes, asked of the option itself.
fn check_value(
    command: &Command,
    word: &str,
    option: &ConfiguredOption,
    value: &Scalar,
) -> Result<()> {
    let words = [command.get_name(), word];
    let Err(error) = command.clone().try_get_matches_from(words) else { return Ok(()) };
    match error.kind() {
        ErrorKind::InvalidValue => {
            let choices = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(choices)) => choices.clone(),
                _ => Vec::new(),
            };
            let place = &value.place;
            let error = Error::usage(format!(
                "{place}: `{}` is no value for `{}`",
                value.text, option.name
            ));
            Err(with_suggestion(error, &value.text, choices.iter().map(String::as_str)))
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(&error).map(ToString::to_string);
            Err(value.wrong(&option.name, why.unwrap_or_default()))
        }
        // What it needs beside it may be given elsewhere.
        _ => Ok(()),
    }
}
