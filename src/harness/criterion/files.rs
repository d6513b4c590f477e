//! criterion without a socket (before 0.3.3): whole processes, whose results are read from files.

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use fs_err as fs;
use serde::Deserialize;
use tempfile::TempDir;
use walkdir::WalkDir;

use crate::build::Launch;
use crate::harness::output::Output;
use crate::harness::{Benchmarks, Effort, Failure, ProcessResult, Session, Step, Wanted};
use crate::lockstep::{Attachment, Unfit};
use crate::model::{Measurement, Sample};
use crate::system::Result;
use crate::system::process::{Process, describe_exit};

use super::Extent;

/// A criterion executable without a socket.
#[derive(Debug)]
pub struct FileBenchmarks {
    launch: Launch,
    timeout: Duration,
    /// In the order in which they run.
    ids: Vec<String>,
}

impl FileBenchmarks {
    /// The executable that a launch starts.
    pub fn new(launch: Launch, timeout: Duration) -> Self {
        Self { launch, timeout, ids: Vec::new() }
    }
}

impl Benchmarks for FileBenchmarks {
    fn list(&mut self) -> Result<ProcessResult<Vec<String>>> {
        let mut run = match Run::start(&self.launch, &["--list".to_owned()])? {
            Ok(run) => run,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Some(reason) = run.wait(self.timeout)? {
            return Ok(Err(Failure::outside_benchmarks(reason + &run.output.tail())));
        }
        self.ids = run.output.text().lines().filter_map(listed_id).map(str::to_owned).collect();
        Ok(Ok(self.ids.clone()))
    }

    /// A process cannot be stopped between its benchmarks.
    fn unfit(&self) -> Option<Unfit> {
        Some(Unfit::Whole)
    }

    /// These versions filter by a part of the id only, so everything runs whatever is wanted.
    fn start(
        &self,
        _wanted: Wanted<'_>,
        effort: Effort,
        _attachment: Option<&Attachment>,
        executable: Option<&Path>,
    ) -> Result<ProcessResult<Box<dyn Session>>> {
        let mut arguments = Extent::of(effort).in_whole_seconds().arguments();
        arguments.extend(["--noplot", "--nresamples", "1000"].map(str::to_owned));
        Ok(Ok(Box::new(FileSession {
            launch: self.launch.of(executable),
            arguments,
            timeout: self.timeout,
            ids: self.ids.clone(),
            results: None,
        })))
    }
}

/// A process that runs in its first step; the further ones give what it wrote.
struct FileSession {
    launch: Launch,
    arguments: Vec<String>,
    timeout: Duration,
    ids: Vec<String>,
    results: Option<(VecDeque<Measurement>, Step)>,
}

impl Session for FileSession {
    fn resume(&mut self) {}

    /// Waits for the whole process the first time.
    fn poll(&mut self, _wait: Duration, _can_run: bool) -> Result<Option<Step>> {
        if self.results.is_none() {
            let mut run = match Run::start(&self.launch, &self.arguments)? {
                Ok(run) => run,
                Err(failure) => return Ok(Some(Step::Failed(failure))),
            };
            let end = match run.wait(self.timeout)? {
                None => Step::Finished,
                Some(reason) => {
                    let benchmark = last_begun(&run.output.text());
                    Step::Failed(Failure { benchmark, reason: reason + &run.output.tail() })
                }
            };
            let mut measured = read_results(run.home.path());
            // In the order in which they ran, so that all sides give theirs in the same order.
            measured.sort_by_key(|measurement| {
                self.ids.iter().position(|id| *id == measurement.benchmark)
            });
            self.results = Some((measured.into(), end));
        }
        let (measured, end) = self.results.as_mut().expect("set above");
        Ok(Some(measured.pop_front().map_or_else(|| end.clone(), Step::Measured)))
    }
}

/// One process with a directory for its results.
struct Run {
    home: TempDir,
    process: Process,
    output: Output,
}

impl Run {
    fn start(launch: &Launch, arguments: &[String]) -> Result<ProcessResult<Self>> {
        let home = tempfile::tempdir()?;
        let mut command = launch.command(arguments);
        // The directory has one or the other name, depending on the version.
        command.env("CRITERION_HOME", home.path()).env("CARGO_TARGET_DIR", home.path());
        let output = Output::capture(&mut command)?;
        Ok(match Process::spawn(command) {
            Ok(process) => Ok(Self { home, process, output }),
            Err(error) => Err(Failure::outside_benchmarks(format!("cannot be started: {error}"))),
        })
    }

