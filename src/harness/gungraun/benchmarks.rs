//! The adapter for gungraun: one run of all benchmarks counts once, exactly.

use std::path::Path;

use crate::build::Launch;
use crate::lockstep::{Attachment, Unfit};
use crate::system::Result;

use super::super::run::{Ended, Run};
use super::super::whole::Whole;
use super::super::{Benchmarks, Effort, Failure, ProcessResult, Session, Wanted, crate_name};
use super::runner::Runner;
use crate::model::TimeLimits;

/// A gungraun executable.
#[derive(Debug, Clone)]
pub struct GungraunBenchmarks {
    launch: Launch,
    limits: TimeLimits,
    runner: Runner,
}

impl GungraunBenchmarks {
    /// The executable that a launch starts.
    pub fn new(launch: Launch, limits: TimeLimits) -> Self {
        let runner = Runner::of(launch.executable());
        Self { launch, limits, runner }
    }
}

impl Benchmarks for GungraunBenchmarks {
    fn list(&mut self) -> Result<ProcessResult<Vec<String>>> {
        let mut command = self.launch.command(["--list"]);
        self.runner.lend_to(&mut command);
        let is_named = self.runner.is_named_by(&command);
        let ended = match Run::to_end(command, self.limits.longest())? {
            Ok(ended) => ended,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Some(problem) = &ended.problem {
            let reason = self.runner.explain(&ended, problem, is_named);
            return Ok(Err(Failure::outside_benchmarks(reason)));
        }
        let crate_name = crate_name(&self.launch);
        let paths = ended.stdout.lines().filter_map(|line| line.strip_suffix(": benchmark"));
        Ok(Ok(paths.map(|path| without_crate(path, &crate_name)).collect()))
    }

    /// Counts do not depend on who else runs.
    fn unfit(&self) -> Option<Unfit> {
        Some(Unfit::Whole)
    }

    fn library(&self) -> Option<String> {
        self.runner.library()
    }

    fn start(
        &self,
        wanted: Wanted<'_>,
        _effort: Effort,
        _attachment: Option<&Attachment>,
        executable: Option<&Path>,
    ) -> Result<ProcessResult<Box<dyn Session>>> {
        // Where it writes what it compares with on its own.
        let home = tempfile::tempdir()?;
        let crate_name = crate_name(&self.launch);
        let mut arguments =
            vec!["--output-format=json".to_owned(), format!("--home={}", home.path().display())];
        // It takes a single pattern.
        if let Wanted::Only([id]) = wanted {
            arguments.push(format!("{crate_name}::{}", escape(id)));
        }
        let mut command = self.launch.of(executable).command(arguments);
        self.runner.lend_to(&mut command);
        let is_named = self.runner.is_named_by(&command);
        let read = move |ended: &Ended| {
            // The directory lives as long as this.
            let _ = &home;
            super::summary::measurements(&ended.stdout, &crate_name)
        };
        let whole = Whole::new(command, wanted.ids(), self.limits.longest(), read);
        let runner = self.runner.clone();
        let explain = move |ended: &Ended, what: &str| runner.explain(ended, what, is_named);
        Ok(Ok(Box::new(whole.explained_by(explain))))
    }
}

/// What is special in its patterns stands for any character.
fn escape(id: &str) -> String {
    id.replace(['*', '?', '[', ']'], "?")
}

pub(super) fn without_crate(path: &str, crate_name: &str) -> String {
    let rest = path.strip_prefix(crate_name).and_then(|rest| rest.strip_prefix("::"));
    rest.unwrap_or(path).to_owned()
}
