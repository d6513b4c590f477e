//! The adapter for the standard library's `#[bench]`, in bench targets and in the unit tests of libraries and
//! programs.
//!
//! It runs each benchmark for as long as it takes to get a stable median, which on a busy machine is seconds,
//! and no argument changes that. So in step its clock goes faster (see [`CLOCK_SPEED`]).

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::build::Launch;
use crate::lockstep::{Attachment, Unfit};
use crate::system::Result;

use super::lines;
use super::output::last_lines;
use super::process_each::{ProcessEach, Processes};
use super::run::{Ended, Run};
use super::{Benchmarks, Effort, ProcessResult, Session, Wanted};
use crate::model::{Measurement, Throughput, TimeLimits};

/// libtest takes 300 samples of a millisecond and five, and up to three seconds more where they vary. A sixteenth of
/// that is about as long as other harnesses take, and gives as many launches in the same time: much of what varies lies
/// between processes.
pub const CLOCK_SPEED: u32 = 16;

/// JSON is for unstable compilers, as `#[bench]` is, but an executable can be taken to a place where
/// `RUSTC_BOOTSTRAP` is not set.
const UNSTABLE: [&str; 2] = ["-Z", "unstable-options"];

/// A libtest executable.
#[derive(Debug, Clone)]
pub struct LibtestBenchmarks {
    launch: Launch,
    limits: TimeLimits,
    /// Whether it accepts unstable options.
    unstable: bool,
}

impl LibtestBenchmarks {
    /// The executable that a launch starts.
    pub fn new(launch: Launch, limits: TimeLimits) -> Self {
        Self { launch, limits, unstable: true }
    }

    fn list_with(&self, arguments: &[&str]) -> Result<ProcessResult<Ended>> {
        let list = ["--list", "--format", "terse"];
        let unstable = if self.unstable { &UNSTABLE[..] } else { &[] };
        Run::to_end(
            self.launch.command([arguments, &list, unstable].concat()),
            self.limits.longest(),
        )
    }

    /// The names of benchmarks that `--list` prints with these arguments.
    fn names(&mut self, arguments: &[&str]) -> Result<ProcessResult<Vec<String>>> {
        let mut listed = self.list_with(arguments)?;
        if self.unstable
            && let Ok(ended) = &listed
            && ended.problem.is_some()
            && ended.says("only accepted on the nightly compiler")
        {
            self.unstable = false;
            listed = self.list_with(arguments)?;
        }
        let names = |text: String| {
            text.lines()
                .filter_map(|line| line.strip_suffix(": benchmark"))
                .map(str::to_owned)
                .collect()
        };
        Ok(listed.and_then(Ended::good).map(names))
    }
}

impl Benchmarks for LibtestBenchmarks {
    fn list(&mut self) -> Result<ProcessResult<Vec<String>>> {
        let mut names = match self.names(&[])? {
            Ok(names) if !names.is_empty() => names,
            other => return Ok(other),
        };
        match self.names(&["--ignored"])? {
            Ok(ignored) => names.retain(|name| !ignored.contains(name)),
            Err(failure) => return Ok(Err(failure)),
        }
        Ok(Ok(names))
    }

    fn unfit(&self) -> Option<Unfit> {
        self.launch.has_runner().then_some(Unfit::Runner)
    }

    fn start(
        &self,
        wanted: Wanted<'_>,
        effort: Effort,
        attachment: Option<&Attachment>,
        executable: Option<&Path>,
    ) -> Result<ProcessResult<Box<dyn Session>>> {
        let launch = self.launch.of(executable);
        Ok(Ok(Processes::session(self, launch, &self.limits, (wanted, effort), attachment)))
    }
}

impl ProcessEach for LibtestBenchmarks {
    fn command(&self, launch: &Launch, id: &str, _effort: Effort) -> Command {
        let mut arguments = vec!["--exact", id];
        if self.unstable {
            arguments.extend(UNSTABLE);
            arguments.extend(["--format", "json"]);
        }
        launch.command(arguments)
    }

    fn clock_speed(&self) -> u32 {
        CLOCK_SPEED
    }

    fn read(&self, id: &str, ended: &Ended) -> std::result::Result<Measurement, String> {
        if self.unstable {
            if let Some(result) = reported(&ended.stdout, id) {
                return result;
            }
        } else if let Some(measurement) = lines::libtest(&ended.stdout).into_iter().next() {
            return Ok(measurement);
        }
        let what = ended.problem.as_deref().unwrap_or("it did not report a time");
        Err(ended.explain(what))
    }
}

/// What the last of the lines of JSON that are about this benchmark says.
pub(super) fn reported(text: &str, id: &str) -> Option<std::result::Result<Measurement, String>> {
    let events = text.lines().filter_map(|line| serde_json::from_str::<Event>(line).ok());
    events.filter_map(|event| event.result(id)).next_back()
}

/// A line of libtest's JSON.
#[derive(Debug, Deserialize)]
struct Event {
    r#type: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    event: String,
    median: Option<f64>,
    mib_per_second: Option<f64>,
    stdout: Option<String>,
}

impl Event {
    /// What it says of this benchmark, if it says that it has ended.
    fn result(self, id: &str) -> Option<std::result::Result<Measurement, String>> {
        if self.name != id {
            return None;
        }
        match (self.r#type.as_str(), self.event.as_str(), self.median) {
            ("bench", _, Some(0.0)) => Some(Err("it timed nothing: 0 ns".to_owned())),
            ("bench", _, Some(median)) => {
                let mut measurement = Measurement::median(id, median);
                measurement.throughput = self.mib_per_second.and_then(|m| throughput(m, median));
                Some(Ok(measurement))
            }
            ("test", "failed", _) => {
                let printed = last_lines(&self.stdout.unwrap_or_default());
                Some(Err(format!("it failed{printed}")))
            }
            _ => None,
        }
    }
}

/// What libtest calls MiB per second are megabytes, without fractions.
pub fn throughput(megabytes_per_second: f64, nanoseconds: f64) -> Option<Throughput> {
    let amount = (megabytes_per_second * nanoseconds / 1000.0).round();
    (amount >= 1.0).then(|| Throughput { amount, unit: "bytes".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(line: &str) -> Option<std::result::Result<Measurement, String>> {
        serde_json::from_str::<Event>(line).ok()?.result("größe::ünï")
    }

    #[test]
    fn events_of_a_benchmark_are_read() {
        let line = r#"{ "type": "bench", "name": "größe::ünï", "median": 314.26054, "deviation": 259.2322944999999, "mib_per_second": 3184 }"#;
        let measurement = result(line).unwrap().unwrap();
        assert_eq!(measurement.samples[0].total, 314.26054);
        assert!(measurement.is_summary);
        assert_eq!(measurement.throughput.unwrap().amount, 1001.0);
        let line = r#"{ "type": "bench", "name": "größe::ünï", "median": 0, "deviation": 0 }"#;
        assert!(result(line).unwrap().unwrap_err().contains("timed nothing"));
        let line =
            r#"{ "type": "test", "name": "größe::ünï", "event": "failed", "stdout": "no luck\n" }"#;
        assert_eq!(result(line).unwrap().unwrap_err(), "it failed; it printed:\nno luck");
        for other in [
            r#"{ "type": "suite", "event": "started", "test_count": 1 }"#,
            r#"{ "type": "test", "event": "started", "name": "größe::ünï" }"#,
            r#"{ "type": "bench", "name": "another", "median": 3, "deviation": 0 }"#,
        ] {
            assert!(result(other).is_none(), "{other}");
        }
    }
}
