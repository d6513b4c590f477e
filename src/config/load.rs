//! From the file and the manifests in which configuration stands to one [`Config`].

use super::{ConfiguredOption, OptionKey, margin, timeout};
use crate::model::{BenchmarkRule, Ids, Rules, SkipRule, Subject, TargetRule};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fs_err as fs;
use regex::Regex;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::commands::CommandEntry;
use crate::model::CustomHarness;
use crate::system::{Error, Result};

use super::command::{choice, read_command};
use super::reader::{Document, Reader};

/// Where configuration is looked for.
#[derive(Debug, Clone)]
pub struct Search<'a> {
    /// The directory in which the comparison is asked for.
    pub directory: &'a Path,
    /// The file that the user names, instead of the one that would be found.
    pub file: Option<&'a Path>,
    /// The Cargo manifest that the user names.
    pub manifest_path: Option<&'a Path>,
    /// Whether Cargo manifests count.
    pub manifests: bool,
}

/// Everything that is configured.
#[derive(Debug, Default)]
pub struct Config {
    /// Options, each once.
    pub options: Vec<ConfiguredOption>,
    /// What holds for some benchmarks only.
    pub rules: Rules,
    /// The commands, in the order of the files.
    pub commands: Vec<CommandEntry>,
    /// The files in which something was found.
    pub files: Vec<PathBuf>,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Config {
    /// Finds and reads all that there is.
    pub fn load(search: &Search, keys: &[OptionKey]) -> Result<Self> {
        let mut config = Self::default();
        let file = match search.file {
            Some(file) => Some(search.directory.join(file)),
            None => super::places::find_file(search.directory),
        };
        if let Some(file) = file {
            let text = fs::read_to_string(&file)
                .map_err(|error| Error::usage("cannot read the configuration").because(error))?;
            let document = Document::new(shown(&file, search.directory), text);
            let table = document.parse()?;
            let part = ConfigTable { keys, scope: None, takes_options: true, file: &file };
            config.add(part.read(&document, &table)?);
            config.files.push(file);
        }
        if search.manifests {
            match super::places::manifests(search.directory, search.manifest_path) {
                Ok(manifests) => {
                    for manifest in manifests {
                        config.add_manifest(&manifest, search.directory, keys)?;
                    }
                }
                Err(why) => config.notes.push(format!(
                    "the Cargo manifests were not looked at for configuration, because {}",
                    why.trim()
                )),
            }
        }
        config.check_names()?;
        Ok(config)
    }

    fn add_manifest(
        &mut self,
        manifest: &super::places::Manifest,
        directory: &Path,
        keys: &[OptionKey],
    ) -> Result<()> {
        let text = fs::read_to_string(&manifest.path)?;
        let owner = if manifest.package.is_some() { "package" } else { "workspace" };
        let document = Document::new(shown(&manifest.path, directory), text);
        let table = document.parse()?;
        let metadata = [owner, "metadata", "bench-compare"].into_iter().try_fold(
            table.get_ref(),
            |table, key| match table.get(key)?.get_ref() {
                DeValue::Table(table) => Some(table),
                _ => None,
            },
        );
        let Some(metadata) = metadata else { return Ok(()) };
        let part = ConfigTable {
            keys,
            scope: manifest.package.as_deref(),
            takes_options: manifest.package.is_none() || manifest.is_nearest,
            file: &manifest.path,
        };
        self.add(part.read(&document, &Spanned::new(0..0, metadata.clone()))?);
        self.files.push(manifest.path.clone());
        Ok(())
    }

    /// Adds what has a lower precedence than all that there is.
    fn add(&mut self, other: Self) {
        for option in other.options {
            if !self.options.iter().any(|known| known.id == option.id) {
                self.options.push(option);
            }
        }
        self.rules.extend(other.rules);
        self.commands.extend(other.commands);
    }

    pub(super) fn check_names(&self) -> Result<()> {
        let mut places: HashMap<&str, &str> = HashMap::new();
        for command in &self.commands {
            if let Some(other) = places.insert(&command.name, &command.place) {
                return Err(Error::usage(format!(
                    "{}: there is already a command `{}`",
                    command.place, command.name
                ))
                .because(format!("it stands at {other}")));
            }
        }
        Ok(())
    }
}

/// A path as a user would name it.
fn shown(file: &Path, directory: &Path) -> String {
    file.strip_prefix(directory).unwrap_or(file).display().to_string()
}

/// How one table of configuration is read.
pub(super) struct ConfigTable<'a> {
    pub(super) keys: &'a [OptionKey],
    /// The package that it is about.
    pub(super) scope: Option<&'a str>,
    /// Whether options count, or only what is about some benchmarks.
    pub(super) takes_options: bool,
    pub(super) file: &'a Path,
}

