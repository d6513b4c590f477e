//! Whole commands: every run is a process of its own, measured from outside, or by what it prints.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::commands::{Account, Quantity, measured, rates, read_account};
use crate::lockstep::{Attachment, Unfit};
use crate::system::{Result, interrupt, untie};

use crate::harness::{Benchmarks, Effort, Failure, ProcessResult, Session, Step, Wanted};
use crate::harness::{Ended, Run, lines};
use crate::model::{Measurement, Sample, TimeLimits};

/// One way in which a command is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRun {
    /// What it is called, unless it names its benchmarks itself: `parse n=100`.
    pub name: String,
    /// What its parameters are, for programs that do not say: `n=100`.
    pub parameters: String,
    /// The command line.
    pub words: Vec<String>,
    /// Variables besides those of this program's own environment.
    pub environment: Vec<(String, String)>,
    /// Where it runs.
    pub directory: PathBuf,
}

/// A command on one side, with all its combinations of parameters.
#[derive(Debug)]
pub struct CommandBenchmarks {
    runs: Vec<CommandRun>,
    quantity: Quantity,
    limits: TimeLimits,
    /// The ids of each run.
    ids: Vec<Vec<String>>,
}

impl CommandBenchmarks {
    /// These runs.
    pub fn new(runs: Vec<CommandRun>, quantity: Quantity, limits: TimeLimits) -> Self {
        Self { runs, quantity, limits, ids: Vec::new() }
    }
}

impl Benchmarks for CommandBenchmarks {
    /// A program that names its benchmarks itself is run for that; nothing else would tell.
    fn list(&mut self) -> Result<ProcessResult<Vec<String>>> {
        let mut ids = Vec::new();
        for run in &self.runs {
            if !self.quantity.is_printed() {
                ids.push(vec![run.name.clone()]);
                continue;
            }
            match run_once(run, self.quantity, self.limits.general())? {
                Ok(measurements) => {
                    ids.push(measurements.into_iter().map(|m| m.benchmark).collect());
                }
                Err(reason) => {
                    let reason = format!("{}: {reason}", run.name);
                    return Ok(Err(Failure::outside_benchmarks(reason)));
                }
            }
        }
        self.ids = ids;
        Ok(Ok(self.ids.iter().flatten().cloned().collect()))
    }

    /// Nothing is known of what a command does: it may have threads, or be several processes.
    fn unfit(&self) -> Option<Unfit> {
        Some(Unfit::Whole)
    }

    fn start(
        &self,
        wanted: Wanted<'_>,
        effort: Effort,
        _attachment: Option<&Attachment>,
        _executable: Option<&Path>,
    ) -> Result<ProcessResult<Box<dyn Session>>> {
        let is_wanted = |ids: &&Vec<String>| match wanted {
            Wanted::All(_) => true,
            Wanted::Only(wanted) => ids.iter().any(|id| wanted.contains(id)),
        };
        let runs = self.runs.iter().zip(&self.ids).filter(|(_, ids)| is_wanted(ids));
        let runs = runs.map(|(run, ids)| (run.clone(), ids.clone())).collect();
        let (quantity, limits) = (self.quantity, self.limits.clone());
        Ok(Ok(Box::new(CommandSession { runs, quantity, limits, effort, done: VecDeque::new() })))
    }
}

/// Runs the next one of the commands in each step, as often as the effort asks for.
struct CommandSession {
    runs: VecDeque<(CommandRun, Vec<String>)>,
    quantity: Quantity,
    limits: TimeLimits,
    effort: Effort,
    /// Of a run that gave several.
    done: VecDeque<Measurement>,
}

impl Session for CommandSession {
    fn resume(&mut self) {}

    /// Waits for the end of the run.
    fn poll(&mut self, _wait: Duration, _can_run: bool) -> Result<Option<Step>> {
        interrupt::check()?;
        if self.done.is_empty() {
            let Some((run, ids)) = self.runs.pop_front() else { return Ok(Some(Step::Finished)) };
            let limit = ids.iter().map(|id| self.limits.of(id)).max();
            let limit = limit.unwrap_or(self.limits.general());
            match self.repeat(&run, limit)? {
                Ok(measurements) => self.done = measurements.into(),
                Err(reason) => {
                    // Where it is not known in which it happened, it is said of the first.
                    let benchmark = ids.first().cloned();
                    return Ok(Some(Step::Failed(Failure { benchmark, reason })));
                }
            }
        }
        Ok(Some(self.done.pop_front().map_or(Step::Finished, Step::Measured)))
    }
}

impl CommandSession {
    /// A run that is over soon is repeated, and each time is a sample. One that measures itself is not: it knows
    /// how long it must run.
    fn repeat(
        &self,
        run: &CommandRun,
        limit: Duration,
    ) -> Result<std::result::Result<Vec<Measurement>, String>> {
        let begun = std::time::Instant::now();
        let mut all = match run_once(run, self.quantity, limit)? {
            Ok(first) => first,
            Err(reason) => return Ok(Err(reason)),
        };
        let most = if self.quantity.is_printed() { 1 } else { self.effort.samples };
        for _ in 1..most {
            if begun.elapsed() >= self.effort.time {
                break;
            }
            let further = match run_once(run, self.quantity, limit)? {
                Ok(further) => further,
                Err(reason) => return Ok(Err(reason)),
            };
            for (measurement, further) in all.iter_mut().zip(further) {
                measurement.samples.extend(further.samples);
            }
        }
        Ok(Ok(all))
    }
}

