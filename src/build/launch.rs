//! How cargo starts an executable: program, arguments, directory and environment, written down by being
//! started in its place.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::system::{Error, Result};

/// Tells the recorder where to write. Also what makes this program a recorder is a hidden subcommand.
const RECORDS_VARIABLE: &str = "CARGO_BENCH_COMPARE_RECORDS";

/// The hidden subcommand that records a launch.
pub const RECORD_SUBCOMMAND: &str = "record-launch";

/// One process as cargo would start it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// A configured runner and its arguments, then the executable.
    program: Vec<OsString>,
    /// Cargo's own arguments, `--bench`.
    arguments: Vec<OsString>,
    directory: PathBuf,
    /// What the process is told that it is called, if not what it is.
    #[serde(skip)]
    name: Option<OsString>,
    #[serde(with = "pairs")]
    environment: BTreeMap<OsString, OsString>,
}

impl Launch {
    /// The executable, whatever runs it.
    pub fn executable(&self) -> &Path {
        Path::new(self.program.last().map_or(OsStr::new(""), OsString::as_os_str))
    }

    /// The launch of another executable in place of its own, if there is another. A process that is not started
    /// by a runner still bears the name of the first (`argv[0]`), as far as the system can tell it one.
    #[must_use]
    pub fn of(&self, executable: Option<&Path>) -> Self {
        let mut launch = self.clone();
        if let (Some(executable), Some(program)) = (executable, launch.program.last_mut()) {
            let name = std::mem::replace(program, executable.into());
            launch.name = (!self.has_runner()).then_some(name);
        }
        launch
    }

    /// Whether another program stands between this one and the executable.
    pub fn has_runner(&self) -> bool {
        self.program.len() > 1
    }

    /// The command, with the harness's arguments where cargo puts the user's: before its own.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(&self.program[0]);
        command
            .args(&self.program[1..])
            .args(arguments)
            .args(&self.arguments)
            .current_dir(&self.directory)
            .env_clear()
            .envs(&self.environment);
        #[cfg(unix)]
        if let Some(name) = &self.name {
            std::os::unix::process::CommandExt::arg0(&mut command, name);
        }
        command
    }

    /// What differs between this launch and another side's, in words, that could matter to the same code.
    /// Paths into the sides' directories count as equal.
    pub fn difference(&self, other: &Self, directories: (&Path, &Path)) -> Option<String> {
        let (ours, theirs) = directories;
        let (ours, theirs) = (ours.to_string_lossy(), theirs.to_string_lossy());
        let same = |a: &OsStr, b: &OsStr| {
            a == b || a.to_string_lossy() == b.to_string_lossy().replace(&*theirs, &ours)
        };
        let all_same = |a: &[OsString], b: &[OsString]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        };
        if !all_same(self.runner(), other.runner()) {
            return Some("its runner changed".to_owned());
        }
        if !same(self.directory.as_os_str(), other.directory.as_os_str()) {
            return Some("its working directory changed".to_owned());
        }
        let names = self.environment.keys().chain(other.environment.keys());
        // A package's description and the like.
        let mut names = names.filter(|name| !name.to_string_lossy().starts_with("CARGO_PKG_"));
        let changed = names.find(|name| {
            match (self.environment.get(*name), other.environment.get(*name)) {
                (Some(a), Some(b)) => !same(a, b),
                _ => true,
            }
        })?;
        Some(format!("the environment variable `{}` changed", changed.to_string_lossy()))
    }

    fn runner(&self) -> &[OsString] {
        self.program.split_last().map_or(&[], |(_, runner)| runner)
    }
}

/// An environment as a list of pairs: JSON has only texts for keys, and these need not be UTF-8.
mod pairs {
    use super::{BTreeMap, Deserialize, OsString, Serialize};

    type Environment = BTreeMap<OsString, OsString>;

    pub fn serialize<S: serde::Serializer>(
        environment: &Environment,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        environment.iter().collect::<Vec<_>>().serialize(serializer)
    }

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Environment, D::Error> {
        Ok(Vec::<(OsString, OsString)>::deserialize(deserializer)?.into_iter().collect())
    }
}

