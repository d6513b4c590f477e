//! The adapter for the bencher crate, the `#[bench]` of old for stable compilers.
//!
//! It knows a single argument, a part of the names of the benchmarks that are to run; their names come only
//! from running them.

use std::path::Path;
use std::process::Command;

use crate::build::Launch;
use crate::lockstep::{Attachment, Unfit};
use crate::system::Result;

use super::libtest::CLOCK_SPEED;
use super::lines;
use super::process_each::{ProcessEach, Processes};
use super::run::{Ended, Run};
use super::{Benchmarks, Effort, Failure, ProcessResult, Session, Wanted};
use crate::model::{Measurement, TimeLimits};

/// A bencher executable.
#[derive(Debug, Clone)]
pub struct BencherBenchmarks {
    launch: Launch,
    limits: TimeLimits,
}

impl BencherBenchmarks {
    /// The executable that a launch starts.
    pub fn new(launch: Launch, limits: TimeLimits) -> Self {
        Self { launch, limits }
    }
}

impl Benchmarks for BencherBenchmarks {
    /// Runs them all once.
    fn list(&mut self) -> Result<ProcessResult<Vec<String>>> {
        let ended = match Run::to_end(self.launch.command([""; 0]), self.limits.longest())? {
            Ok(ended) => ended,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Some(problem) = &ended.problem {
            let benchmark = ended.stdout.lines().rev().find_map(lines::begun).map(str::to_owned);
            return Ok(Err(Failure { benchmark, reason: ended.explain(problem) }));
        }
        Ok(Ok(lines::libtest(&ended.stdout).into_iter().map(|m| m.benchmark).collect()))
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

impl ProcessEach for BencherBenchmarks {
    /// Benchmarks whose names contain this one's run too, on all sides.
    fn command(&self, launch: &Launch, id: &str, _effort: Effort) -> Command {
        launch.command([id])
    }

    fn clock_speed(&self) -> u32 {
        CLOCK_SPEED
    }

    fn read(&self, id: &str, ended: &Ended) -> std::result::Result<Measurement, String> {
        let found = lines::libtest(&ended.stdout).into_iter().find(|m| m.benchmark == id);
        match found {
            Some(measurement) if measurement.samples[0].total > 0.0 => Ok(measurement),
            Some(_) => Err("it timed less than a nanosecond, which bencher gives as 0".to_owned()),
            None => {
                let what = ended.problem.as_deref().unwrap_or("it did not report a time");
                Err(ended.explain(what))
            }
        }
    }
}