impl ConfigTable<'_> {
    pub(super) fn read(&self, document: &Document, table: &Spanned<DeTable<'_>>) -> Result<Config> {
        let mut reader = Reader::new(document, table);
        let directory = self.file.parent().unwrap_or(Path::new(""));
        let options = super::options::read_options(&mut reader, self.keys, directory)?;
        let mut rules = Rules::default();
        for entry in reader.tables("benchmark")? {
            rules.benchmarks.push(self.benchmark(&entry)?);
        }
        for entry in reader.tables("set-aside")? {
            rules.set_aside.push(self.set_aside(&entry)?);
        }
        if let Some(targets) = reader.table("target")? {
            for (name, _) in targets.own_keys() {
                let entry = targets.table(&name)?;
                rules.targets.extend(entry.map(|entry| self.target(name, &entry)).transpose()?);
            }
        }
        let commands = reader.tables("command")?;
        let commands = commands.iter().map(|entry| read_command(entry, directory));
        let commands = commands.collect::<Result<_>>()?;
        reader.finish()?;
        let options = if self.takes_options { options } else { Vec::new() };
        Ok(Config { options, rules, commands, ..Config::default() })
    }

    fn package(&self, reader: &Reader) -> Result<Option<String>> {
        match self.scope {
            Some(package) => Ok(Some(package.to_owned())),
            None => Ok(reader.text("package")?.map(|text| text.text)),
        }
    }

    /// `id`, `match`, `package` and `target`.
    fn subject(&self, reader: &Reader) -> Result<Subject> {
        let exact = reader.text("id")?;
        let regex = reader.text("match")?;
        let ids = match (exact, regex) {
            (Some(_), Some(regex)) => {
                return Err(regex.wrong("match", "there is an `id` too; one of the two will do"));
            }
            (Some(exact), None) => Some(Ids::Exact(exact.text)),
            (None, Some(regex)) => Some(Ids::Matching(regex.parse("match", Regex::new)?)),
            (None, None) => None,
        };
        let subject = Subject {
            package: self.package(reader)?,
            target: reader.text("target")?.map(|text| text.text),
            ids,
        };
        if subject.ids.is_none() && subject.target.is_none() && subject.package.is_none() {
            return Err(Error::usage(format!("{}: this is about no benchmark", reader.place()))
                .help("say which with `id`, `match`, `package` or `target`"));
        }
        Ok(subject)
    }

    fn benchmark(&self, reader: &Reader) -> Result<BenchmarkRule> {
        let lockstep = match reader.text("lockstep")? {
            None => None,
            Some(text) => Some(choice::<Lockstep>(&text, "lockstep")? == Lockstep::Auto),
        };
        let rule = BenchmarkRule {
            subject: self.subject(reader)?,
            margin: reader
                .scalar("margin")?
                .map(|text| text.parse("margin", margin))
                .transpose()?,
            timeout: reader.scalar("timeout")?.map(|t| t.parse("timeout", timeout)).transpose()?,
            lockstep,
        };
        reader.finish()?;
        if rule.margin.is_none() && rule.timeout.is_none() && rule.lockstep.is_none() {
            return Err(Error::usage(format!(
                "{}: this `[[benchmark]]` says nothing",
                reader.place()
            ))
            .help("give it a `margin`, a `timeout` or `lockstep`"));
        }
        Ok(rule)
    }

    fn set_aside(&self, reader: &Reader) -> Result<SkipRule> {
        let reason = reader.text("reason")?;
        let Some(reason) = reason.filter(|reason| !reason.text.trim().is_empty()) else {
            return Err(Error::usage(format!(
                "{}: this `[[set-aside]]` has no `reason`",
                reader.place()
            ))
            .help("it is shown in the report"));
        };
        let rule = SkipRule { subject: self.subject(reader)?, reason: reason.text };
        reader.finish()?;
        Ok(rule)
    }

    fn target(&self, target: String, reader: &Reader) -> Result<TargetRule> {
        let package = self.package(reader)?;
        let harness = reader.text("harness")?;
        reader.finish()?;
        let Some(harness) = harness else {
            return Err(Error::usage(format!("{}: this target has no `harness`", reader.place()))
                .help("`json-lines` or `libtest`: what the executable prints"));
        };
        Ok(TargetRule { package, target, harness: choice::<CustomHarness>(&harness, "harness")? })
    }
}

/// As the option of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Lockstep {
    Auto,
    Off,
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
