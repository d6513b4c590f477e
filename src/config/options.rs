//! The options of the command line as settings of a file: what they are called, and the words for them.
//!
//! In: the description of the command line, and a table of a file. Out: for every option that the file sets, the
//! words that would set it on the command line. So there is nothing that only one of the two can do, and the same
//! code reads the values of both.

use std::path::Path;

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Command};

use crate::system::Result;

use super::reader::{Reader, Scalar, ScalarKind};

/// The table for cargo's own options.
pub const CARGO: &str = "cargo";
/// The setting for what is compared.
pub const REVISIONS: &str = "revisions";
/// Options that say which file is read, or that are about nothing that stands in one.
const NOT_IN_FILES: [&str; 5] = ["help", "version", "config", "no-config", "measure"];

/// How an option takes values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// None: it is there or not.
    Flag,
    /// One.
    One,
    /// Any number of them.
    Many,
}

/// Whether values are paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// No.
    None,
    /// The whole value is one.
    Plain,
    /// What follows `label=` is one.
    Labelled,
}

/// One option of the command line.
#[derive(Debug, Clone)]
pub struct OptionKey {
    /// Its long name, without the dashes.
    pub name: String,
    /// What clap calls it.
    pub id: String,
    /// Whether it is one of cargo's own.
    pub is_cargos: bool,
    /// Whether it is a word on its own, without a name.
    pub is_positional: bool,
    /// How it takes values.
    pub kind: OptionKind,
    /// Whether its values are paths.
    pub path: PathKind,
    /// The values that there are, if it is a choice.
    pub choices: Vec<String>,
    /// What it does.
    pub help: String,
}

/// All options of a command that can be set in a file. `cargo_heading` is the heading of cargo's own.
pub fn option_keys(command: &Command, cargo_heading: &str) -> Vec<OptionKey> {
    let keys = command.get_arguments().filter_map(|arg| option_key(arg, cargo_heading));
    keys.filter(|key| !NOT_IN_FILES.contains(&key.name.as_str())).collect()
}

fn option_key(arg: &Arg, cargo_heading: &str) -> Option<OptionKey> {
    let name = match arg.get_long() {
        Some(long) => long,
        // The words after `--` are one command, and commands have tables of their own.
        None if arg.is_positional() && !arg.is_last_set() => REVISIONS,
        None => return None,
    };
    let kind = match arg.get_action() {
        ArgAction::SetTrue => OptionKind::Flag,
        ArgAction::Append => OptionKind::Many,
        ArgAction::Set => match arg.get_num_args() {
            Some(range) if range.max_values() > 1 => OptionKind::Many,
            _ => OptionKind::One,
        },
        _ => return None,
    };
    let choices = match kind {
        OptionKind::Flag => Vec::new(),
        _ => arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
    };
    Some(OptionKey {
        name: name.to_owned(),
        id: arg.get_id().to_string(),
        is_cargos: arg.get_help_heading() == Some(cargo_heading),
        is_positional: arg.is_positional(),
        kind,
        path: path_kind(arg),
        choices,
        help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
    })
}

fn path_kind(arg: &Arg) -> PathKind {
    let is_labelled = |name: &clap::builder::Str| name.starts_with("LABEL=");
    if arg.get_value_parser().type_id() == ValueParser::path_buf().type_id() {
        PathKind::Plain
    } else if arg.get_value_names().is_some_and(|names| names.iter().any(is_labelled)) {
        PathKind::Labelled
    } else {
        PathKind::None
    }
}

/// An option that a file sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredOption {
    /// The option's long name.
    pub name: String,
    /// What clap calls it.
    pub id: String,
    /// The words for it, each with the value as it stands in the file.
    pub words: Vec<(String, Scalar)>,
}

/// Reads the options of a table and of the table `cargo` in it. Paths are relative to a directory.
pub fn read_options(
    reader: &mut Reader,
    keys: &[OptionKey],
    directory: &Path,
) -> Result<Vec<ConfiguredOption>> {
    let mut options = Vec::new();
    for key in keys.iter().filter(|key| !key.is_cargos) {
        options.extend(read_option(reader, key, directory)?);
    }
    let cargo = reader.table(CARGO)?;
    if let Some(cargo) = &cargo {
        for key in keys.iter().filter(|key| key.is_cargos) {
            options.extend(read_option(cargo, key, directory)?);
        }
        cargo.finish()?;
    }
    for key in keys.iter().filter(|key| key.is_cargos) {
        reader.knows_elsewhere(&key.name, CARGO);
    }
    Ok(options)
}

