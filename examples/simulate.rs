//! How often the statistics are wrong, and how much they find: simulated comparisons through the very code that decides
//! when a comparison is measured enough and what is said of it.
//!
//! For every shape of noise: the share of false stars if nothing changed, how often the confidence intervals have the
//! true change, how often changes are found, and how many launch pairs that takes. Prints the tables of docs/statistics.md.
//!
//! usage: cargo run --release --example simulate [COMPARISONS [SEED]]

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cargo_bench_compare::model::Percent;
use cargo_bench_compare::stats::{
    BUDGET, Confidence, Decision, LOOKS, StoppedBy, decide, holm, judge_with_looks,
};

const MARGIN: Percent = Percent::new(2.0);

/// Comparisons of one run of the program, for the gate.
const FAMILY: usize = 20;

/// Each has a seed of its own, so that the figures do not depend on the number of threads.
const SHARDS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Normal,
    /// Student's t with three degrees of freedom: outliers.
    T3,
    /// One launch in five is slow throughout, by five standard deviations of the rest.
    Bimodal,
    /// The machine gets slower all the time, and wanders, and the noise grows threefold. Of each pair, a random side comes
    /// second.
    Drifting,
}

const SHAPES: [Shape; 4] = [Shape::Normal, Shape::T3, Shape::Bimodal, Shape::Drifting];

/// How much one launch pair differs from the next.
#[derive(Debug, Clone, Copy)]
enum Spread {
    /// The same for all comparisons, as a log-ratio.
    Fixed(f64),
    /// Anything from 0.2 to 5 %, so that every way to stop occurs.
    Any,
}

struct Noise(fastrand::Rng);

impl Noise {
    fn normal(&mut self) -> f64 {
        // G. Box, M. Muller (1958).
        let radius = (-2.0 * (1.0 - self.0.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.f64()).cos()
    }

    fn spread(&mut self, spread: Spread) -> f64 {
        match spread {
            Spread::Fixed(spread) => spread,
            Spread::Any => 0.002 * 25f64.powf(self.0.f64()),
        }
    }

    /// The log-ratios of all launch pairs that there may be, about `center`.
    fn log_ratios(&mut self, shape: Shape, spread: f64, center: f64) -> Vec<f64> {
        let pair = |noise: &mut Self, number: usize| match shape {
            Shape::Normal => spread * noise.normal(),
            Shape::T3 => {
                let chi_squared: f64 = (0..3).map(|_| noise.normal().powi(2)).sum();
                spread * noise.normal() / chi_squared.sqrt()
            }
            Shape::Bimodal => {
                let slow = |noise: &mut Self| if noise.0.f64() < 0.2 { 5.0 * spread } else { 0.0 };
                spread * noise.normal() + slow(noise) - slow(noise)
            }
            Shape::Drifting => {
                let level = 0.5 + number as f64 / BUDGET as f64;
                let slower = spread * (0.5 + noise.normal());
                let second = if noise.0.bool() { slower } else { -slower };
                level * spread * noise.normal() + second
            }
        };
        (0..BUDGET).map(|number| center + pair(self, number)).collect()
    }
}

/// What became of some comparisons.
#[derive(Debug, Clone, Default)]
struct Tally {
    comparisons: usize,
    /// At least so many stars: `*`, `**`, `***`.
    starred: [usize; 3],
    /// Starred, and in the right direction.
    found: usize,
    /// The intervals at 95, 99 and 99.9 % that have the true change.
    covered: [usize; 3],
    equivalent: usize,
    pairs: usize,
    /// By efficacy, precision, equivalence, budget.
    stopped: [usize; 4],
    families: usize,
    /// Families in which the gate is tripped.
    tripped: usize,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.comparisons += other.comparisons;
        self.found += other.found;
        self.equivalent += other.equivalent;
        self.pairs += other.pairs;
        self.families += other.families;
        self.tripped += other.tripped;
        for i in 0..3 {
            self.starred[i] += other.starred[i];
            self.covered[i] += other.covered[i];
        }
        for i in 0..4 {
            self.stopped[i] += other.stopped[i];
        }
    }

    fn share(&self, count: usize) -> f64 {
        count as f64 / self.comparisons as f64
    }
}

/// Comparisons of one kind.
#[derive(Debug, Clone, Copy)]
struct Kind {
    shape: Shape,
    spread: Spread,
    /// The true change of the time, in percent: positive is slower.
    change: f64,
}

