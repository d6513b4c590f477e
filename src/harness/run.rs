//! One process that runs to its end, and whose output is read then.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::system::Result;
use crate::system::process::{Process, describe_exit};

use super::output::{Output, last_lines};
use super::patience::{Patience, seconds};
use super::{Failure, ProcessResult};

/// A running process.
#[derive(Debug)]
pub struct Run {
    process: Process,
    stdout: Output,
    stderr: Output,
    printed: u64,
    patience: Patience,
}

/// What a process left.
#[derive(Debug)]
pub struct Ended {
    /// Its standard output.
    pub stdout: String,
    /// Why it is no good end: how it ended otherwise.
    pub problem: Option<String>,
    stderr: String,
}

impl Run {
    /// Starts a command. The inner error is the program's own failure.
    pub fn start(mut command: Command, timeout: Duration) -> Result<ProcessResult<Self>> {
        let (stdout, stderr) = Output::capture_apart(&mut command)?;
        let patience = Patience::new(timeout.into());
        Ok(match Process::spawn(command) {
            Ok(process) => Ok(Self { process, stdout, stderr, printed: 0, patience }),
            Err(error) => Err(Failure::outside_benchmarks(format!("cannot be started: {error}"))),
        })
    }

    /// Runs a command to its end.
    pub fn to_end(command: Command, timeout: Duration) -> Result<ProcessResult<Ended>> {
        let mut run = match Self::start(command, timeout)? {
            Ok(run) => run,
            Err(failure) => return Ok(Err(failure)),
        };
        loop {
            if let Some(ended) = run.poll(Duration::from_millis(20), true)? {
                return Ok(Ok(ended));
            }
        }
    }

    /// Waits at most so long for its end: `None` if it still runs. What it prints counts as a sign of
    /// progress; without one it is ended in the end. Time in which it cannot run does not count.
    pub fn poll(&mut self, wait: Duration, can_run: bool) -> Result<Option<Ended>> {
        let status = self.process.wait_until(Some(Instant::now() + wait))?;
        let problem = match status {
            Some(status) if status.success() => None,
            Some(status) => Some(format!("the process {}", describe_exit(status))),
            None => {
                let printed = self.stdout.length() + self.stderr.length();
                if printed > self.printed {
                    self.printed = printed;
                    self.patience.renew(Duration::ZERO);
                }
                if !self.patience.is_exhausted(can_run) {
                    return Ok(None);
                }
                self.process.kill();
                let timeout = seconds(self.patience.timeout());
                Some(format!("no sign of progress for {timeout}; it was ended"))
            }
        };
        let (stdout, stderr) = (self.stdout.text(), self.stderr.text());
        Ok(Some(Ended { stdout, problem, stderr }))
    }
}

impl Ended {
    /// Something that is wrong with it, with the end of what it printed.
    pub fn explain(&self, what: &str) -> String {
        // Panics and complaints are on standard error.
        let text = if self.stderr.trim().is_empty() { &self.stdout } else { &self.stderr };
        format!("{what}{}", last_lines(text))
    }

    /// Its standard output if it ended well.
    pub fn good(self) -> std::result::Result<String, Failure> {
        match &self.problem {
            None => Ok(self.stdout),
            Some(problem) => Err(Failure::outside_benchmarks(self.explain(problem))),
        }
    }

    /// All that it printed.
    pub fn all(&self) -> String {
        format!("{}\n{}", self.stderr, self.stdout)
    }

    /// Whether it complained in these words.
    pub fn says(&self, words: &str) -> bool {
        self.stderr.contains(words) || self.stdout.contains(words)
    }
}