fn read_option(
    reader: &Reader,
    key: &OptionKey,
    directory: &Path,
) -> Result<Option<ConfiguredOption>> {
    let option = |words| ConfiguredOption { name: key.name.clone(), id: key.id.clone(), words };
    if key.kind == OptionKind::Flag {
        let Some(value) = reader.scalar(&key.name)? else { return Ok(None) };
        return match (value.kind, value.text.as_str()) {
            (ScalarKind::Truth, "true") => {
                Ok(Some(option(vec![(format!("--{}", key.name), value)])))
            }
            (ScalarKind::Truth, _) => Ok(Some(option(Vec::new()))),
            _ => Err(value.wrong(&key.name, "it must be true or false")),
        };
    }
    let values = match key.kind {
        OptionKind::Many => reader.scalars(&key.name)?,
        _ => reader.scalar(&key.name)?.map(|value| vec![value]),
    };
    let Some(values) = values else { return Ok(None) };
    let word = |value: Scalar| {
        let text = match (key.path, value.text.split_once('=')) {
            (PathKind::Plain, _) => absolute(directory, &value.text),
            (PathKind::Labelled, Some((label, path))) => {
                format!("{label}={}", absolute(directory, path))
            }
            _ => value.text.clone(),
        };
        (if key.is_positional { text } else { format!("--{}={text}", key.name) }, value)
    };
    Ok(Some(option(values.into_iter().map(word).collect())))
}

fn absolute(directory: &Path, path: &str) -> String {
    directory.join(path).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::reader::Document;

    fn keys() -> Vec<OptionKey> {
        let arg = |long: &'static str| Arg::new(long).long(long);
        let command = Command::new("x")
            .arg(Arg::new("range").num_args(1))
            .arg(arg("margin"))
            .arg(arg("filter").action(ArgAction::Append))
            .arg(arg("save").value_parser(ValueParser::path_buf()))
            .arg(arg("program").value_name("LABEL=PROGRAM").action(ArgAction::Append))
            .arg(arg("lockstep").value_parser(["auto", "off"]))
            .arg(arg("locked").action(ArgAction::SetTrue).help_heading("Cargo"))
            .arg(arg("config"));
        option_keys(&command, "Cargo")
    }

    fn words(text: &str) -> std::result::Result<Vec<String>, String> {
        let document = Document::new("x.toml", text);
        let read = || {
            let table = document.parse()?;
            let mut reader = Reader::new(&document, &table);
            let options = read_options(&mut reader, &keys(), Path::new("/d"))?;
            reader.finish()?;
            Ok(options.into_iter().flat_map(|option| option.words).map(|(word, _)| word).collect())
        };
        read().map_err(|error: crate::system::Error| error.to_string())
    }

    #[test]
    fn settings_become_words() {
        let text = "revisions = 'main...HEAD'\nmargin = 2.5\nfilter = ['a b', '-c']\nsave = 'r.json'\n\
                    program = 'x=./y=z'\n\
                    [cargo]\nlocked = true\n";
        assert_eq!(
            words(text).unwrap(),
            [
                "main...HEAD",
                "--margin=2.5",
                "--filter=a b",
                "--filter=-c",
                "--save=/d/r.json",
                "--program=x=/d/./y=z",
                "--locked"
            ]
        );
        assert_eq!(words("filter = 'one'\n[cargo]\nlocked = false\n").unwrap(), ["--filter=one"]);
    }

    #[test]
    fn what_is_no_setting_of_a_file_is_refused() {
        assert!(words("config = 'x'").unwrap_err().contains("no setting `config` here"));
        assert!(words("locked = true").unwrap_err().contains("it belongs into `[cargo]`"));
        assert!(words("[cargo]\nlocked = 'yes'").unwrap_err().contains("must be true or false"));
        assert!(words("margin = [1, 2]").unwrap_err().contains("must be a single value"));
    }

    #[test]
    fn choices_are_known() {
        let lockstep = keys().into_iter().find(|key| key.name == "lockstep").unwrap();
        assert_eq!(lockstep.choices, ["auto", "off"]);
    }
}