/// Runs a command once. The inner error is why it gave nothing.
fn run_once(
    run: &CommandRun,
    quantity: Quantity,
    limit: Duration,
) -> Result<std::result::Result<Vec<Measurement>, String>> {
    let directory = tempfile::tempdir()?;
    let account = directory.path().join("account.json");
    let mut command: Command = measured(&run.words, &account)?;
    command.current_dir(&run.directory);
    untie(&mut command);
    command.envs(run.environment.iter().map(|(name, value)| (name, value)));
    let ended = match Run::to_end(command, limit)? {
        Ok(ended) => ended,
        Err(failure) => return Ok(Err(failure.reason)),
    };
    if let Some(problem) = &ended.problem {
        return Ok(Err(ended.explain(problem)));
    }
    let account = read_account(&account)?;
    if let Some(problem) = &account.problem {
        let it = if problem.starts_with("cannot") { "it" } else { "the process" };
        return Ok(Err(ended.explain(&format!("{it} {problem}"))));
    }
    Ok(measurements(run, quantity, &account, &ended))
}

fn measurements(
    run: &CommandRun,
    quantity: Quantity,
    account: &Account,
    ended: &Ended,
) -> std::result::Result<Vec<Measurement>, String> {
    let one = |unit: &str, total: f64| {
        let samples = vec![Sample { iterations: 1.0, total }];
        vec![Measurement::new(&run.name, unit, samples)]
    };
    let unknown = "this system does not tell";
    match quantity {
        Quantity::WallTime => Ok(one("ns", nanoseconds(account.wall_time))),
        Quantity::CpuTime => {
            let time = account.cpu_time.ok_or_else(|| format!("{unknown} the processor time"))?;
            Ok(one("ns", nanoseconds(time)))
        }
        Quantity::PeakMemory => {
            let peak =
                account.peak_memory.ok_or_else(|| format!("{unknown} the peak of memory"))?;
            if peak <= account.least_memory {
                return Err(format!(
                    "its peak of memory is below {} kB, the least that can be measured",
                    account.least_memory / 1024
                ));
            }
            Ok(one("bytes", peak as f64))
        }
        Quantity::Rates => {
            let found = rates(&ended.stdout).into_iter().map(|rate| {
                // Operations a second as the time of one, so that less is better, as everywhere.
                let samples = vec![Sample { iterations: 1.0, total: 1e9 / rate.rate }];
                Measurement::new(rate.name, "ns", samples)
            });
            let what = "no line like `script.js n=100: 1,234.5`";
            named(run, found.collect()).ok_or_else(|| ended.explain(&format!("it printed {what}")))
        }
        Quantity::JsonLines => {
            let found = lines::json(&ended.stdout).into_iter().filter(|m| !m.samples.is_empty());
            named(run, found.collect()).ok_or_else(|| ended.explain("it printed no JSON line"))
        }
    }
}

/// What was printed more than once is one benchmark; and parameters that a program does not repeat are added, so that
/// its benchmarks can be told apart. `None` if nothing was printed.
fn named(run: &CommandRun, found: Vec<Measurement>) -> Option<Vec<Measurement>> {
    let mut all: Vec<Measurement> = Vec::new();
    for mut measurement in found {
        let id = &mut measurement.benchmark;
        let said =
            run.parameters.split(' ').all(|setting| id.split(' ').any(|word| word == setting));
        if !said && !run.parameters.is_empty() {
            *id = format!("{id} {}", run.parameters);
        }
        match all.iter_mut().find(|other| other.benchmark == measurement.benchmark) {
            Some(other) => other.samples.extend(measurement.samples),
            None => all.push(measurement),
        }
    }
    (!all.is_empty()).then_some(all)
}

fn nanoseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_gets_the_parameters_that_it_does_not_say() {
        let run = |parameters: &str| CommandRun {
            name: "x".to_owned(),
            parameters: parameters.to_owned(),
            words: Vec::new(),
            environment: Vec::new(),
            directory: PathBuf::new(),
        };
        let measurement = |id: &str, total: f64| {
            Measurement::new(id, "ns", vec![Sample { iterations: 1.0, total }])
        };
        let ids = |parameters: &str| -> Vec<(String, usize)> {
            let found = ["a n=1 len=2", "b", "b"].map(|id| measurement(id, 1.0));
            let named = named(&run(parameters), found.to_vec()).unwrap();
            named.into_iter().map(|m| (m.benchmark, m.samples.len())).collect()
        };
        let expected = |names: [&str; 2]| vec![(names[0].to_owned(), 1), (names[1].to_owned(), 2)];
        assert_eq!(ids(""), expected(["a n=1 len=2", "b"]));
        assert_eq!(ids("n=1"), expected(["a n=1 len=2", "b n=1"]));
        assert_eq!(named(&run("n=1"), Vec::new()), None);
    }
}