/// Simulates families of comparisons.
fn simulate(kind: Kind, families: usize, seed: u64) -> Tally {
    let mut noise = Noise(fastrand::Rng::with_seed(seed));
    let center = (kind.change / 100.0).ln_1p();
    let truth = Percent::improvement_from_log_ratio(center).value();
    let mut tally = Tally::default();
    for _ in 0..families {
        let mut p_values = Vec::new();
        let mut beyond_margin = Vec::new();
        for _ in 0..FAMILY {
            let spread = noise.spread(kind.spread);
            let log_ratios = noise.log_ratios(kind.shape, spread, center);
            let (pairs, why) = LOOKS
                .iter()
                .find_map(|look| match decide(&log_ratios[..look.pairs], MARGIN) {
                    Decision::Stop(why) => Some((look.pairs, why)),
                    Decision::GoOn { .. } => None,
                })
                .expect("the last look stops");
            let judgement = judge_with_looks(&log_ratios[..pairs], MARGIN).expect("pairs");
            tally.comparisons += 1;
            tally.pairs += pairs;
            for (count, stars) in
                tally.starred.iter_mut().zip([Confidence::One, Confidence::Two, Confidence::Three])
            {
                *count += usize::from(judgement.confidence >= stars);
            }
            let is_right = judgement.improvement.value() * truth > 0.0;
            tally.found += usize::from(judgement.confidence >= Confidence::One && is_right);
            for (count, interval) in tally.covered.iter_mut().zip(judgement.intervals.0) {
                *count += usize::from(interval.is_some_and(|i| i.low <= truth && truth <= i.high));
            }
            let is_equivalent = judgement.confidence == Confidence::None && judgement.within_margin;
            tally.equivalent += usize::from(is_equivalent);
            let ways = [
                StoppedBy::Efficacy,
                StoppedBy::Precision,
                StoppedBy::Equivalence,
                StoppedBy::Budget,
            ];
            for (count, way) in tally.stopped.iter_mut().zip(ways) {
                *count += usize::from(way == why);
            }
            p_values.push(judgement.p_value);
            let interval = judgement.intervals.0[0];
            beyond_margin.push(interval.is_some_and(|i| i.high < -MARGIN.value()));
        }
        let trips = holm(&p_values).into_iter().zip(beyond_margin);
        tally.families += 1;
        tally.tripped += usize::from(trips.into_iter().any(|(p, beyond)| p <= 0.05 && beyond));
    }
    tally
}

/// Simulates at least so many comparisons on all processors.
fn simulate_all(kind: Kind, comparisons: usize, seed: u64) -> Tally {
    let families = comparisons.div_ceil(FAMILY * SHARDS);
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Tally::default());
    let work = || {
        loop {
            let shard = next.fetch_add(1, Ordering::Relaxed);
            if shard >= SHARDS {
                return;
            }
            let tally = simulate(kind, families, seed.wrapping_mul(1_000_003) + shard as u64);
            total.lock().expect("no thread panics").add(&tally);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    total.into_inner().expect("no thread panics")
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let comparisons = numbers.next().unwrap_or(40_000) as usize;
    let seed = numbers.next().unwrap_or(1);
    nothing_changed(comparisons, seed);
    coverage(comparisons / 2, seed);
    power(comparisons / 4, seed);
}

fn nothing_changed(comparisons: usize, seed: u64) {
    println!(
        "Nothing changed: {comparisons} comparisons of each shape, of a spread from 0.2 to 5 %\n"
    );
    println!(
        "| noise | `*` | `**` | `***` | 95 % | 99 % | 99.9 % | equivalent | gate | pairs | efficacy, precision, equivalence, budget |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for shape in SHAPES {
        let tally =
            simulate_all(Kind { shape, spread: Spread::Any, change: 0.0 }, comparisons, seed);
        let [one, two, three] = tally.starred.map(|count| tally.share(count));
        let [at_95, at_99, at_999] = tally.covered.map(|count| 100.0 * tally.share(count));
        let stopped =
            tally.stopped.map(|count| format!("{:.1} %", 100.0 * tally.share(count))).join(", ");
        println!(
            "| {} | {one:.4} | {two:.4} | {three:.5} | {at_95:.1} % | {at_99:.2} % | {at_999:.2} % | {:.0} % | {:.4} | {:.1} | {stopped} |",
            format!("{shape:?}").to_lowercase(),
            100.0 * tally.share(tally.equivalent),
            tally.tripped as f64 / tally.families as f64,
            tally.pairs as f64 / tally.comparisons as f64,
        );
    }
}

fn coverage(comparisons: usize, seed: u64) {
    println!(
        "\nIntervals that have the true change: {comparisons} comparisons each, of a spread from 0.2 to 5 %\n"
    );
    println!("| noise | change | 95 % | 99 % | 99.9 % | found | pairs |");
    println!("|---|---|---|---|---|---|---|");
    for shape in SHAPES {
        for change in [1.0, 2.0, 5.0] {
            let tally =
                simulate_all(Kind { shape, spread: Spread::Any, change }, comparisons, seed + 1);
            let [at_95, at_99, at_999] = tally.covered.map(|count| 100.0 * tally.share(count));
            println!(
                "| {} | {change} % | {at_95:.1} % | {at_99:.2} % | {at_999:.2} % | {:.0} % | {:.1} |",
                format!("{shape:?}").to_lowercase(),
                100.0 * tally.share(tally.found),
                tally.pairs as f64 / tally.comparisons as f64,
            );
        }
    }
}

fn power(comparisons: usize, seed: u64) {
    println!(
        "\nChanges that are found, and the launch pairs that it takes: {comparisons} comparisons each\n"
    );
    println!("| noise | spread | 1 % | 2 % | 5 % | pairs at 1 % | at 2 % | at 5 % |");
    println!("|---|---|---|---|---|---|---|---|");
    for shape in SHAPES {
        for spread in [0.005, 0.01, 0.03] {
            let tallies = [1.0, 2.0, 5.0].map(|change| {
                simulate_all(
                    Kind { shape, spread: Spread::Fixed(spread), change },
                    comparisons,
                    seed + 2,
                )
            });
            let found = tallies.each_ref().map(|t| format!("{:.1} %", 100.0 * t.share(t.found)));
            let pairs =
                tallies.each_ref().map(|t| format!("{:.1}", t.pairs as f64 / t.comparisons as f64));
            println!(
                "| {} | {} % | {} | {} |",
                format!("{shape:?}").to_lowercase(),
                100.0 * spread,
                found.join(" | "),
                pairs.join(" | "),
            );
        }
    }
}
