//! The adapter for divan: a process for each benchmark.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use crate::build::Launch;
use crate::lockstep::{Attachment, Unfit};
use crate::system::Result;

use super::super::process_each::{ProcessEach, Processes};
use super::super::run::{Ended, Run};
use super::super::{Benchmarks, Effort, ProcessResult, Session, Wanted, crate_name};
use crate::model::{Measurement, TimeLimits};

use super::tree::Leaf;

/// The path of a benchmark, and its number of threads where it runs with several.
type Variant = (String, Option<String>);

/// A divan executable.
#[derive(Debug, Clone)]
pub struct DivanBenchmarks {
    launch: Launch,
    limits: TimeLimits,
    benchmarks: HashMap<String, Benchmark>,
}

/// What divan calls a benchmark of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Benchmark {
    /// Its whole path, with the crate and the argument.
    path: String,
    /// The number of threads, if it runs with several.
    threads: Option<String>,
    /// How many others with the same path come before it.
    occurrence: usize,
}

impl DivanBenchmarks {
    /// The executable that a launch starts.
    pub fn new(launch: Launch, limits: TimeLimits) -> Self {
        Self { launch, limits, benchmarks: HashMap::new() }
    }

    /// The paths of all benchmarks, as divan lists them for cargo-nextest since 0.1.15. `None` if this one
    /// does not.
    fn paths(&self) -> Result<ProcessResult<Option<Vec<String>>>> {
        let mut command = self.launch.command(["--list", "--format", "terse"]);
        command.env("NEXTEST", "1");
        let ended = match Run::to_end(command, self.limits.longest())? {
            Ok(ended) => ended,
            Err(failure) => return Ok(Err(failure)),
        };
        if ended.problem.is_some() && ended.says("unexpected argument") {
            return Ok(Ok(None));
        }
        let paths = |text: String| {
            text.lines()
                .filter_map(|line| line.strip_suffix(": benchmark"))
                .map(str::to_owned)
                .collect()
        };
        Ok(ended.good().map(|text| Some(paths(text))))
    }

    /// The tree of what divan runs once to test it, of this benchmark or of all. Only there does it say with how
    /// many threads.
    fn tested(&self, path: Option<&str>) -> Result<ProcessResult<Ended>> {
        let arguments = path.map_or(vec!["--test"], |path| vec!["--test", "--exact", path]);
        Run::to_end(self.launch.command(arguments), self.limits.longest())
    }

    /// The paths of what runs, each as often as it does, with its number of threads where there are several.
    fn variants(&self, paths: Option<Vec<String>>) -> Result<ProcessResult<Vec<Variant>>> {
        let all = match self.tested(None)? {
            Ok(all) => all,
            Err(failure) => return Ok(Err(failure)),
        };
        let leaves = super::tree::leaves(&all.stdout);
        let Some(paths) = paths else {
            let variants = leaves.into_iter().map(Leaf::variant).collect();
            return Ok(all.good().map(|_| variants));
        };
        let mut variants = Vec::new();
        for path in paths {
            // A benchmark that panics ends the process, and it is not reached what comes after it.
            let mut threads = super::tree::threads_of(&leaves, &path);
            if threads.is_none()
                && all.problem.is_some()
                && let Ok(alone) = self.tested(Some(&path))?
            {
                threads = super::tree::threads_of(&super::tree::leaves(&alone.stdout), &path);
            }
            match threads {
                Some(threads) if !threads.is_empty() => {
                    variants.extend(threads.into_iter().map(|t| (path.clone(), Some(t))));
                }
                _ => variants.push((path, None)),
            }
        }
        Ok(Ok(variants))
    }
}

/// Ids for these benchmarks: paths without the crate, with the number of threads where there are several, and
/// ` #2` and so on from the second occurrence on.
fn identify(variants: Vec<(String, Option<String>)>, crate_name: &str) -> Vec<(String, Benchmark)> {
    let mut identified: Vec<(String, Benchmark)> = Vec::new();
    for (path, threads) in variants {
        let same = |b: &Benchmark| b.path == path && b.threads == threads;
        let occurrence = identified.iter().filter(|(_, b)| same(b)).count();
        let prefix = format!("{crate_name}::");
        let mut id = path.strip_prefix(&prefix).unwrap_or(&path).to_owned();
        if let Some(threads) = &threads {
            id = format!("{id}::t={threads}");
        }
        // Another benchmark may be called like that.
        let taken = |id: &str| identified.iter().any(|(other, _)| other == id);
        let numbered = (2..).map(|number| format!("{id} #{number}"));
        let id = std::iter::once(id.clone()).chain(numbered).find(|id| !taken(id));
        let id = id.expect("there is always another number");
        identified.push((id, Benchmark { path, threads, occurrence }));
    }
    identified
}

