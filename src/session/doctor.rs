//! What can be found out on this machine: its clock, what launching costs, how much launch pairs of equal code differ, and
//! so which differences are found in how many seconds.
//!
//! In: nothing but the machine. It compares a sample with itself, but for a number that no benchmark looks at. Out: a
//! [`Diagnosis`], and a text made of it, which is pure.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::measure::Spent;
use crate::model::{Environment, Percent};
use crate::results::{Method, Results};
use crate::revision::Cache;
use crate::session::demo::Repository;
use crate::session::{How, Outcome, Settings, compare};
use crate::stats::{BUDGET, LOOKS, median, robust_standard_deviation};
use crate::system::{Observer, Result};

/// Launch pairs of each of the sample's benchmarks, for each way to measure.
const PAIRS: u32 = 20;

/// The smallest change that is starred in nine of ten comparisons of n pairs, in standard errors: the normal quantiles of
/// .975 and .9, a little more because ranks tell less than the numbers themselves.
const DETECTABLE: f64 = (1.960 + 1.282) * 1.023;

/// What can be said of this machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The machine itself, at the end of the examination.
    pub environment: Environment,
    /// What a reading of the clock costs.
    pub clock: Duration,
    /// Measured in step, as far as that is possible here.
    pub in_step: Way,
    /// Measured one side after the other.
    pub one_by_one: Way,
    /// Whether every launch had a code layout of its own.
    pub layouts: bool,
    /// What there is to know beside, in words.
    pub notes: Vec<String>,
}

/// What launch pairs of equal code were like when they were measured in one way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Way {
    /// Whether they were in fact in step.
    pub is_in_step: bool,
    /// The robust standard deviation of the log-ratio from one pair to the next, of the typical benchmark.
    pub spread: Percent,
    /// Its standard deviation, outliers included, of the typical benchmark.
    pub with_outliers: Percent,
    /// What a launch of one process costs beside the measuring.
    pub launch: Duration,
    /// What a benchmark costs in one launch pair, all in all.
    pub pair: Duration,
}

impl Way {
    fn of(results: &Results, spent: Spent) -> Self {
        let typical = |of: fn(&[f64]) -> Option<f64>| {
            let all: Vec<f64> =
                results.comparisons.iter().filter_map(|c| of(&c.log_ratios)).collect();
            Percent::new(100.0 * median(&all).unwrap_or(f64::NAN))
        };
        Self {
            is_in_step: results.comparisons.iter().all(|c| c.method == Method::Lockstep),
            spread: typical(robust_standard_deviation),
            with_outliers: typical(standard_deviation),
            launch: spent.of_a_launch().unwrap_or_default(),
            pair: spent.of_a_benchmark().unwrap_or_default(),
        }
    }

    /// The smallest change that so many launch pairs find, as a rule.
    fn detectable(&self, pairs: usize) -> f64 {
        DETECTABLE * self.spread.value() / (pairs as f64).sqrt()
    }
}

fn standard_deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square_sum: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (n >= 2.0).then(|| (square_sum / (n - 1.0)).sqrt())
}

/// Examines the machine. That takes a build and some seconds of measuring.
pub fn examine(cache: Cache, observer: &dyn Observer) -> Result<Diagnosis> {
    let clock = cost_of_the_clock();
    let repository = Repository::create_of_equal_speed(cache)?;
    let settings = |lockstep| Settings {
        how: How { runs: Some(PAIRS), lockstep, ..How::default() },
        ..repository.settings("cargo bench-compare doctor".to_owned())
    };
    let measure = |lockstep| -> Result<(Results, Spent)> {
        let Outcome { results, stopped, spent } = compare(&settings(lockstep), observer)?;
        match stopped {
            Some(error) => Err(error),
            None => Ok((results, spent)),
        }
    };
    let (in_step, spent_in_step) = measure(true)?;
    let (one_by_one, spent_one_by_one) = measure(false)?;
    let mut notes = in_step.notes.clone();
    notes.extend(in_step.comparisons.iter().flat_map(|c| c.notes.iter().cloned()));
    notes.extend(in_step.failed.iter().map(|f| format!("a benchmark failed: {}", f.error)));
    notes.extend(in_step.doubts());
    notes.dedup();
    let launches = in_step.measured.iter().flat_map(|measured| &measured.launches);
    Ok(Diagnosis {
        clock,
        layouts: launches.clone().count() > 0
            && launches.into_iter().all(|l| !l.layouts.is_empty()),
        in_step: Way::of(&in_step, spent_in_step),
        one_by_one: Way::of(&one_by_one, spent_one_by_one),
        environment: in_step.environment,
        notes,
    })
}

