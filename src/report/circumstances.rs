//! What one needs to judge a table: revisions, machine, method, noise, command.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use crate::model::Percent;
use crate::results::{Comparison, Gate, Method, Results, Revision};
use crate::stats::{Confidence, StoppedBy, fewest_pairs_for};

use super::names::Naming;

/// One line of the circumstances: a title of this program's own, and a text in which anything may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circumstance {
    /// `machine`, `command` and the like.
    pub title: String,
    /// What there is to say; notes may have several lines.
    pub text: String,
}

/// The circumstances of a comparison, in the order in which they are shown.
pub fn circumstances(results: &Results) -> Vec<Circumstance> {
    let mut lines: Vec<(String, String)> = Vec::new();
    for (position, revision) in results.revisions.iter().enumerate() {
        lines.push((role(position), describe(revision)));
    }
    lines.extend(other_references(results).map(|text| ("reference".to_owned(), text)));
    lines.extend(compilers(results));
    lines.extend(build(results).map(|build| ("build".to_owned(), build)));
    lines.push(("machine".to_owned(), results.environment.in_words()));
    let tested: Vec<&Comparison> =
        results.comparisons.iter().filter(|c| c.p_value.is_some()).collect();
    if !tested.is_empty() {
        lines.push(("comparisons".to_owned(), comparisons(&tested)));
    }
    lines.extend(time(results).map(|text| ("time".to_owned(), text)));
    lines.extend(time_limit(results).map(|text| ("time limit".to_owned(), text)));
    lines.extend(gate(results).map(|gate| ("gate".to_owned(), gate)));
    let counted = results.comparisons.iter().filter(|c| c.method == Method::Count);
    let measured: Vec<&Comparison> = tested.iter().copied().chain(counted).collect();
    lines.extend(methods(&measured).map(|methods| ("method".to_owned(), methods)));
    lines.extend(layouts(results).map(|layouts| ("layouts".to_owned(), layouts)));
    lines.extend(results.noise().map(|noise| ("noise".to_owned(), said_noise(noise))));
    lines.extend(results.doubts().into_iter().map(|doubt| ("warning".to_owned(), doubt)));
    lines.extend(results.notes.iter().map(|note| ("note".to_owned(), note.clone())));
    lines.push(("command".to_owned(), results.command.clone()));
    lines.into_iter().map(|(title, text)| Circumstance { title, text }).collect()
}

fn role(position: usize) -> String {
    match position {
        0 => "base".to_owned(),
        1 => "head".to_owned(),
        n => format!("variant {n}"),
    }
}

fn describe(revision: &Revision) -> String {
    if let Some(program) = &revision.program {
        return format!("{} ({program})", revision.label);
    }
    let dirty = if revision.dirty { " with uncommitted changes" } else { "" };
    format!("{} ({}{dirty})", revision.label, short_commit(&revision.commit))
}

/// What is compared with another revision than the rest, because the first has not got it.
fn other_references(results: &Results) -> Option<String> {
    let reference = &results.revisions.first()?.label;
    let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for comparison in results.comparisons.iter().filter(|c| c.base.label != *reference) {
        names.entry(&comparison.base.label).or_default().insert(&comparison.benchmark);
    }
    let others: Vec<String> = names
        .into_iter()
        .map(|(label, names)| {
            let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
            format!("{} with {label}", names.join(", "))
        })
        .collect();
    (!others.is_empty()).then(|| {
        format!(
            "what {reference} has not got is compared with the first that has it: {}",
            others.join("; ")
        )
    })
}

/// The first characters of a commit id, as git would show it.
pub fn short_commit(commit: &str) -> String {
    commit.chars().take(9).collect()
}

fn compilers(results: &Results) -> Option<(String, String)> {
    let compilers: Vec<&str> = results.revisions.iter().map(|r| r.rustc.as_str()).collect();
    let first = compilers.first()?;
    if compilers.iter().all(|compiler| compiler.is_empty()) {
        return None;
    }
    if compilers.iter().all(|compiler| compiler == first) {
        return Some(("compiler".to_owned(), (*first).to_owned()));
    }
    let text =
        format!("they differ, and so may the times for that reason: {}", compilers.join(" | "));
    Some(("compilers".to_owned(), text))
}