    /// Waits for the end, as long as the process prints something now and then: why it is no good end, or
    /// `None` if it is.
    fn wait(&mut self, timeout: Duration) -> Result<Option<String>> {
        let mut printed = self.output.length();
        loop {
            match self.process.wait_until(Some(Instant::now() + timeout))? {
                Some(status) if status.success() => return Ok(None),
                Some(status) => {
                    return Ok(Some(format!("the process {}", describe_exit(status))));
                }
                None if self.output.length() > printed => printed = self.output.length(),
                None => {
                    self.process.kill();
                    let limit = humantime::format_duration(timeout);
                    return Ok(Some(format!("no sign of progress for {limit}; it was ended")));
                }
            }
        }
    }
}

/// The id in a line of `--list`: `<id>: bench` up to 0.3.0, `<id>: benchmark` after that.
fn listed_id(line: &str) -> Option<&str> {
    line.strip_suffix(": benchmark").or_else(|| line.strip_suffix(": bench"))
}

/// `Benchmarking <id>` is printed when a benchmark begins, `Benchmarking <id>: ...` while it runs.
fn last_begun(output: &str) -> Option<String> {
    let last = output.lines().rev().find_map(|line| line.strip_prefix("Benchmarking "))?;
    let stages = [": Warming up", ": Collecting", ": Analyzing", ": Complete"];
    let end = stages.iter().filter_map(|stage| last.find(stage)).min();
    Some(last[..end.unwrap_or(last.len())].to_owned())
}

#[derive(Deserialize)]
struct BenchmarkFile {
    full_id: String,
    title: Option<String>,
}

#[derive(Deserialize)]
struct SampleFile {
    iters: Vec<f64>,
    times: Vec<f64>,
}

/// Every benchmark whose results are complete. Their ids are those that `--list` prints.
fn read_results(home: &Path) -> Vec<Measurement> {
    let mut measurements = Vec::new();
    for entry in WalkDir::new(home).sort_by_file_name().into_iter().flatten() {
        if !entry.path().ends_with("new/sample.json") {
            continue;
        }
        let description = entry.path().with_file_name("benchmark.json");
        let (Some(sample), Some(benchmark)) =
            (read_json::<SampleFile>(entry.path()), read_json::<BenchmarkFile>(&description))
        else {
            continue;
        };
        let samples = sample
            .iters
            .into_iter()
            .zip(sample.times)
            .map(|(iterations, total)| Sample { iterations, total })
            .collect();
        let id = benchmark.title.unwrap_or(benchmark.full_id);
        measurements.push(Measurement::new(id, "ns", samples));
    }
    measurements
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_listed_id_are_read() {
        assert_eq!(listed_id("a/b 10: benchmark"), Some("a/b 10"));
        assert_eq!(listed_id("a/b 10: bench"), Some("a/b 10"));
        assert_eq!(listed_id("Gnuplot not found, disabling plotting"), None);
    }

    #[test]
    fn the_benchmark_that_was_running_is_the_last_that_was_named() {
        let output = "Benchmarking a\nBenchmarking a: Warming up for 1.0000 s\n\
                      Benchmarking a: Collecting 20 samples\nBenchmarking b/10: x\nthread main panicked";
        assert_eq!(last_begun(output).as_deref(), Some("b/10: x"));
        assert_eq!(last_begun("Benchmarking a: Warming up for 1 s\n").as_deref(), Some("a"));
        assert_eq!(last_begun("nothing"), None);
    }
}
