//! How well runs on several machines are combined: false stars, power and coverage, by simulation.
//!
//!     cargo run --release --example strata -- [COMPARISONS]
//!
//! Each machine has its own speed and noise. The log-ratios of all machines are combined as `merge` does, and beside it
//! stand the two ways in which that could be done wrong: all values of a side as one sample (Welch's t-test on the
//! times), and all log-ratios as one sample.

use cargo_bench_compare::model::Percent;
use cargo_bench_compare::stats::{judge, judge_strata, welch_test};

/// One machine: its speed, the standard deviation of a pair's log-ratio, and its pairs.
#[derive(Clone, Copy)]
struct Machine {
    speed: f64,
    noise: f64,
    pairs: usize,
}

const fn machine(speed: f64, noise: f64, pairs: usize) -> Machine {
    Machine { speed, noise, pairs }
}

fn main() {
    let comparisons: usize =
        std::env::args().nth(1).map_or(20_000, |text| text.parse().expect("a number"));
    let scenarios: [(&str, Vec<Machine>); 4] = [
        ("two alike", vec![machine(1.0, 0.01, 12), machine(1.0, 0.01, 12)]),
        ("one twice as fast", vec![machine(1.0, 0.01, 12), machine(2.0, 0.01, 12)]),
        ("one ten times as noisy", vec![machine(1.0, 0.01, 12), machine(1.5, 0.1, 12)]),
        (
            "three, unequal",
            vec![machine(1.0, 0.01, 12), machine(1.6, 0.02, 18), machine(0.7, 0.005, 12)],
        ),
    ];
    println!("{comparisons} comparisons each; shares with at least one star (p <= .0495)\n");
    println!(
        "{:24} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "machines", "change", "apart *", "apart **", "apart ***", "coverage", "one d", "one time"
    );
    for (name, machines) in &scenarios {
        for change in [0.0, 0.01] {
            println!("{}", line(name, machines, change, comparisons));
        }
    }
}

fn line(name: &str, machines: &[Machine], change: f64, comparisons: usize) -> String {
    let mut random = fastrand::Rng::with_seed(42);
    let margin = Percent::new(2.0);
    let (mut stars, mut covered, mut one_sample, mut one_time) =
        ([0usize; 3], 0usize, 0usize, 0usize);
    for _ in 0..comparisons {
        let (mut base, mut head) = (Vec::new(), Vec::new());
        let strata: Vec<Vec<f64>> = machines
            .iter()
            .map(|machine| {
                let pair = |_| {
                    let d = change + machine.noise * normal(&mut random);
                    // What disturbs both sides of a pair.
                    let time = (0.05 * normal(&mut random)).exp() / machine.speed;
                    base.push(1.0 / time);
                    head.push(1.0 / (time * d.exp()));
                    d
                };
                (0..machine.pairs).map(pair).collect()
            })
            .collect();
        let strata: Vec<&[f64]> = strata.iter().map(Vec::as_slice).collect();
        let Some(judgement) = judge_strata(&strata, margin) else { continue };
        for (count, threshold) in stars.iter_mut().zip([0.0495, 0.0095, 0.0005]) {
            *count += usize::from(judgement.p_value <= threshold);
        }
        let truth = Percent::improvement_from_log_ratio(change).value();
        covered += usize::from(
            judgement.intervals.0[0].is_some_and(|i| (i.low..=i.high).contains(&truth)),
        );
        one_sample +=
            usize::from(judge(&strata.concat(), margin).is_some_and(|j| j.p_value <= 0.0495));
        one_time += usize::from(welch_test(&base, &head).is_ok_and(|test| test.p_value <= 0.0495));
    }
    let share = |count: usize| format!("{:9.4}", count as f64 / comparisons as f64);
    format!(
        "{name:24} {:>5} % {} {} {} {} {} {}",
        100.0 * change,
        share(stars[0]),
        share(stars[1]),
        share(stars[2]),
        share(covered),
        share(one_sample),
        share(one_time)
    )
}

/// A normal deviate by the polar method.
fn normal(random: &mut fastrand::Rng) -> f64 {
    loop {
        let (x, y) = (2.0 * random.f64() - 1.0, 2.0 * random.f64() - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}
