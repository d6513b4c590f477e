//! Programs with a harness of their own, of which the configuration says what they print (docs/harnesses.md).
//!
//! Nobody knows how they measure, so each runs as a whole, and not in step.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::build::Launch;
use crate::error::Result;
use crate::interrupt;
use crate::lockstep::Attachment;

use super::run::{Ended, Run};
use super::{
    Benchmarks, Effort, Failure, Measurement, OwnHarness, Session, Step, TimeLimits, Wanted, lines,
};

/// Asks a program for the names of its benchmarks alone. One that does not know it measures them.
const LIST_VARIABLE: &str = "CARGO_BENCH_COMPARE_LIST";

/// The ids of the benchmarks that are wanted, a JSON array, unless all are. A program may measure others too.
const ONLY_VARIABLE: &str = "CARGO_BENCH_COMPARE_ONLY";

/// A program with a harness of its own.
#[derive(Debug, Clone)]
pub struct OwnBenchmarks {
    launch: Launch,
    limits: TimeLimits,
    prints: OwnHarness,
}

impl OwnBenchmarks {
    /// The executable that a launch starts, and what it prints.
    pub fn new(launch: Launch, limits: TimeLimits, prints: OwnHarness) -> Self {
        Self { launch, limits, prints }
    }

    fn read(&self, ended: &Ended) -> Vec<Measurement> {
        match self.prints {
            OwnHarness::JsonLines => lines::json(&ended.stdout),
            OwnHarness::Libtest => lines::libtest(&ended.stdout),
        }
    }
}

impl Benchmarks for OwnBenchmarks {
    fn list(&mut self) -> Result<std::result::Result<Vec<String>, Failure>> {
        let mut command = self.launch.command([""; 0]);
        command.env(LIST_VARIABLE, "1");
        let ended = match Run::to_end(command, self.limits.longest())? {
            Ok(ended) => ended,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Some(problem) = &ended.problem {
            return Ok(Err(Failure::outside_benchmarks(ended.explain(problem))));
        }
        let ids: Vec<String> = self.read(&ended).into_iter().map(|m| m.benchmark).collect();
        if ids.is_empty() {
            let lines = match self.prints {
                OwnHarness::JsonLines => "JSON lines",
                OwnHarness::Libtest => "lines of libtest",
            };
            let what = format!("it printed no {lines}, although the configuration says so");
            return Ok(Err(Failure::outside_benchmarks(ended.explain(&what))));
        }
        Ok(Ok(ids))
    }

    fn can_keep_step(&self) -> bool {
        false
    }

    fn start(
        &self,
        wanted: Wanted<'_>,
        _effort: Effort,
        _attachment: Option<&Attachment>,
        executable: Option<&Path>,
    ) -> Result<std::result::Result<Box<dyn Session>, Failure>> {
        let mut command = self.launch.of(executable).command([""; 0]);
        if let Wanted::Only(ids) = wanted {
            command.env(ONLY_VARIABLE, serde_json::json!(ids).to_string());
        }
        Ok(Ok(Box::new(Whole {
            benchmarks: self.clone(),
            order: wanted.ids().to_vec(),
            state: State::Ready(Box::new(command)),
        })))
    }
}

/// A process that runs in its first step; the further ones give what it measured.
struct Whole {
    benchmarks: OwnBenchmarks,
    order: Vec<String>,
    state: State,
}

enum State {
    Ready(Box<Command>),
    Running(Run),
    /// What it measured, and how it ended.
    Ended(VecDeque<Measurement>, Step),
}

impl Whole {
    /// All sides give what they measured in the same order.
    fn sort_out(&self, ended: &Ended) -> State {
        let mut measured = self.benchmarks.read(ended);
        measured.retain(|measurement| self.order.contains(&measurement.benchmark));
        measured.sort_by_key(|m| self.order.iter().position(|id| *id == m.benchmark));
        let end = match &ended.problem {
            None => Step::Finished,
            // The first that is missing is the one in which it happened, as far as anybody knows.
            Some(problem) => Step::Failed(Failure {
                benchmark: self.order.get(measured.len()).cloned(),
                reason: ended.explain(problem),
            }),
        };
        State::Ended(measured.into(), end)
    }
}

impl Session for Whole {
    fn resume(&mut self) {}

    fn poll(&mut self, wait: Duration, can_run: bool) -> Result<Option<Step>> {
        interrupt::check()?;
        loop {
            match &mut self.state {
                State::Ready(command) => {
                    let command = std::mem::replace(&mut **command, Command::new(""));
                    self.state = match Run::start(command, self.benchmarks.limits.longest())? {
                        Ok(run) => State::Running(run),
                        Err(failure) => State::Ended(VecDeque::new(), Step::Failed(failure)),
                    };
                }
                State::Running(run) => {
                    let Some(ended) = run.poll(wait, can_run)? else { return Ok(None) };
                    self.state = self.sort_out(&ended);
                }
                State::Ended(measured, end) => {
                    let step = measured.pop_front().map(Step::Measured);
                    return Ok(Some(step.unwrap_or_else(|| end.clone())));
                }
            }
        }
    }
}
