//! Bench harnesses: one adapter each, behind two traits.
//!
//! In: one bench executable and how cargo would start it. Out: the ids of its benchmarks, and samples.
//! Knows nothing of sides, schedules or statistics.

mod bencher;
mod command;
mod criterion;
mod divan;
#[cfg(fuzzing)]
pub mod fuzzing;
mod gungraun;
mod libtest;
mod limits;
mod lines;
mod one_by_one;
mod output;
mod own;
mod patience;
mod run;
mod whole;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use memchr::memmem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::build::Launch;
use crate::error::Result;
use crate::lockstep::{Attachment, Unfit};

pub use command::{CommandBenchmarks, CommandRun};
pub use limits::TimeLimits;

/// One timed batch of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// How often the benchmarked code ran in the batch.
    pub iterations: f64,
    /// What the batch took, in the [`Measurement`]'s unit; usually nanoseconds.
    pub total: f64,
}

/// The samples of one benchmark in one launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The benchmark's id within its executable.
    pub benchmark: String,
    /// The unit of [`Sample::total`]: `ns` unless the benchmark measures something else than time.
    pub unit: String,
    /// In the order in which they were taken.
    pub samples: Vec<Sample>,
    /// Whether the harness gives no samples, but one figure that it has made of them: their median.
    pub is_summary: bool,
    /// Whether it was counted, not timed: the same code gives the same number, and once is enough.
    pub is_counted: bool,
    /// What one iteration works on, if the benchmark says so.
    pub throughput: Option<Throughput>,
    /// What was counted beside, such as allocations.
    pub counts: Vec<Count>,
}

impl Measurement {
    /// Samples in a unit, and nothing else.
    pub fn new(
        benchmark: impl Into<String>,
        unit: impl Into<String>,
        samples: Vec<Sample>,
    ) -> Self {
        Self {
            benchmark: benchmark.into(),
            unit: unit.into(),
            samples,
            is_summary: false,
            is_counted: false,
            throughput: None,
            counts: Vec::new(),
        }
    }

    /// The median time of an iteration, in nanoseconds, where the harness tells no more.
    pub fn median(benchmark: impl Into<String>, nanoseconds: f64) -> Self {
        let sample = Sample { iterations: 1.0, total: nanoseconds };
        Self { is_summary: true, ..Self::new(benchmark, "ns", vec![sample]) }
    }
}

/// How much one iteration of a benchmark works on, as precisely as its harness says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throughput {
    /// How many of them an iteration takes.
    pub amount: f64,
    /// `bytes`, `items`, `elements`, `chars`, `cycles`, ...
    pub unit: String,
}

/// Something that is counted, not timed: the same code gives the same number.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    /// What is counted: `allocations`, `allocated bytes`, ...
    pub metric: String,
    /// How many of them in one iteration.
    pub value: f64,
}

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

impl Failure {
    fn outside_benchmarks(reason: impl Into<String>) -> Self {
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
    /// The ids of all its benchmarks, in the order in which they run. The inner error is the executable's
    /// own failure; the outer one an interrupt.
    fn list(&mut self) -> Result<std::result::Result<Vec<String>, Failure>>;

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
    ) -> Result<std::result::Result<Box<dyn Session>, Failure>>;
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

/// What an executable with a harness of its own prints, as the configuration says. Only then is it run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum OwnHarness {
    /// One JSON object a line (docs/harnesses.md).
    JsonLines,
    /// Lines as those of `#[bench]`.
    Libtest,
}

/// The harness that a bench executable was built with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harness {
    /// criterion 0.3.3 or later, which can be stepped over a socket.
    Criterion,
    /// An older criterion, whose results are read from files.
    CriterionFiles,
    /// The standard library's `#[bench]`.
    Libtest,
    /// divan.
    Divan,
    /// gungraun, formerly iai-callgrind.
    Gungraun,
    /// A CodSpeed shim for another harness.
    CodSpeed,
    /// The bencher crate.
    Bencher,
    /// One of its own, of which the configuration says what it prints.
    Own(OwnHarness),
    /// None that is known: a program of its own.
    Custom,
}

impl Harness {
    /// Detects the harness from the executable's bytes. The executable is never run for that.
    pub fn detect(executable: &Path) -> Result<Self> {
        Ok(Self::detect_in(&fs_err::read(executable)?))
    }

