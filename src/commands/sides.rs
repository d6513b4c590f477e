//! Commands on the sides of a comparison: programs are made where that is asked for, and placeholders are filled in.
//!
//! In: the commands, and where each side lies. Out: what each side has, and what can be started. A command that
//! cannot be made or found on a side is a failure of that command alone.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::benchmarks::{CommandBenchmarks, CommandRun};
use crate::build::with_time_stamps_of_its_own;
use crate::harness::{Benchmarks, Failure};
use crate::model::{PerSide, Rules, Side, TargetName};
use crate::plan::{Inventories, Inventory, Listed, Skipped};
use crate::system::process::{Stderr, describe_exit};
use crate::system::{Error, Observer, Result, process, untie};

use super::entry::{CommandEntry, PLACEHOLDERS};
use super::sweep::{Combination, Parameter, Setting, text};
use super::template::{Template, Value};

/// What commands have in the place of a cargo package.
pub const PACKAGE: &str = "commands";

/// Where one side lies.
#[derive(Debug, Clone)]
pub struct CommandSide {
    /// What it is called.
    pub label: String,
    /// The full commit id; for a prebuilt program its label.
    pub revision: String,
    /// The top of the checkout; for a prebuilt program nothing, and commands run where they stand.
    pub worktree: Option<Worktree>,
    /// A prebuilt program.
    pub program: Option<PathBuf>,
}

/// The checkout of a side.
#[derive(Debug, Clone)]
pub struct Worktree {
    /// Its top directory.
    pub root: PathBuf,
    /// The top directory of the user's own checkout, of which it is the counterpart.
    pub counterpart: PathBuf,
    /// Where cargo builds this side.
    pub target_directory: PathBuf,
}

/// What all sides have.
pub struct TakenCommands {
    /// By side and command.
    pub inventories: Inventories,
    /// What can be started of it.
    pub programs: HashMap<(TargetName, Side), Box<dyn Benchmarks>>,
    /// Commands that the rules set aside.
    pub skipped: Vec<Skipped>,
}

/// Makes the commands ready on all sides.
pub struct CommandTaker<'a> {
    /// The sides, reference first.
    pub sides: &'a PerSide<CommandSide>,
    /// What parameters are set to.
    pub settings: &'a [Setting],
    /// What holds for some of them only.
    pub rules: &'a Rules,
    /// How long a run may go on without any sign of progress, unless the rules or the command say otherwise.
    pub timeout: Duration,
    /// Who watches.
    pub observer: &'a dyn Observer,
}

