//! A process of its own for every benchmark, for harnesses whose processes do not wait between benchmarks.
//!
//! It takes a few milliseconds more for each, and in return all sides always run the same benchmark at the
//! same time, in step where that is possible, and a benchmark that crashes takes no other with it.

use std::collections::VecDeque;
use std::process::Command;
use std::time::Duration;

use crate::build::Launch;
use crate::lockstep::Attachment;
use crate::system::{Result, interrupt};

use super::run::{Ended, Run};
use super::{Effort, Failure, ProcessResult, Session, Step, Wanted};
use crate::model::{Measurement, TimeLimits};

/// How a harness runs and reports one benchmark.
pub trait ProcessEach {
    /// The command that runs this benchmark.
    fn command(&self, launch: &Launch, id: &str, effort: Effort) -> Command;

    /// How many times faster than time itself the process's clock is to go where that is possible. The
    /// measurement is in the process's time.
    fn clock_speed(&self) -> u32 {
        1
    }

    /// What the process measured. The error says why it did not.
    fn read(&self, id: &str, ended: &Ended) -> std::result::Result<Measurement, String>;
}

/// The processes, one after the other.
pub struct Processes<H> {
    harness: H,
    launch: Launch,
    left: VecDeque<String>,
    effort: Effort,
    attachment: Option<Attachment>,
    limits: TimeLimits,
    current: Option<(String, std::result::Result<Run, Failure>)>,
}

impl<H: ProcessEach + Clone + 'static> Processes<H> {
    /// A session of them. Runs nothing yet.
    pub fn session(
        harness: &H,
        launch: Launch,
        limits: &TimeLimits,
        (wanted, effort): (Wanted<'_>, Effort),
        attachment: Option<&Attachment>,
    ) -> Box<dyn Session> {
        Box::new(Self {
            harness: harness.clone(),
            launch,
            left: wanted.ids().iter().cloned().collect(),
            effort,
            attachment: attachment.cloned(),
            limits: limits.clone(),
            current: None,
        })
    }
}

impl<H: ProcessEach> Processes<H> {
    fn start(&self, id: &str) -> Result<ProcessResult<Run>> {
        let mut command = self.harness.command(&self.launch, id, self.effort);
        if let Some(attachment) = &self.attachment {
            attachment.attach_with_speed(&mut command, self.harness.clock_speed());
        }
        Run::start(command, self.limits.of(id))
    }

    fn step_of(&self, id: String, ended: &Ended) -> Step {
        match self.harness.read(&id, ended) {
            Ok(mut measurement) => {
                if self.attachment.is_some() {
                    slow_down(&mut measurement, f64::from(self.harness.clock_speed()));
                }
                Step::Measured(measurement)
            }
            Err(reason) => Step::Failed(Failure { benchmark: Some(id), reason }),
        }
    }
}

/// From the process's time to time itself.
fn slow_down(measurement: &mut Measurement, speed: f64) {
    if measurement.unit == "ns" {
        for sample in &mut measurement.samples {
            sample.total /= speed;
        }
    }
}

impl<H: ProcessEach> Session for Processes<H> {
    fn resume(&mut self) {
        let Some(id) = self.left.pop_front() else { return };
        let run = self.start(&id).unwrap_or_else(|error| {
            Err(Failure::outside_benchmarks(format!("cannot be started: {error}")))
        });
        self.current = Some((id, run));
    }

    fn poll(&mut self, wait: Duration, can_run: bool) -> Result<Option<Step>> {
        interrupt::check()?;
        let ended = match &mut self.current {
            None => return Ok(Some(Step::Finished)),
            Some((_, Ok(run))) => run.poll(wait, can_run)?,
            Some((_, Err(failure))) => return Ok(Some(Step::Failed(failure.clone()))),
        };
        let Some(ended) = ended else { return Ok(None) };
        Ok(self.current.take().map(|(id, _)| self.step_of(id, &ended)))
    }
}