    fn detect_in(bytes: &[u8]) -> Self {
        // Libtest first: it brings its own `main`, whatever else is linked.
        let marks: [(&[u8], Self); 7] = [
            (b"is only accepted on the nightly compiler", Self::Libtest),
            (b"CARGO_CRITERION_PORT", Self::Criterion),
            (b"This executable is a Criterion.rs benchmark", Self::CriterionFiles),
            (b"DIVAN_SAMPLE_COUNT", Self::Divan),
            (b"GUNGRAUN_RUNNER", Self::Gungraun),
            (b"IAI_CALLGRIND_RUNNER", Self::Gungraun),
            // Its libraries are the harness itself, unless they are built for CodSpeed's own runner.
            (b"CODSPEED_ENV", Self::CodSpeed),
        ];
        let has = |mark: &[u8]| memmem::find(bytes, mark).is_some();
        let found = marks.iter().find(|(mark, _)| has(mark));
        // The crate has no word of its own, but the places where it can panic, in whatever directory it lies.
        let is_bencher = || {
            has(b" ns/iter (+/- ")
                && [&b"bencher-0."[..], b"bencher/lib.rs", b"bencher\\lib.rs"].into_iter().any(has)
        };
        match found {
            Some((_, harness)) => *harness,
            None if is_bencher() => Self::Bencher,
            None => Self::Custom,
        }
    }

    /// The adapter for an executable of this harness; `None` if there is none.
    ///
    /// `limits` are how long its processes may go on without any sign of progress beyond what they announced.
    pub fn open(self, launch: &Launch, limits: &TimeLimits) -> Option<Box<dyn Benchmarks>> {
        let (launch, limits) = (launch.clone(), limits.clone());
        Some(match self {
            Self::Criterion => Box::new(criterion::SocketBenchmarks::new(launch, limits)),
            Self::CriterionFiles => {
                Box::new(criterion::FileBenchmarks::new(launch, limits.longest()))
            }
            Self::Divan => Box::new(divan::DivanBenchmarks::new(launch, limits)),
            Self::Libtest => Box::new(libtest::LibtestBenchmarks::new(launch, limits)),
            Self::Bencher => Box::new(bencher::BencherBenchmarks::new(launch, limits)),
            Self::Own(prints) => Box::new(own::OwnBenchmarks::new(launch, limits, prints)),
            Self::Gungraun => Box::new(gungraun::GungraunBenchmarks::new(launch, limits)),
            Self::CodSpeed | Self::Custom => return None,
        })
    }

    /// Whether it counts what is the same every time, where others take times.
    pub fn counts(self) -> bool {
        self == Self::Gungraun
    }

    /// Whether two sides have the same one, maybe in two versions.
    pub fn is_same_as(self, other: Self) -> bool {
        self.to_string() == other.to_string()
    }

    /// Why an executable of this harness is left out and what to do about it, to be put after its target's full
    /// name.
    pub fn why_left_out(self, target: &str) -> String {
        match self {
            Self::Custom => format!(
                "has a harness of its own, and an unknown program is not run. If it prints the lines of \
                 `#[bench]` or JSON lines (docs/harnesses.md), say so in bench-compare.toml: \
                 `[target.{target}]` with `harness = \"libtest\"` or `\"json-lines\"`"
            ),
            Self::CodSpeed => "is built for CodSpeed, whose library takes the place of its harness and measures \
                               only under CodSpeed's own runner. Build it without: `cargo bench-compare` compares \
                               what `cargo bench` builds, so take `--cfg codspeed` out of RUSTFLAGS, or depend on \
                               criterion or divan itself"
                .to_owned(),
            other => format!("uses {other}"),
        }
    }
}

/// The name of the crate that an executable was made of: cargo names it `<crate>-<hash>`.
fn crate_name(launch: &Launch) -> String {
    let file = launch.executable().file_stem().unwrap_or_default().to_string_lossy();
    file.rsplit_once('-').map_or(&*file, |(name, _)| name).to_owned()
}

impl fmt::Display for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Criterion | Self::CriterionFiles => "criterion",
            Self::Libtest => "libtest",
            Self::Divan => "divan",
            Self::Gungraun => "gungraun",
            Self::CodSpeed => "a CodSpeed shim",
            Self::Bencher => "bencher",
            Self::Own(_) | Self::Custom => "a harness of its own",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harnesses_are_told_by_their_marks() {
        let detect = |text: &str| Harness::detect_in(text.as_bytes());
        assert_eq!(detect("..CARGO_CRITERION_PORT.."), Harness::Criterion);
        assert_eq!(detect("This executable is a Criterion.rs benchmark."), Harness::CriterionFiles);
        assert_eq!(
            detect("CARGO_CRITERION_PORT is only accepted on the nightly compiler"),
            Harness::Libtest
        );
        assert_eq!(detect("DIVAN_SAMPLE_COUNT"), Harness::Divan);
        assert_eq!(detect("IAI_CALLGRIND_RUNNER"), Harness::Gungraun);
        assert_eq!(detect("CODSPEED_ENV"), Harness::CodSpeed);
        assert_eq!(detect("CODSPEED_ENV CARGO_CRITERION_PORT"), Harness::Criterion);
        assert_eq!(detect("bencher-0.1.5/lib.rs .. ns/iter (+/- .."), Harness::Bencher);
        assert_eq!(detect("prints some ns/iter (+/- of its own"), Harness::Custom);
        assert_eq!(detect("nothing"), Harness::Custom);
    }
}
