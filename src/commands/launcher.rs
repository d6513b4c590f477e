//! Running one command and measuring it, in a small process of its own that does nothing else.
//!
//! In: a command line, in a process that this program has started for it. Out: a file with what the run took.
//! A process of its own, because the system counts as a child's peak memory at least what its parent had at the
//! fork: a parent with megabytes of results would hide a small program's. It stands in the process group of the
//! command, so that whoever started it can wait for it, and kill both.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::system::process::{describe_exit, die_with_parent};
use crate::system::{Error, Result};

/// The hidden subcommand that runs and measures a command.
pub const MEASURE_SUBCOMMAND: &str = "measure-run";

/// What one run of a command took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// From just before its start until its end was known.
    pub wall_time: Duration,
    /// User and system time, with that of the processes that it waited for. `None` where the system does not say.
    pub cpu_time: Option<Duration>,
    /// In bytes, the largest resident set of it or of a process that it waited for.
    pub peak_memory: Option<u64>,
    /// In bytes: a peak that is no larger may be that of the process that started it.
    pub least_memory: u64,
    /// How it ended, unless that was well.
    pub problem: Option<String>,
}

/// The command that measures a command line. The account is written to a file.
pub fn measured(words: &[String], account: &Path) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(MEASURE_SUBCOMMAND).arg(account).arg("--").args(words);
    Ok(command)
}

/// Reads the account. An error means that the run did not come to its end.
pub fn read_account(file: &Path) -> Result<Account> {
    let text = fs_err::read(file)?;
    Ok(serde_json::from_slice(&text).map_err(std::io::Error::from)?)
}

/// What the hidden subcommand does.
pub fn measure_run(account: &Path, words: Vec<OsString>) -> Result<()> {
    let mut words = words.into_iter();
    let Some(program) = words.next() else {
        return Err(Error::usage(format!(
            "`{MEASURE_SUBCOMMAND}` is for cargo-bench-compare's own use"
        )));
    };
    let mut command = Command::new(located(program)?);
    command.args(words);
    die_with_parent(&mut command);
    let least_memory = own_peak_memory();
    let account_of_run = run(command).unwrap_or_else(|error| Account {
        wall_time: Duration::ZERO,
        cpu_time: None,
        peak_memory: None,
        least_memory: 0,
        problem: Some(format!("cannot be started: {error}")),
    });
    let text = serde_json::to_vec(&Account { least_memory, ..account_of_run });
    Ok(fs_err::write(account, text.map_err(std::io::Error::from)?)?)
}

/// A program that is named with a directory is looked for from the directory in which it runs, on every system.
fn located(program: OsString) -> Result<PathBuf> {
    let path = PathBuf::from(program);
    if path.components().count() > 1 { Ok(std::path::absolute(path)?) } else { Ok(path) }
}

#[cfg(unix)]
#[allow(unsafe_code)]
fn run(mut command: Command) -> std::io::Result<Account> {
    use std::os::unix::process::ExitStatusExt;
    let begun = Instant::now();
    let child = command.spawn()?;
    let pid = libc::pid_t::try_from(child.id()).map_err(std::io::Error::other)?;
    let mut status = 0;
    // SAFETY: all zeros are a valid value, and it is filled in before it is read.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to variables that live longer than the call.
        let ended = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        if ended == pid {
            break;
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let wall_time = begun.elapsed();
    let status = std::process::ExitStatus::from_raw(status);
    Ok(Account {
        wall_time,
        cpu_time: Some(duration(usage.ru_utime) + duration(usage.ru_stime)),
        peak_memory: u64::try_from(usage.ru_maxrss).ok().map(|size| size * MEMORY_UNIT),
        least_memory: 0,
        problem: (!status.success()).then(|| describe_exit(status)),
    })
}

#[cfg(not(unix))]
fn run(mut command: Command) -> std::io::Result<Account> {
    let begun = Instant::now();
    let status = command.status()?;
    Ok(Account {
        wall_time: begun.elapsed(),
        cpu_time: None,
        peak_memory: None,
        least_memory: 0,
        problem: (!status.success()).then(|| describe_exit(status)),
    })
}

/// In what the system counts the peak: kilobytes, on macOS bytes.
#[cfg(unix)]
const MEMORY_UNIT: u64 = if cfg!(target_os = "macos") { 1 } else { 1024 };

#[cfg(unix)]
fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let microseconds = u64::try_from(time.tv_usec).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_micros(microseconds)
}

/// The peak of this process until now, in bytes; 0 where it cannot be known.
fn own_peak_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}
