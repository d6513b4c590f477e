//! How often comparisons of code that is as fast as before are starred, and how often slower code is found: live, on
//! this machine, with the real program.
//!
//! It makes a repository with thirty criterion benchmarks and ten divan benchmarks, whose commits differ in what is
//! to be tried, and runs the program on pairs of them. Prints Markdown; progress goes to standard error.
//!
//! usage: cargo run --release --example noise -- [--comparisons N] [--rounds N] [--load N] [--compilers N]
//!            [--directory DIR] [--filter REGEX] [PART]...
//!
//! Parts (all of them by default):
//!   criterion   criterion's own verdicts on pairs of equal speed
//!   same        equal code, as it was built, but for a constant that nobody uses
//!   relinked    equal code among other functions, every launch with a random layout
//!   moved       the same as it was built: what layouts alone do
//!   slower      code that is 1, 2 and 5 % slower, every launch with a random layout
//!   spread      how much one launch pair differs from the next and how long it takes, with and without lock-step and
//!               layouts
//!
//! `--comparisons` is the number of comparisons of equal speed [default: 500], half of them in `same` and half in `relinked`;
//! `moved` and `criterion` have an eighth as many each.
//! `--rounds` is how often `spread` measures 12 launch pairs in each way [default: 2].
//! `--load` lets so many threads do nothing useful meanwhile, `--compilers` so many of them compile, with pauses, as
//! other people's builds do. What was compiled, and all results, are kept in the directory [default: target/noise].
//! `--filter` chooses benchmarks by their ids, as the program does.

mod load;
mod repository;
mod tally;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use cargo_bench_compare::results::{Comparison, Results};
use cargo_bench_compare::stats::{Confidence, Verdict, median};

use repository::Repository;
use tally::Tally;

/// All of criterion's benchmarks, and ten of divan's.
const FILTER: &str =
    "^[a-z0-9_]+$|::(fnv|sort|hash_map|parse_floats|allocate|matrix|sieve|tokens|dispatch|queue)$";

fn main() -> ExitCode {
    // The program is a part of this one: it starts itself anew, in its own place and in that of rustc and the linker.
    let mut words = std::env::args_os();
    let name = words.next().map(PathBuf::from).unwrap_or_default();
    let is_noise = name.file_stem().is_some_and(|name| name == "noise");
    let is_program =
        words.next().is_some_and(|word| word == "bench-compare" || word == "record-launch");
    if !is_noise || is_program {
        return cargo_bench_compare::cli::main();
    }
    match Options::parse(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

struct Options {
    comparisons: usize,
    rounds: u64,
    load: usize,
    compilers: usize,
    directory: PathBuf,
    filter: String,
    parts: Vec<String>,
}

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let all = ["criterion", "same", "relinked", "moved", "slower", "spread"];
        let mut options = Self {
            comparisons: 500,
            rounds: 2,
            load: 0,
            compilers: 0,
            directory: "target/noise".into(),
            filter: FILTER.to_owned(),
            parts: Vec::new(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--comparisons" => options.comparisons = value()?.parse()?,
                "--rounds" => options.rounds = value()?.parse()?,
                "--load" => options.load = value()?.parse()?,
                "--compilers" => options.compilers = value()?.parse()?,
                "--filter" => options.filter = value()?,
                "--directory" => options.directory = value()?.into(),
                part if all.contains(&part) => options.parts.push(word),
                _ => {
                    return Err(format!(
                        "{word} is neither an option nor one of {}",
                        all.join(", ")
                    )
                    .into());
                }
            }
        }
        if options.parts.is_empty() {
            options.parts = all.map(str::to_owned).into();
        }
        Ok(options)
    }
}

fn run(options: &Options) -> Result<()> {
    let began = Instant::now();
    let repository = Repository::create(&options.directory, &options.filter)?;
    println!(
        "{} cores; beside it {} busy loops and {} compilers\n",
        std::thread::available_parallelism()?,
        options.load,
        options.compilers
    );
    load::begin(options.load, options.compilers, &repository)?;
    for part in &options.parts {
        let part_began = Instant::now();
        match part.as_str() {
            "criterion" => criterion(&repository, options.comparisons.div_ceil(8))?,
            "same" => equal(
                &repository,
                "equal code, as it was built",
                options.comparisons.div_ceil(2),
                &|_| "same".to_owned(),
                "off",
            )?,
            "relinked" => {
                let head = |session| repository::moved(session);
                equal(
                    &repository,
                    "equal code among other functions, random layouts",
                    options.comparisons.div_ceil(2),
                    &head,
                    "auto",
                )?;
            }
            "moved" => {
                let head = |session| repository::moved(session);
                equal(
                    &repository,
                    "equal code among other functions, as it was built",
                    options.comparisons.div_ceil(8),
                    &head,
                    "off",
                )?;
            }
            "slower" => slower(&repository)?,
            _ => spread(&repository, options.rounds)?,
        }
        println!("({part}: {:.0} s)\n", part_began.elapsed().as_secs_f64());
    }
    eprintln!("{:.0} s altogether", began.elapsed().as_secs_f64());
    Ok(())
}