impl CommandTaker<'_> {
    /// Builds, looks for programs, and asks those that name their benchmarks themselves.
    pub fn take(&self, entries: &[CommandEntry]) -> Result<TakenCommands> {
        self.refuse_unknown_settings(entries)?;
        let name = |entry: &CommandEntry| TargetName {
            package: PACKAGE.to_owned(),
            target: entry.name.clone(),
        };
        let mut skipped = Vec::new();
        let mut wanted: Vec<&CommandEntry> = Vec::new();
        for entry in entries {
            match self.rules.reason_to_set_target_aside(&name(entry)) {
                Some(reason) => skipped.push(Skipped {
                    target: name(entry),
                    benchmark: None,
                    reason: reason.to_owned(),
                }),
                None => wanted.push(entry),
            }
        }
        let mut programs: HashMap<(TargetName, Side), Box<dyn Benchmarks>> = HashMap::new();
        let mut inventories: Vec<BTreeMap<TargetName, Listed>> = Vec::new();
        for (side, place) in self.sides.iter() {
            let mut built: HashMap<Vec<String>, Option<String>> = HashMap::new();
            let mut targets = BTreeMap::new();
            for entry in &wanted {
                let name = name(entry);
                let prepared = match self.build(side, place, entry, &mut built)? {
                    Some(reason) => Err(reason),
                    None => self.benchmarks(place, entry, &name),
                };
                let inventory = match prepared {
                    Err(reason) => Inventory::Failed(Failure { benchmark: None, reason }),
                    Ok(mut benchmarks) => match benchmarks.list()? {
                        Err(failure) => Inventory::Failed(failure),
                        Ok(ids) => {
                            programs.insert((name.clone(), side), Box::new(benchmarks));
                            Inventory::Benchmarks(ids)
                        }
                    },
                };
                targets.insert(name, Listed { harness: None, inventory, same_code: None });
            }
            inventories.push(targets);
        }
        Ok(TakenCommands { inventories: inventories.into_iter().collect(), programs, skipped })
    }

    /// A parameter that no command has is a slip of the user's.
    fn refuse_unknown_settings(&self, entries: &[CommandEntry]) -> Result<()> {
        if entries.iter().any(CommandEntry::passes_settings_on) {
            return Ok(());
        }
        let names: Vec<&str> =
            entries.iter().flat_map(|entry| &entry.parameters).map(|p| p.name.as_str()).collect();
        let unknown = self.settings.iter().find(|setting| !names.contains(&setting.name.as_str()));
        let Some(unknown) = unknown else { return Ok(()) };
        let error = Error::usage(format!("no command has a parameter `{}`", unknown.name));
        Err(crate::system::with_suggestion(error, &unknown.name, names))
    }

    /// Runs the build of a command, once for each side. Gives why there is nothing to run.
    fn build(
        &self,
        side: Side,
        place: &CommandSide,
        entry: &CommandEntry,
        built: &mut HashMap<Vec<String>, Option<String>>,
    ) -> Result<Option<String>> {
        // A prebuilt program is built.
        let Some(worktree) = place.worktree.as_ref().filter(|_| !entry.build.is_empty()) else {
            return Ok(None);
        };
        let words: Vec<String> = entry
            .build
            .iter()
            .flat_map(|word| word.expand(&|name| place.value(entry, name)))
            .collect();
        if let Some(known) = built.get(&words) {
            return Ok(known.clone());
        }
        let shown = shown(&words);
        self.observer.status("Building", &format!("{side} ({}): {shown}", place.label));
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .current_dir(place.directory(entry))
            // With one that the sides share, cargo would take one side's artifacts for the other's.
            .env("CARGO_TARGET_DIR", &worktree.target_directory);
        untie(&mut command);
        let run = || process::run(command, Stderr::Shown);
        let (root, target) = (&worktree.root, &worktree.target_directory);
        let failure = match with_time_stamps_of_its_own(root, target, run) {
            Ok(finished) if finished.status.success() => None,
            Ok(finished) => {
                self.observer.show(&String::from_utf8_lossy(&finished.stdout));
                let end = describe_exit(finished.status);
                Some(format!("`{shown}` {end}; its messages are above"))
            }
            Err(error) if error.kind() == crate::system::ErrorKind::Interrupted => {
                return Err(error);
            }
            Err(error) => Some(error.to_string()),
        };
        built.insert(words, failure.clone());
        Ok(failure)
    }

    /// The runs of a command on a side. The error is why there are none.
    fn benchmarks(
        &self,
        place: &CommandSide,
        entry: &CommandEntry,
        name: &TargetName,
    ) -> std::result::Result<CommandBenchmarks, String> {
        let directory = place.directory(entry);
        if !directory.is_dir() {
            return Err(format!("there is no directory {}", directory.display()));
        }
        let bin = if entry.uses("bin") { Some(place.bin(entry)?) } else { None };
        let run = |combination: &Combination| {
            let value = |name: &str| match name {
                "bin" => bin.as_ref().map(|bin| Value::Text(bin.display().to_string())),
                "params" => {
                    Some(Value::Words(combination.iter().map(Setting::to_string).collect()))
                }
                other => {
                    let setting = combination.iter().find(|setting| setting.name == other);
                    let setting = setting.map(|setting| Value::Text(setting.value.clone()));
                    setting.or_else(|| place.value(entry, other))
                }
            };
            let parameters = text(combination);
            let name = match parameters.as_str() {
                "" => entry.name.clone(),
                parameters => format!("{} {parameters}", entry.name),
            };
            CommandRun {
                name,
                parameters,
                words: entry.run.iter().flat_map(|word| word.expand(&value)).collect(),
                environment: entry
                    .environment
                    .iter()
                    .map(|(name, template)| (name.clone(), template.expand(&value).join(" ")))
                    .collect(),
                directory: directory.clone(),
            }
        };
        let runs: Vec<CommandRun> = entry.combinations(self.settings).iter().map(run).collect();
        if runs.iter().any(|run| run.words.first().is_none_or(String::is_empty)) {
            return Err("its command line is empty".to_owned());
        }
        let limits = self.rules.time_limits(name, entry.timeout.unwrap_or(self.timeout));
        Ok(CommandBenchmarks::new(runs, entry.quantity, limits))
    }
}