/// How it was built, where that is not as ever.
fn build(results: &Results) -> Option<String> {
    let environment = &results.environment;
    let profile = environment.profile.as_ref().filter(|profile| *profile != "bench");
    let profile = profile.map(|profile| format!("profile {profile}"));
    let flags = environment.rustflags.as_ref().map(|flags| format!("RUSTFLAGS {flags}"));
    let parts: Vec<String> = profile.into_iter().chain(flags).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The levels of the stars, and the share of false stars at each.
const RISKS: [(Confidence, f64); 3] =
    [(Confidence::One, 0.05), (Confidence::Two, 0.01), (Confidence::Three, 0.001)];

/// How many false stars are to be expected at each level in these comparisons if nothing had changed. Where
/// there are too few pairs for a star, none is.
pub fn expected_false_stars(tested: &[&Comparison]) -> [(Confidence, String); 3] {
    RISKS.map(|(level, risk)| {
        let fewest = fewest_pairs_for(level) as usize;
        let reachable = tested.iter().filter(|c| c.pairs >= fewest).count();
        (level, short(reachable as f64 * risk))
    })
}

/// In how many comparisons how many false stars are to be expected.
fn comparisons(tested: &[&Comparison]) -> String {
    let count = tested.len();
    let expected =
        expected_false_stars(tested).map(|(level, count)| format!("{count} at {}", level.stars()));
    let fewest = tested.iter().map(|c| c.pairs).min().unwrap_or_default();
    let most = tested.iter().map(|c| c.pairs).max().unwrap_or_default();
    let pairs = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
    let mut text = format!(
        "{count} of {pairs} launch pairs each; if nothing had changed, {} would be expected to be starred",
        expected.join(", ")
    );
    let out_of_reach = [Confidence::One, Confidence::Two, Confidence::Three]
        .into_iter()
        .find(|level| most < fewest_pairs_for(*level) as usize);
    if let Some(level) = out_of_reach {
        _ = write!(text, "; {} needs at least {} pairs", level.stars(), fewest_pairs_for(level));
    }
    text
}

/// What it took to measure it all.
fn time(results: &Results) -> Option<String> {
    let seconds = results.measuring_seconds?;
    // What was counted beside a benchmark took no time of its own.
    let measured = results.measured.iter().filter(|measured| !measured.launches.is_empty());
    let benchmarks = measured.filter(|measured| measured.counted_beside.is_none()).count();
    let whole = Duration::try_from_secs_f64(seconds.round()).ok().filter(|_| benchmarks > 0)?;
    let each = seconds / benchmarks as f64;
    Some(format!("{} for measuring, {each:.1} s a benchmark", humantime::format_duration(whole)))
}

/// What the time was not enough for.
fn time_limit(results: &Results) -> Option<String> {
    let limit = Duration::try_from_secs_f64(results.time_limit_seconds?).ok()?;
    let limit = humantime::format_duration(limit);
    let is_undecided = |c: &&Comparison| c.stopped_by == Some(StoppedBy::TimeLimit);
    match results.comparisons.iter().filter(is_undecided).count() {
        // Nothing can be said if nothing was measured, or if something else ended it.
        0 if !results.complete || results.comparisons.iter().all(|c| c.pairs == 0) => None,
        0 => Some(format!("{limit} was enough")),
        count => Some(format!("{limit} was not enough to decide {count} of the comparisons")),
    }
}

/// Whether and by what the run fails by its gate.
fn gate(results: &Results) -> Option<String> {
    if results.gate == Gate::None {
        return None;
    }
    let naming = Naming::for_results(results);
    let name = |c: &&Comparison| {
        let name = naming.name(&c.package, &c.target, &c.benchmark);
        if results.revisions.len() > 2 { format!("{name} ({})", c.head.label) } else { name }
    };
    let tripped: Vec<&Comparison> = results.comparisons.iter().filter(|c| c.trips_gate).collect();
    let rule = "a regression beyond the margin, at 5 % for all comparisons together";
    Some(match tripped.len() {
        0 => format!("not tripped: there is not {rule}"),
        _ => {
            let names: Vec<String> = tripped.iter().map(name).collect();
            format!("tripped by {}: {rule}", names.join(", "))
        }
    })
}

/// `0.25`, `0.005`: at most three digits after the point.
fn short(value: f64) -> String {
    let rounded = (value * 1000.0).round() / 1000.0;
    format!("{rounded}")
}

/// How many were measured in step, and which were not, and why.
/// Nothing if everything was launched as it was built; notes say why.
fn layouts(results: &Results) -> Option<String> {
    let launches = || results.measured.iter().flat_map(|measured| &measured.launches);
    let all = launches().count();
    let varied = launches().filter(|launch| launch.layouts.iter().any(Option::is_some)).count();
    match varied {
        0 => None,
        _ if varied == all => {
            Some("every launch had its functions in another random order".to_owned())
        }
        _ => Some(format!(
            "{varied} of {all} launches of a benchmark had their functions in another random order"
        )),
    }
}

fn methods(tested: &[&Comparison]) -> Option<String> {
    let (counted, tested): (Vec<&Comparison>, Vec<&Comparison>) =
        tested.iter().partition(|c| c.method == Method::Count);
    match (timed(&tested), counted.len()) {
        (timed, 0) => timed,
        (None, _) => Some("counted: the same code gives the same number".to_owned()),
        (Some(timed), some) => Some(format!("{timed}; {some} counted")),
    }
}

fn timed(tested: &[&Comparison]) -> Option<String> {
    let (in_step, others): (Vec<&Comparison>, Vec<&Comparison>) =
        tested.iter().partition(|c| c.method == Method::Lockstep);
    let mut reasons: Vec<&str> = others.iter().flat_map(|c| &c.notes).map(String::as_str).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let because =
        if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) };
    match (in_step.len(), others.len()) {
        (0, 0) => None,
        (_, 0) => Some("in step: both sides take turns within each benchmark".to_owned()),
        (0, _) => Some(format!("one side after the other{because}")),
        (some, rest) => Some(format!("{some} in step, {rest} one side after the other{because}")),
    }
}

fn said_noise(noise: Percent) -> String {
    let noise = noise.value();
    format!(
        "{noise:.2} % from one launch pair to the next (standard deviation, median of the benchmarks)"
    )
}