/// Compares a revision with `base`.
fn compare(repository: &Repository, head: &str, seed: u64, arguments: &[&str]) -> Result<Results> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("bench-compare").arg(format!("base..{head}")).args([
        "--format",
        "json",
        "--seed",
        &seed.to_string(),
    ]);
    command.args(["--filter", &repository.filter]).args(arguments);
    let name: String = arguments.join(" ").chars().filter(|c| c.is_alphanumeric()).collect();
    command.arg("--save").arg(repository.results(&format!("{head}-{seed}-{name}.json"))?);
    repository.enter(&mut command);
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(Results::from_json(&String::from_utf8(output.stdout)?)?)
}

/// How long measuring took, without building.
fn seconds_per_benchmark(results: &Results) -> f64 {
    results.measuring_seconds.unwrap_or(f64::NAN) / results.comparisons.len() as f64
}

/// Comparisons of equal speed: how many are starred.
fn equal(
    repository: &Repository,
    what: &str,
    comparisons: usize,
    head: &dyn Fn(u64) -> String,
    layouts: &str,
) -> Result<()> {
    let (mut tally, mut seconds) = (Tally::default(), Vec::new());
    let mut widest: f64 = 0.0;
    let mut session = 0;
    while tally.count() < comparisons {
        session += 1;
        let done = compare(repository, &head(session), session, &["--layouts", layouts])?;
        if layouts == "auto" {
            expect_layouts(&done)?;
        }
        for comparison in &done.comparisons {
            tally.add(comparison);
            widest = widest
                .max(comparison.improvement_percent.map_or(0.0, |percent| percent.value().abs()));
        }
        seconds.push(seconds_per_benchmark(&done));
        eprintln!("{what}: {} of {comparisons} comparisons, {}", tally.count(), tally.in_short());
    }
    println!("### {what}\n\n{tally}");
    println!(
        "{:.1} s a benchmark, {:.1} launch pairs; largest apparent difference {widest:.1} %\n",
        mean(&seconds),
        tally.pairs_per_comparison()
    );
    Ok(())
}

/// What was to be shown is not, if layouts cannot be varied here.
fn expect_layouts(results: &Results) -> Result<()> {
    match results
        .measured
        .iter()
        .flat_map(|measured| &measured.launches)
        .find(|launch| launch.layouts.is_empty())
    {
        Some(_) => Err(format!("layouts are not varied here: {:?}", results.notes).into()),
        None => Ok(()),
    }
}

fn slower(repository: &Repository) -> Result<()> {
    println!(
        "### slower code\n\n| slower by | found (*) | (**) | (***) | in the wrong direction | launch pairs | time a benchmark |"
    );
    println!("|---|---|---|---|---|---|---|");
    for percent in [1, 2, 5] {
        let done =
            compare(repository, &format!("slower{percent}"), percent, &["--layouts", "auto"])?;
        let comparisons = &done.comparisons;
        let share = |is: &dyn Fn(&Comparison) -> bool| {
            100.0 * comparisons.iter().filter(|c| is(c)).count() as f64 / comparisons.len() as f64
        };
        let is_slower =
            |c: &Comparison| c.improvement_percent.is_some_and(|percent| percent.value() < 0.0);
        let at =
            |least: Confidence| share(&move |c: &Comparison| c.confidence >= least && is_slower(c));
        println!(
            "| {percent} % | {:.0} % | {:.0} % | {:.0} % | {:.0} % | {:.1} | {:.1} s |",
            at(Confidence::One),
            at(Confidence::Two),
            at(Confidence::Three),
            share(&|c| c.confidence >= Confidence::One && !is_slower(c)),
            comparisons.iter().map(|c| c.pairs as f64).sum::<f64>() / comparisons.len() as f64,
            seconds_per_benchmark(&done),
        );
    }
    println!();
    Ok(())
}

