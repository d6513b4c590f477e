//! Whether several runs of one comparison say the same: what was asked for with "run it another time". Pure.

use serde::Serialize;

use crate::model::Percent;
use crate::stats::{Confidence, Verdict, heterogeneity, holm};
use crate::system::Result;

use super::merge::{NamedResults, merge};
use super::schema::{Comparison, Revision};

/// That runs contradict each other somewhere is said by chance in at most this share of all answers.
const LEVEL: f64 = 0.05;

/// A run is noisier than another if its interval is so many times as wide.
const NOISIER: f64 = 2.0;

/// What several runs say of the same benchmarks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// The files, in the order in which they were named.
    pub runs: Vec<String>,
    /// Differences below it do not matter.
    pub margin_percent: Percent,
    /// What the revisions were compared with.
    pub reference: String,
    /// All revisions, the reference first.
    pub revisions: Vec<Revision>,
    /// One for each benchmark and revision other than the reference.
    pub benchmarks: Vec<AgreementOn>,
}

/// What the runs say of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgreementOn {
    /// The cargo package.
    pub package: String,
    /// The cargo target.
    pub target: String,
    /// The benchmark's id.
    pub benchmark: String,
    /// The label of the revision that was compared with the reference.
    pub revision: String,
    /// What each run says; null where it has not measured it.
    pub runs: Vec<Option<Estimate>>,
    /// What they say together: each is a stratum.
    pub combined: Estimate,
    /// The p-value of "all runs have measured the same" (Welch's heteroscedastic test, Cochran's Q).
    pub p_value: Option<f64>,
    /// The same, adjusted for the number of benchmarks (Holm).
    pub adjusted_p_value: Option<f64>,
    /// The answer.
    pub answer: Answer,
}

/// An improvement, and how sure it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// Base time / head time - 1.
    pub improvement_percent: Option<Percent>,
    /// Half the width of its 95 % interval.
    pub accuracy_percent: Option<Percent>,
    /// Stars.
    pub confidence: Confidence,
    /// What follows from it.
    pub verdict: Verdict,
    /// On how many pairs it rests.
    pub pairs: usize,
}

/// Whether runs agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// They do, or differ by less than the margin.
    Agree,
    /// They do not contradict each other, but this one (by position) knows less than half as much.
    Noisier(usize),
    /// They differ by more than chance and more than the margin.
    Contradict,
    /// Only one of them has it.
    OnlyOne,
}

/// Compares runs with each other. They must be runs of the same revisions.
pub fn agreement(files: &[NamedResults]) -> Result<Agreement> {
    let combined = merge(files.to_vec())?;
    let mut benchmarks: Vec<AgreementOn> = Vec::new();
    for together in &combined.comparisons {
        // Labels may differ from file to file; positions do not.
        let position = combined.revisions.iter().position(|r| r.label == together.head.label);
        let position = position.unwrap_or(1);
        let each: Vec<Option<&Comparison>> = files
            .iter()
            .map(|(_, results)| {
                let label = &results.revisions[position].label;
                results.comparisons.iter().find(|c| is_same(c, together) && c.head.label == *label)
            })
            .collect();
        benchmarks.push(AgreementOn {
            package: together.package.clone(),
            target: together.target.clone(),
            benchmark: together.benchmark.clone(),
            revision: together.head.label.clone(),
            p_value: heterogeneity(
                &each.iter().flatten().map(|c| c.log_ratios.as_slice()).collect::<Vec<_>>(),
            ),
            adjusted_p_value: None,
            answer: without_test(&each),
            runs: each.iter().map(|comparison| comparison.map(estimate)).collect(),
            combined: estimate(together),
        });
    }
    let tested: Vec<usize> =
        (0..benchmarks.len()).filter(|i| benchmarks[*i].p_value.is_some()).collect();
    let p_values: Vec<f64> = tested.iter().filter_map(|i| benchmarks[*i].p_value).collect();
    for (index, adjusted) in tested.into_iter().zip(holm(&p_values)) {
        let on = &mut benchmarks[index];
        on.adjusted_p_value = Some(adjusted);
        if adjusted <= LEVEL && spread(&on.runs) > combined.margin_percent.value() {
            on.answer = Answer::Contradict;
        }
    }
    Ok(Agreement {
        runs: files.iter().map(|(file, _)| file.clone()).collect(),
        margin_percent: combined.margin_percent,
        reference: combined.revisions[0].label.clone(),
        revisions: combined.revisions,
        benchmarks,
    })
}

fn is_same(a: &Comparison, b: &Comparison) -> bool {
    (&a.package, &a.target, &a.benchmark) == (&b.package, &b.target, &b.benchmark)
}

fn estimate(comparison: &Comparison) -> Estimate {
    Estimate {
        improvement_percent: comparison.improvement_percent,
        accuracy_percent: comparison.accuracy_percent.at_95,
        confidence: comparison.confidence,
        verdict: comparison.verdict,
        pairs: comparison.pairs,
    }
}

/// The answer as far as it does not depend on whether the runs differ.
fn without_test(each: &[Option<&Comparison>]) -> Answer {
    if each.iter().flatten().count() < 2 {
        return Answer::OnlyOne;
    }
    let accuracy = |c: &&Comparison| c.accuracy_percent.at_95.map(Percent::value);
    let known = each.iter().enumerate().filter_map(|(run, c)| Some((run, accuracy(c.as_ref()?)?)));
    let known: Vec<(usize, f64)> = known.collect();
    let noisiest = known.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let best = known.iter().map(|(_, accuracy)| *accuracy).fold(f64::INFINITY, f64::min);
    match noisiest {
        // A hundredth of a percent is nobody's noise.
        Some((run, accuracy)) if *accuracy > NOISIER * best.max(0.01) => Answer::Noisier(*run),
        _ => Answer::Agree,
    }
}

/// How far the improvements lie apart, in percent.
fn spread(runs: &[Option<Estimate>]) -> f64 {
    let improvements = runs.iter().flatten().filter_map(|run| run.improvement_percent);
    let (low, high) = improvements
        .map(Percent::value)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    high - low
}