/// A runner that the user has configured for a target, and the variable through which ours replaces it.
pub struct UserRunner {
    /// Program and arguments.
    pub configured: Option<Vec<OsString>>,
    /// `CARGO_TARGET_<TRIPLE>_RUNNER`
    pub variable: String,
    /// The variable's value in the user's own environment.
    pub original: Option<OsString>,
}

/// Makes cargo start this program as the runner. Gives what [`read_records`] needs to take every trace of
/// that out again.
///
/// Cargo splits the variable at spaces. Only if there is one in this program's path does its file name
/// alone stand there, and its directory goes on the PATH: build scripts may watch the PATH, and would
/// build another executable for another one.
pub fn make_recorder(
    command: &mut Command,
    records: &Path,
    runners: &[UserRunner],
) -> Result<Option<PathBuf>> {
    let program = std::env::current_exe()?;
    let mut words = program.as_path();
    let mut on_path = None;
    if program.to_string_lossy().contains(char::is_whitespace) {
        words = program.file_name().map_or(words, Path::new);
        on_path = program.parent().map(Path::to_owned);
    }
    if let Some(directory) = &on_path {
        command.env("PATH", path_with(directory)?);
    }
    command.env(RECORDS_VARIABLE, records);
    for runner in runners {
        command.env(&runner.variable, format!("{} {RECORD_SUBCOMMAND}", words.display()));
    }
    Ok(on_path)
}

fn path_with(directory: &Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(directory.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(path).map_err(|error| {
        Error::comparison("this program cannot be put on the PATH")
            .because(error)
            .help("install it in a directory without `:` in its name")
    })
}

/// The recorder's main function: writes down how it was started. `executable_and_arguments` is what
/// follows the subcommand.
pub fn record_launch(executable_and_arguments: Vec<OsString>) -> Result<()> {
    let records = std::env::var_os(RECORDS_VARIABLE).ok_or_else(|| {
        Error::usage(format!("`{RECORD_SUBCOMMAND}` is for cargo-bench-compare's own use"))
    })?;
    let mut words = executable_and_arguments.into_iter();
    let launch = Launch {
        program: words.by_ref().take(1).collect(),
        arguments: words.collect(),
        directory: std::env::current_dir()?,
        name: None,
        environment: std::env::vars_os().collect(),
    };
    let file = tempfile::Builder::new().suffix(".json").tempfile_in(records)?;
    serde_json::to_writer(&file, &launch).map_err(std::io::Error::from)?;
    file.keep().map_err(|error| error.error)?;
    Ok(())
}

/// What the recorders wrote, with every trace of them taken out. `on_path` is the directory that
/// [`make_recorder`] put on the PATH.
pub fn read_records(
    records: &Path,
    on_path: Option<&Path>,
    runners: &[UserRunner],
) -> Result<Vec<Launch>> {
    let mut launches = Vec::new();
    for entry in fs::read_dir(records)? {
        let text = fs::read(entry?.path())?;
        let mut launch: Launch = serde_json::from_slice(&text).map_err(std::io::Error::from)?;
        launch.environment.remove(OsStr::new(RECORDS_VARIABLE));
        if let Some(directory) = on_path {
            take_off_path(&mut launch.environment, directory);
        }
        for runner in runners {
            restore(&mut launch.environment, &runner.variable, runner.original.as_ref());
        }
        // With several targets at once, all have the same runner or none.
        if let Some(runner) = runners.iter().find_map(|runner| runner.configured.as_ref()) {
            launch.program.splice(0..0, runner.iter().cloned());
        }
        launches.push(launch);
    }
    Ok(launches)
}

/// Only the first occurrence is ours, and other programs may have put theirs before it.
fn take_off_path(environment: &mut BTreeMap<OsString, OsString>, directory: &Path) {
    let Some(path) = environment.get_mut(OsStr::new("PATH")) else { return };
    let mut entries: Vec<PathBuf> = std::env::split_paths(path).collect();
    if let Some(position) = entries.iter().position(|entry| entry == directory) {
        entries.remove(position);
    }
    if let Ok(joined) = std::env::join_paths(entries) {
        *path = joined;
    }
}

fn restore(environment: &mut BTreeMap<OsString, OsString>, name: &str, value: Option<&OsString>) {
    match value {
        Some(value) => environment.insert(name.into(), value.clone()),
        None => environment.remove(OsStr::new(name)),
    };
}
