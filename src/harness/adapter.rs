//! The two traits behind which every harness stands, and what they speak of.

use crate::model::Measurement;
use std::path::Path;
use std::time::Duration;

use crate::build::Launch;
use crate::lockstep::{Attachment, Unfit};
use crate::system::Result;

/// What a running executable did in one step.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// It ran one benchmark, and now waits.
    Measured(Measurement),
    /// It would have taken far longer than it has to, and was ended. Started anew, it will not.
    Again,
    /// It has ended; all its benchmarks are done.
    Finished,
    /// It has ended, or was ended, before its time.
    Failed(Failure),
}

/// Why an executable did not run all its benchmarks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The benchmark in which it happened, if it was in one.
    pub benchmark: Option<String>,
    /// What happened, and the end of what the executable printed.
    pub reason: String,
}

/// What comes of running an executable: its own failure is a result to be kept, and no error of this program.
pub type ProcessResult<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn outside_benchmarks(reason: impl Into<String>) -> Self {
        Self { benchmark: None, reason: reason.into() }
    }
}

/// Which benchmarks of an executable are to run, in the order in which all sides should run them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// All of them, which are these.
    All(&'a [String]),
    /// Those with these ids. Others may run too where the harness cannot be told exactly.
    Only(&'a [String]),
}

impl<'a> Wanted<'a> {
    /// The ids.
    pub fn ids(self) -> &'a [String] {
        let (Self::All(ids) | Self::Only(ids)) = self;
        ids
    }
}

/// How much a launch measures of each benchmark, unless the benchmark's own code says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Effort {
    /// How many samples are taken.
    pub samples: u32,
    /// How long they take together, on each side; longer if that many iterations take longer. What warms up
    /// before comes on top and is a small part of it.
    pub time: Duration,
}

/// A bench executable whose harness is known.
pub trait Benchmarks {
    /// The ids of all its benchmarks, in the order in which they run. An error is an interrupt.
    fn list(&mut self) -> Result<ProcessResult<Vec<String>>>;

    /// Why its processes cannot be kept in step, unless they can: each runs one benchmark alone or waits after each,
    /// and nothing stands between them and this program.
    fn unfit(&self) -> Option<Unfit>;

    /// The name and the version of the library, where another version may count the same code differently.
    fn library(&self) -> Option<String> {
        None
    }

    /// Starts measuring benchmarks, one for each step of the [`Session`]: in one process that waits in between,
    /// or in a process for each. Before the first step it does as little as possible. With an attachment its
    /// processes are one of the sides of a [`Baton`](crate::lockstep::Baton), one after the other. With another
    /// executable, that one is started in place of the launch's own ([`Launch::of`]): the same code in another
    /// layout.
    fn start(
        &self,
        wanted: Wanted<'_>,
        effort: Effort,
        attachment: Option<&Attachment>,
        executable: Option<&Path>,
    ) -> Result<ProcessResult<Box<dyn Session>>>;
}

/// One side's benchmarks, stepped from one to the next. Dropping it ends what still runs of it.
pub trait Session {
    /// Lets it go on to its next benchmark.
    fn resume(&mut self);

    /// Waits at most so long for what it does then: `None` if it is not done yet. Time in which it cannot run,
    /// because another process has its turn, does not count against its time limit. An error is an
    /// interrupt.
    fn poll(&mut self, wait: Duration, can_run: bool) -> Result<Option<Step>>;

    /// Lets it run its next benchmark, and waits. An error is an interrupt.
    fn step(&mut self) -> Result<Step> {
        self.resume();
        loop {
            if let Some(step) = self.poll(PATIENCE, true)? {
                return Ok(step);
            }
        }
    }
}

/// How often a wait for a single process looks at the interrupt flag. Whatever happens wakes it at once.
const PATIENCE: Duration = Duration::from_millis(20);

/// The name of the crate that an executable was made of: cargo names it `<crate>-<hash>`.
pub(super) fn crate_name(launch: &Launch) -> String {
    let file = launch.executable().file_stem().unwrap_or_default().to_string_lossy();
    file.rsplit_once('-').map_or(&*file, |(name, _)| name).to_owned()
}
