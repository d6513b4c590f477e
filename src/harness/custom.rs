//! Programs with a harness of their own, of which the configuration says what they print (docs/harnesses.md).
//!
//! Nobody knows how they measure, so each runs as a whole, and not in step.

use std::path::Path;

use crate::build::Launch;
use crate::lockstep::{Attachment, Unfit};
use crate::system::Result;

use super::run::{Ended, Run};
use super::whole::Whole;
use super::{Benchmarks, Effort, Failure, ProcessResult, Session, Wanted, lines};
use crate::model::{CustomHarness, Measurement, TimeLimits};

/// Asks a program for the names of its benchmarks alone. One that does not know it measures them.
const LIST_VARIABLE: &str = "CARGO_BENCH_COMPARE_LIST";

/// The ids of the benchmarks that are wanted, a JSON array, unless all are. A program may measure others too.
const ONLY_VARIABLE: &str = "CARGO_BENCH_COMPARE_ONLY";

/// A program with a harness of its own.
#[derive(Debug, Clone)]
pub struct CustomBenchmarks {
    launch: Launch,
    limits: TimeLimits,
    prints: CustomHarness,
}

impl CustomBenchmarks {
    /// The executable that a launch starts, and what it prints.
    pub fn new(launch: Launch, limits: TimeLimits, prints: CustomHarness) -> Self {
        Self { launch, limits, prints }
    }

    fn read(&self, ended: &Ended) -> Vec<Measurement> {
        match self.prints {
            CustomHarness::JsonLines => lines::json(&ended.stdout),
            CustomHarness::Libtest => lines::libtest(&ended.stdout),
        }
    }
}

impl Benchmarks for CustomBenchmarks {
    fn list(&mut self) -> Result<ProcessResult<Vec<String>>> {
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
                CustomHarness::JsonLines => "JSON lines",
                CustomHarness::Libtest => "lines of libtest",
            };
            let what = format!("it printed no {lines}, although the configuration says so");
            return Ok(Err(Failure::outside_benchmarks(ended.explain(&what))));
        }
        Ok(Ok(ids))
    }

    fn unfit(&self) -> Option<Unfit> {
        Some(Unfit::Whole)
    }

    fn start(
        &self,
        wanted: Wanted<'_>,
        _effort: Effort,
        _attachment: Option<&Attachment>,
        executable: Option<&Path>,
    ) -> Result<ProcessResult<Box<dyn Session>>> {
        let mut command = self.launch.of(executable).command([""; 0]);
        if let Wanted::Only(ids) = wanted {
            command.env(ONLY_VARIABLE, serde_json::json!(ids).to_string());
        }
        let benchmarks = self.clone();
        let read = move |ended: &Ended| benchmarks.read(ended);
        Ok(Ok(Box::new(Whole::new(command, wanted.ids(), self.limits.longest(), read))))
    }
}