fn cost_of_the_clock() -> Duration {
    const READINGS: u32 = 100_000;
    let began = Instant::now();
    for _ in 0..READINGS {
        black_box(Instant::now());
    }
    began.elapsed() / READINGS
}

/// The diagnosis in words, with a line feed at the end.
pub fn text(diagnosis: &Diagnosis) -> String {
    let Diagnosis { environment, clock, in_step, one_by_one, layouts, notes } = diagnosis;
    let mut lines: Vec<(&str, String)> = Vec::new();
    lines.push(("machine", environment.in_words()));
    lines.push(("clock", format!("{} ns a reading", clock.as_nanos())));
    lines.push(("launching", format!("{} a process", seconds(in_step.launch))));
    lines.push((
        "in step",
        if in_step.is_in_step { spread(in_step) } else { "not possible here".to_owned() },
    ));
    lines.push(("one by one", spread(one_by_one)));
    lines.push((
        "layouts",
        match layouts {
            true => "every launch has a code layout of its own".to_owned(),
            false => "cannot be varied here: differences below about 3 % may be layout".to_owned(),
        },
    ));
    for (title, pairs) in ["differences", ""].into_iter().zip([LOOKS[0].pairs, BUDGET]) {
        let text = format!(
            "of {} are found in {} a benchmark ({pairs} launch pairs)",
            percent(in_step.detectable(pairs)),
            seconds(in_step.pair * pairs as u32),
        );
        lines.push((title, text));
    }
    lines.extend(notes.iter().map(|note| ("note", note.clone())));
    let width = lines.iter().map(|(title, _)| title.len()).max().unwrap_or_default();
    let mut text = String::new();
    for (title, line) in lines {
        _ = writeln!(text, "{title:width$}  {}", crate::report::printable(&line));
    }
    text
}

fn spread(way: &Way) -> String {
    format!(
        "launch pairs of equal code differ by {} ({} with outliers)",
        percent(way.spread.value()),
        percent(way.with_outliers.value())
    )
}

/// Two digits that count.
fn percent(value: f64) -> String {
    if value < 0.995 { format!("{value:.2} %") } else { format!("{value:.1} %") }
}

fn seconds(duration: Duration) -> String {
    match duration.as_secs_f64() {
        short if short < 0.095 => format!("{:.1} ms", 1000.0 * short),
        long => format!("{long:.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnosis() -> Diagnosis {
        let milliseconds = Duration::from_millis;
        let way = Way {
            is_in_step: true,
            spread: Percent::new(0.5),
            with_outliers: Percent::new(0.81),
            launch: milliseconds(7),
            pair: milliseconds(120),
        };
        Diagnosis {
            environment: Environment {
                system: "linux x86_64".to_owned(),
                ..Environment::default()
            },
            clock: Duration::from_nanos(25),
            in_step: way,
            one_by_one: Way {
                is_in_step: false,
                spread: Percent::new(0.9),
                with_outliers: Percent::new(12.3),
                ..way
            },
            layouts: true,
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_machine_is_described_in_words() {
        let expected = "\
machine      linux x86_64
clock        25 ns a reading
launching    7.0 ms a process
in step      launch pairs of equal code differ by 0.50 % (0.81 % with outliers)
one by one   launch pairs of equal code differ by 0.90 % (12.3 % with outliers)
layouts      every launch has a code layout of its own
differences  of 0.48 % are found in 1.4 s a benchmark (12 launch pairs)
             of 0.26 % are found in 4.8 s a benchmark (40 launch pairs)
";
        assert_eq!(text(&diagnosis()), expected);
    }

    #[test]
    fn what_is_not_possible_is_said() {
        let mut diagnosis = diagnosis();
        diagnosis.in_step.is_in_step = false;
        diagnosis.layouts = false;
        diagnosis.notes.push("\u{1b}[2Jit starts threads".to_owned());
        let text = text(&diagnosis);
        for line in [
            "in step      not possible here\n",
            "layouts      cannot be varied here: differences below about 3 % may be layout\n",
            "note         it starts threads\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }

    #[test]
    fn half_the_difference_takes_four_times_the_pairs() {
        let way = diagnosis().in_step;
        assert!((way.detectable(10) - 2.0 * way.detectable(40)).abs() < 1e-12);
    }
}
