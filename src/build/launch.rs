//! How cargo starts an executable: program, arguments, directory and environment, written down by being
//! started in its place.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

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
    #[serde(with = "pairs")]
    environment: BTreeMap<OsString, OsString>,
}

impl Launch {
    /// The executable, whatever runs it.
    pub fn executable(&self) -> &Path {
        Path::new(self.program.last().map_or(OsStr::new(""), OsString::as_os_str))
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
        command
    }

    /// A launch of any program in the present environment, for tests.
    #[cfg(test)]
    pub fn of_program(program: &[&str], directory: &Path) -> Self {
        Self {
            program: program.iter().map(OsString::from).collect(),
            arguments: Vec::new(),
            directory: directory.to_owned(),
            environment: std::env::vars_os().collect(),
        }
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

/// Makes cargo start this program as the runner. Cargo splits the variable at spaces, so only the file
/// name stands there, and the directory goes on the PATH.
pub fn make_recorder(command: &mut Command, records: &Path, runners: &[UserRunner]) -> Result<()> {
    let program = std::env::current_exe()?;
    let directory = program.parent().unwrap_or(Path::new(""));
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(
        std::iter::once(directory.to_owned()).chain(std::env::split_paths(&path)),
    )
    .map_err(|error| {
        Error::comparison("this program cannot be put on the PATH")
            .because(error)
            .help("install it in a directory without `:` in its name")
    })?;
    command.env("PATH", path).env(RECORDS_VARIABLE, records);
    for runner in runners {
        command.env(&runner.variable, format!("{name} {RECORD_SUBCOMMAND}"));
    }
    Ok(())
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
        environment: std::env::vars_os().collect(),
    };
    let file = tempfile::Builder::new().suffix(".json").tempfile_in(records)?;
    serde_json::to_writer(&file, &launch).map_err(std::io::Error::from)?;
    file.keep().map_err(|error| error.error)?;
    Ok(())
}

/// What the recorders wrote, with every trace of them taken out.
pub fn read_records(records: &Path, runners: &[UserRunner]) -> Result<Vec<Launch>> {
    let user_path = std::env::var_os("PATH");
    let mut launches = Vec::new();
    for entry in fs::read_dir(records)? {
        let text = fs::read(entry?.path())?;
        let mut launch: Launch = serde_json::from_slice(&text).map_err(std::io::Error::from)?;
        launch.environment.remove(OsStr::new(RECORDS_VARIABLE));
        restore(&mut launch.environment, "PATH", user_path.as_ref());
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

fn restore(environment: &mut BTreeMap<OsString, OsString>, name: &str, value: Option<&OsString>) {
    match value {
        Some(value) => environment.insert(name.into(), value.clone()),
        None => environment.remove(OsStr::new(name)),
    };
}