/// The same comparison by several methods in turn, so that all of them see the same load.
fn spread(repository: &Repository, rounds: u64) -> Result<()> {
    const PAIRS: usize = 12;
    let ways: [(&str, [&str; 4]); 3] = [
        ("in step", ["--lockstep", "auto", "--layouts", "off"]),
        ("one side after the other", ["--lockstep", "off", "--layouts", "off"]),
        ("in step, random layouts", ["--lockstep", "auto", "--layouts", "auto"]),
    ];
    let mut found: [(BTreeMap<String, Vec<f64>>, f64); 3] = Default::default();
    for round in 0..rounds {
        for ((name, arguments), (variances, seconds)) in ways.iter().zip(&mut found) {
            let runs = PAIRS.to_string();
            let arguments = [&arguments[..], &["--runs", &runs, "--bench", "kernels"]].concat();
            let done = compare(repository, "same", 100 + round, &arguments)?;
            for comparison in &done.comparisons {
                let variance = variance(&comparison.log_ratios).ok_or("no launch pairs")?;
                variances.entry(comparison.benchmark.clone()).or_default().push(variance);
            }
            let each = seconds_per_benchmark(&done) / PAIRS as f64;
            *seconds += each / rounds as f64;
            let all: Vec<f64> =
                variances.values().filter_map(|all| all.last().map(|last| last.sqrt())).collect();
            eprintln!(
                "spread: {name}, round {}: {:.2} %, {:.0} ms",
                round + 1,
                100.0 * median(&all).unwrap_or(f64::NAN),
                1000.0 * each
            );
        }
    }
    println!(
        "### from one launch pair to the next\n\n| | standard deviation of the log-ratio (median of the benchmarks) | time a pair and benchmark |"
    );
    println!("|---|---|---|");
    for ((name, _), (variances, seconds)) in ways.iter().zip(&found) {
        // It is the variance, over good rounds and bad ones, that says how many launch pairs are needed.
        let spreads: Vec<f64> = variances.values().map(|all| mean(all).sqrt()).collect();
        let spread = 100.0 * median(&spreads).unwrap_or(f64::NAN);
        println!("| {name} | {spread:.2} % | {:.0} ms |", 1000.0 * seconds);
    }
    println!();
    Ok(())
}

/// What criterion says of pairs of equal speed, one revision after the other as its users do it.
fn criterion(repository: &Repository, comparisons: usize) -> Result<()> {
    let counts = ["improved", "regressed", "No change in performance", "within noise"];
    let mut found = [0usize; 4];
    let (mut session, mut seconds, mut benchmarks) = (0, 0.0, 0);
    while found.iter().sum::<usize>() < comparisons {
        session += 1;
        for (revision, baseline) in
            [("base", "--save-baseline"), (&*repository::moved(session), "--baseline")]
        {
            repository.check_out(revision)?;
            let text = repository.cargo_bench(&[
                baseline,
                "base",
                "--noplot",
                &repository.filter,
                "--warm-up-time",
                "0.3",
                "--measurement-time",
                "1",
            ])?;
            seconds += text.1.as_secs_f64();
            for (count, word) in found.iter_mut().zip(counts) {
                *count += text
                    .0
                    .lines()
                    .filter(|line| line.contains(word) && baseline == "--baseline")
                    .count();
            }
            benchmarks += text.0.lines().filter(|line| line.contains("time:")).count();
        }
        eprintln!("criterion: {} of {comparisons} comparisons", found.iter().sum::<usize>());
        if found.iter().sum::<usize>() == 0 {
            return Err("criterion printed no verdicts".into());
        }
    }
    let all = found.iter().sum::<usize>();
    println!(
        "### criterion's own verdicts on equal code among other functions, {all} comparisons\n\n| verdict | share |\n|---|---|"
    );
    for (count, word) in found.iter().zip([
        "has improved",
        "has regressed",
        "no change",
        "change within noise threshold",
    ]) {
        println!("| {word} | {:.1} % |", 100.0 * *count as f64 / all as f64);
    }
    println!("\n{:.1} s a benchmark and side\n", seconds / benchmarks as f64);
    Ok(())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> Option<f64> {
    let (n, mean) = (values.len() as f64, mean(values));
    (values.len() > 1).then(|| values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

/// Whether a comparison says that nothing has changed that matters.
fn is_equivalent(comparison: &Comparison) -> bool {
    comparison.verdict == Verdict::Equivalent
}

/// Where something lies below a directory.
fn below(directory: &Path, path: &str) -> PathBuf {
    directory.join(path)
}