impl CommandSide {
    /// Where a command runs: in the checkout, the counterpart of the directory in which it is configured.
    fn directory(&self, entry: &CommandEntry) -> PathBuf {
        let Some(worktree) = &self.worktree else { return entry.directory.clone() };
        let directory = entry.directory.canonicalize().unwrap_or_else(|_| entry.directory.clone());
        match directory.strip_prefix(&worktree.counterpart) {
            Ok(relative) => worktree.root.join(relative),
            Err(_) => worktree.root.clone(),
        }
    }

    /// What placeholders stand for that are the same for all parameters.
    fn value(&self, entry: &CommandEntry, name: &str) -> Option<Value> {
        let text = match name {
            "worktree" => match &self.worktree {
                Some(worktree) => worktree.root.display().to_string(),
                None => entry.directory.display().to_string(),
            },
            "revision" => self.revision.clone(),
            "label" => self.label.clone(),
            _ => return None,
        };
        Some(Value::Text(text))
    }

    /// The program of a command. The error is why there is none.
    fn bin(&self, entry: &CommandEntry) -> std::result::Result<PathBuf, String> {
        if let Some(program) = &self.program {
            return Ok(program.clone());
        }
        let (Some(bin), Some(worktree)) = (&entry.bin, &self.worktree) else {
            return Err(
                "it does not say what `{bin}` stands for; set `bin` to a path in the worktree, \
                        or compare programs with --old and --new"
                    .to_owned(),
            );
        };
        let path = bin.expand(&|name| self.value(entry, name)).join(" ");
        let here = worktree.root.join(&path);
        if here.is_file() {
            return Ok(here);
        }
        // Where cargo has built it, whatever its usual directory is.
        let built = Path::new(&path).strip_prefix("target").ok();
        let built = built.map(|path| worktree.target_directory.join(path));
        match built.filter(|path| path.is_file()) {
            Some(path) => Ok(path),
            None if entry.build.is_empty() => {
                Err(format!("there is no `{path}`; say with `build` how it is made"))
            }
            None => Err(format!("there is no `{path}`, although it was built")),
        }
    }
}

/// A command line as one would type it.
fn shown(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// The command that stands on the command line itself. Parameters that are set and have placeholders are its own.
pub fn ad_hoc(
    words: &[String],
    quantity: super::Quantity,
    settings: &[Setting],
    directory: &Path,
) -> Result<Option<CommandEntry>> {
    if words.is_empty() {
        return Ok(None);
    }
    let place = "the command line";
    let run: Vec<Template> = words
        .iter()
        .map(|word| Template::parse(word))
        .collect::<std::result::Result<_, _>>()
        .map_err(|why| Error::usage(format!("{place}: {}", shown(words))).because(why))?;
    let used: Vec<&str> = run.iter().flat_map(Template::placeholders).collect();
    let mut parameters: Vec<Parameter> = Vec::new();
    for Setting { name, value } in settings.iter().filter(|s| used.contains(&s.name.as_str())) {
        match parameters.iter_mut().find(|parameter| parameter.name == *name) {
            Some(parameter) => parameter.values.push(value.clone()),
            None => parameters.push(Parameter { name: name.clone(), values: vec![value.clone()] }),
        }
    }
    let known = || PLACEHOLDERS.into_iter().chain(parameters.iter().map(|p| p.name.as_str()));
    if let Some(unknown) = used.iter().find(|name| !known().any(|known| known == **name)) {
        let what = format!("{place}: nothing is known that `{{{unknown}}}` could stand for");
        let error = Error::usage(what).help(format!("give it values with --set {unknown}=..."));
        return Err(crate::system::with_suggestion(error, unknown, known()));
    }
    // What is compared, and what differs from benchmark to benchmark, is no part of the name.
    let is_name = |template: &&Template| template.placeholders().next().is_none();
    let named: Vec<String> = run.iter().filter(is_name).map(ToString::to_string).collect();
    let name = if named.is_empty() { shown(words) } else { shown(&named) };
    Ok(Some(CommandEntry {
        name,
        run,
        parameters,
        quantity,
        build: Vec::new(),
        bin: None,
        environment: Vec::new(),
        timeout: None,
        directory: directory.to_owned(),
        place: place.to_owned(),
    }))
}
