//! Which harness an executable has: told from its bytes, without running it.

use std::fmt;
use std::path::Path;

use memchr::memmem;

use crate::build::Launch;
use crate::model::{CustomHarness, TimeLimits};
use crate::system::Result;

use super::Benchmarks;

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
    /// A custom harness, of which the configuration says what it prints.
    Custom(CustomHarness),
    /// None that is known.
    Unknown,
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
            None => Self::Unknown,
        }
    }

    /// The adapter for an executable of this harness; `None` if there is none.
    ///
    /// `limits` are how long its processes may go on without any sign of progress beyond what they announced.
    pub fn open(self, launch: &Launch, limits: &TimeLimits) -> Option<Box<dyn Benchmarks>> {
        let (launch, limits) = (launch.clone(), limits.clone());
        Some(match self {
            Self::Criterion => Box::new(super::criterion::SocketBenchmarks::new(launch, limits)),
            Self::CriterionFiles => {
                Box::new(super::criterion::FileBenchmarks::new(launch, limits.longest()))
            }
            Self::Divan => Box::new(super::divan::DivanBenchmarks::new(launch, limits)),
            Self::Libtest => Box::new(super::libtest::LibtestBenchmarks::new(launch, limits)),
            Self::Bencher => Box::new(super::bencher::BencherBenchmarks::new(launch, limits)),
            Self::Custom(prints) => {
                Box::new(super::custom::CustomBenchmarks::new(launch, limits, prints))
            }
            Self::Gungraun => Box::new(super::gungraun::GungraunBenchmarks::new(launch, limits)),
            Self::CodSpeed | Self::Unknown => return None,
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
            Self::Unknown => format!(
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

impl fmt::Display for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Criterion | Self::CriterionFiles => "criterion",
            Self::Libtest => "libtest",
            Self::Divan => "divan",
            Self::Gungraun => "gungraun",
            Self::CodSpeed => "a CodSpeed shim",
            Self::Bencher => "bencher",
            Self::Custom(_) | Self::Unknown => "a harness of its own",
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
        assert_eq!(detect("prints some ns/iter (+/- of its own"), Harness::Unknown);
        assert_eq!(detect("nothing"), Harness::Unknown);
    }
}
