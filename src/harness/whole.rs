//! Programs that run all their benchmarks in one go, and of which nothing is known until they have ended.

use std::collections::VecDeque;
use std::process::Command;
use std::time::Duration;

use crate::system::{Result, interrupt};

use super::run::{Ended, Run};
use super::{Failure, Session, Step};
use crate::model::Measurement;

/// What a process measured, from what it printed.
type Reader = Box<dyn Fn(&Ended) -> Vec<Measurement>>;
/// Something that is wrong with a process, in more words.
type Explanation = Box<dyn Fn(&Ended, &str) -> String>;

/// A process that runs in its first step; the further ones give what it measured.
pub struct Whole {
    state: State,
    order: Vec<String>,
    timeout: Duration,
    read: Reader,
    explain: Explanation,
}

enum State {
    Ready(Box<Command>),
    Running(Run),
    /// What it measured, and how it ended.
    Ended(VecDeque<Measurement>, Step),
}

impl Whole {
    /// Runs nothing yet. All sides give what they measured in this order.
    pub fn new(
        command: Command,
        order: &[String],
        timeout: Duration,
        read: impl Fn(&Ended) -> Vec<Measurement> + 'static,
    ) -> Self {
        Self {
            state: State::Ready(Box::new(command)),
            order: order.to_vec(),
            timeout,
            read: Box::new(read),
            explain: Box::new(Ended::explain),
        }
    }

    /// With another way to say what is wrong.
    pub fn explained_by(self, explain: impl Fn(&Ended, &str) -> String + 'static) -> Self {
        Self { explain: Box::new(explain), ..self }
    }

    fn sort_out(&self, ended: &Ended) -> State {
        let mut measured = (self.read)(ended);
        measured.retain(|measurement| self.order.contains(&measurement.benchmark));
        measured.sort_by_key(|m| self.order.iter().position(|id| *id == m.benchmark));
        let end = match &ended.problem {
            None => Step::Finished,
            // The first that is missing is the one in which it happened, as far as anybody knows.
            Some(problem) => {
                let is_missing = |id: &&String| !measured.iter().any(|m| m.benchmark == **id);
                Step::Failed(Failure {
                    benchmark: self.order.iter().find(is_missing).cloned(),
                    reason: (self.explain)(ended, problem),
                })
            }
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
                    self.state = match Run::start(command, self.timeout)? {
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
