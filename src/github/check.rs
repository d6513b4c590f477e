//! A check on the measured commit, with remarks at the sources of the benchmarks that changed.

use std::collections::HashMap;

use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::Place;
use crate::report::{Cells, shortened};
use crate::results::{Comparison, Results};
use crate::stats::Verdict;

use super::client::Client;
use super::event::Context;
use super::failure::Failure;
use super::names::Key;
use super::report;

/// The most remarks that GitHub takes at once.
const MOST_AT_ONCE: usize = 50;
/// The remarks that are made at most: more are of no use to anybody.
const MOST_REMARKS: usize = 500;
/// The most characters of a check's text.
const MOST_CHARACTERS: usize = 65_535;
/// The most characters of a path in a repository that are believed.
const LONGEST_PATH: usize = 1_000;

/// A check that is made.
pub struct Check<'a> {
    /// Who is asked.
    pub client: &'a Client<'a>,
    /// Where.
    pub context: &'a Context,
    /// The commit that it is about.
    pub commit: &'a str,
    /// Tells the checks of several reports apart.
    pub key: &'a Key,
}

#[derive(Deserialize)]
struct List {
    check_runs: Vec<Made>,
}

#[derive(Deserialize)]
struct Made {
    id: u64,
    external_id: Option<String>,
    html_url: Option<String>,
}

impl Check<'_> {
    /// Makes the check, or gives the one that there is of this very run. Its address; none in a dry run.
    pub fn publish(&self, results: &Results) -> Result<Option<String>, Failure> {
        let remarks = remarks(results);
        let (first, others) = remarks.split_at(remarks.len().min(MOST_AT_ONCE));
        let mut body = json!({
            "name": self.name(),
            "head_sha": self.commit,
            "external_id": self.id_of_run(),
            "status": "completed",
            "conclusion": conclusion(results),
            "output": self.output(results, first),
        });
        if let Some(run) = self.context.run_address() {
            body["details_url"] = json!(run);
        }
        if let Some(made) = self.made()? {
            return Ok(made.html_url);
        }
        let Context { repository, .. } = self.context;
        let made = match self.client.create(&format!("/repos/{repository}/check-runs"), &body) {
            Ok(_) if self.client.only_shows() => return Ok(None),
            Ok(made) => read(made)?,
            Err(failure) if failure.is_unclear() => self.made_after_all(failure)?,
            Err(failure) => return Err(failure),
        };
        for some in others.chunks(MOST_AT_ONCE) {
            // They are added to those that are there.
            let body = json!({"output": self.output(results, some)});
            let route = format!("/repos/{repository}/check-runs/{}", made.id);
            self.client.replace(&Method::PATCH, &route, &body)?;
        }
        Ok(made.html_url)
    }

    fn name(&self) -> String {
        format!("bench-compare ({})", self.key)
    }

    /// So that publishing again makes no second one.
    fn id_of_run(&self) -> String {
        let run = self.context.run.as_ref();
        let run = run.map(|run| format!(" {}.{}", run.id, run.attempt)).unwrap_or_default();
        format!("cargo-bench-compare {}{run}", self.key)
    }

    fn output(&self, results: &Results, remarks: &[Value]) -> Value {
        // The longest way to count characters, so that it fits however GitHub does.
        let summary = report::whole(results, self.context, None, MOST_CHARACTERS);
        let title: String = report::counts(results).chars().take(200).collect();
        json!({"title": title, "summary": summary, "annotations": remarks})
    }

    fn made(&self) -> Result<Option<Made>, Failure> {
        let (Context { repository, .. }, commit) = (self.context, self.commit);
        let name =
            percent_encoding::utf8_percent_encode(&self.name(), percent_encoding::NON_ALPHANUMERIC)
                .to_string();
        let route = format!(
            "/repos/{repository}/commits/{commit}/check-runs?check_name={name}&filter=all&per_page=100"
        );
        let list: List = match self.client.get(&route) {
            Ok(list) => list,
            // A dry run may not be allowed to read.
            Err(_) if self.client.only_shows() => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let id = self.id_of_run();
        Ok(list.check_runs.into_iter().find(|made| made.external_id.as_ref() == Some(&id)))
    }

    fn made_after_all(&self, failure: Failure) -> Result<Made, Failure> {
        let mut number = 0;
        while let Some(paused) = self.client.pause(number) {
            paused?;
            number += 1;
            if let Some(made) = self.made()? {
                return Ok(made);
            }
        }
        Err(failure)
    }
}

fn read(made: Value) -> Result<Made, Failure> {
    serde_json::from_value(made)
        .map_err(|error| Failure::NoAnswer { why: error.to_string(), sent: true })
}

/// What regressed is for people to judge, unless the comparison has a gate that it trips.
fn conclusion(results: &Results) -> &'static str {
    if results.trips_gate() {
        return "failure";
    }
    let regressed = results.comparisons.iter().any(|c| c.verdict == Verdict::Regressed);
    if regressed || !results.failed.is_empty() || !results.complete { "neutral" } else { "success" }
}

/// One for each benchmark that changed, regressions first.
fn remarks(results: &Results) -> Vec<Value> {
    let places: HashMap<[&str; 3], &Place> = results
        .measured
        .iter()
        .filter_map(|m| Some(([m.package.as_str(), &m.target, &m.benchmark], m.source.as_ref()?)))
        .collect();
    let of = |verdict, level: &'static str| {
        let changed = results.comparisons.iter().filter(move |c| c.verdict == verdict);
        let places = &places;
        changed.filter_map(move |c| {
            let place = places.get(&[c.package.as_str(), &c.target, &c.benchmark])?;
            remark(c, place, level)
        })
    };
    of(Verdict::Regressed, "warning")
        .chain(of(Verdict::Improved, "notice"))
        .take(MOST_REMARKS)
        .collect()
}

fn remark(comparison: &Comparison, place: &Place, level: &str) -> Option<Value> {
    let path = believable(place)?;
    let Cells { confidence, improvement, base, head, verdict, .. } = Cells::of(comparison);
    let label = shortened(&comparison.head.label, 100);
    Some(json!({
        "path": path, "start_line": place.line, "end_line": place.line, "annotation_level": level,
        "title": shortened(&comparison.benchmark, 200),
        "message": format!("{label}: {verdict}: {base} -> {head} ({improvement} {confidence})"),
    }))
}

/// The path is only shown, but nobody should be led astray by it.
fn believable(place: &Place) -> Option<&str> {
    let path = place.path.as_str();
    let known = |c: char| !c.is_control() && c != '\\';
    let inside = path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    let short = path.chars().count() <= LONGEST_PATH;
    (inside && short && path.chars().all(known) && place.line > 0).then_some(path)
}