impl Benchmarks for DivanBenchmarks {
    fn list(&mut self) -> Result<ProcessResult<Vec<String>>> {
        let paths = match self.paths()? {
            Ok(Some(paths)) if paths.is_empty() => return Ok(Ok(Vec::new())),
            Ok(paths) => paths,
            Err(failure) => return Ok(Err(failure)),
        };
        let variants = match self.variants(paths)? {
            Ok(variants) => variants,
            Err(failure) => return Ok(Err(failure)),
        };
        let identified = identify(variants, &crate_name(&self.launch));
        let ids = identified.iter().map(|(id, _)| id.clone()).collect();
        self.benchmarks = identified.into_iter().collect();
        Ok(Ok(ids))
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

/// Samples, and the least and most seconds that they take. The most holds whatever a benchmark's code says of
/// the number of its samples, and however long its iterations take; but it must not be over before it has begun
/// where a busy machine does not let it run.
fn extent(effort: Effort) -> Vec<String> {
    let time = effort.time.as_secs_f64().max(0.001);
    [
        ("--sample-count", effort.samples.max(1).to_string()),
        ("--min-time", time.to_string()),
        ("--max-time", (10.0 * time).max(1.0).to_string()),
    ]
    .into_iter()
    .flat_map(|(name, value)| [name.to_owned(), value])
    .collect()
}

impl ProcessEach for DivanBenchmarks {
    fn command(&self, launch: &Launch, id: &str, effort: Effort) -> Command {
        let benchmark = self.benchmarks.get(id);
        let path = benchmark.map_or(id, |benchmark| &benchmark.path);
        // The processor's own counter would not see that other sides have their turns.
        let mut arguments = [path, "--exact", "--timer", "os"].map(str::to_owned).to_vec();
        arguments.extend(extent(effort));
        let mut command = launch.command(arguments);
        if let Some(threads) = benchmark.and_then(|benchmark| benchmark.threads.as_ref()) {
            // As a variable, because 0.1.0 knows no such argument and runs them all.
            command.env("DIVAN_THREADS", threads);
        }
        command
    }

    fn read(&self, id: &str, ended: &Ended) -> std::result::Result<Measurement, String> {
        let benchmark = self.benchmarks.get(id);
        let threads = benchmark.and_then(|benchmark| benchmark.threads.as_deref());
        let occurrence = benchmark.map_or(0, |benchmark| benchmark.occurrence);
        if let Some(problem) = &ended.problem {
            return Err(ended.explain(problem));
        }
        let mut rows = super::tree::rows(&ended.stdout);
        if let Some(threads) = threads {
            let name = format!("t={threads}");
            if rows.iter().any(|row| row.is_named(&name)) {
                rows.retain(|row| row.is_named(&name));
            }
        }
        let row = rows.into_iter().nth(occurrence);
        let row = row.ok_or_else(|| ended.explain("it did not report a time"))?;
        if row.median == 0.0 {
            return Err("it takes less time than divan can measure".to_owned());
        }
        Ok(Measurement {
            throughput: row.throughput,
            counts: row.counts,
            ..Measurement::median(id, row.median)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_paths_without_the_crate_and_never_the_same() {
        let variant =
            |path: &str, threads: Option<&str>| (path.to_owned(), threads.map(str::to_owned));
        let variants = vec![
            variant("main::dup", None),
            variant("main::dup", None),
            variant("main::dup #2", None),
            variant("main::a::1", Some("1")),
            variant("main::a::1", Some("4")),
            variant("library::main::dup", None),
        ];
        let identified = identify(variants, "main");
        let ids: Vec<&str> = identified.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(
            ids,
            ["dup", "dup #2", "dup #2 #2", "a::1::t=1", "a::1::t=4", "library::main::dup"]
        );
        let occurrences: Vec<usize> = identified.iter().map(|(_, b)| b.occurrence).collect();
        assert_eq!(occurrences, [0, 1, 0, 0, 0, 0]);
    }
}
