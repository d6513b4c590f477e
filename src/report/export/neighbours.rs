//! Metrics for programs that follow a project over time. They get the revisions that were compared with the
//! reference; what they compare with is their own business.

use serde_json::{Map, Value, json};

use crate::report::cells::Cells;
use crate::report::names::Naming;
use crate::report::text::shortened;
use crate::results::{Comparison, Results};
use crate::stats::quantile;

use super::{Series, series};

/// The most characters that Bencher takes as the names of a benchmark and of a measure.
const LONGEST_BENCHMARK: usize = 1024;
const LONGEST_MEASURE: usize = 64;

/// One revision's time of a benchmark, summed up.
struct Metric {
    name: String,
    /// Whether it is time: in nanoseconds then, else in this unit.
    unit: String,
    /// The median over the launches.
    value: f64,
    /// The quartiles: half of the launches lie between them.
    quartiles: [f64; 2],
}

fn metric(results: &Results, naming: Naming, series: &Series) -> Option<Metric> {
    let measured = series.measured;
    let mut name = naming.name(&measured.package, &measured.target, &measured.benchmark);
    if results.revisions.len() > 2 {
        name = format!("{name} ({})", results.revisions[series.revision].label);
    }
    let quantile = |q| quantile(&series.values, q);
    Some(Metric {
        name: shortened(&name, LONGEST_BENCHMARK),
        unit: measured.unit.clone(),
        value: quantile(0.5)?,
        quartiles: [quantile(0.25)?, quantile(0.75)?],
    })
}

/// Bencher Metric Format: for each benchmark the measure `latency`, in nanoseconds, with the quartiles over the
/// launches as lower and upper value. What is not time has its unit as the measure.
///
/// Source: <https://bencher.dev/docs/reference/bencher-metric-format/>
pub fn bencher(results: &Results) -> String {
    let naming = Naming::for_results(results);
    let heads = series(results).into_iter().filter(|series| series.revision > 0);
    let metrics = heads.filter_map(|series| metric(results, naming, &series)).map(|metric| {
        let measure = match metric.unit.as_str() {
            "ns" => "latency".to_owned(),
            "" => "value".to_owned(),
            unit => shortened(unit, LONGEST_MEASURE),
        };
        let [lower, upper] = metric.quartiles;
        let value = json!({"value": metric.value, "lower_value": lower, "upper_value": upper});
        (metric.name, json!({measure: value}))
    });
    pretty(&Value::Object(metrics.collect::<Map<_, _>>()))
}

/// The list that github-action-benchmark reads as `customSmallerIsBetter`: the median, half the distance of the
/// quartiles over the launches as `range`, and in `extra` how it compares with the reference.
///
/// Source: <https://github.com/benchmark-action/github-action-benchmark>
pub fn github_action_benchmark(results: &Results) -> String {
    let naming = Naming::for_results(results);
    let heads = series(results).into_iter().filter(|series| series.revision > 0);
    let entries = heads.filter_map(|series| {
        let metric = metric(results, naming, &series)?;
        let unit = if metric.unit == "ns" { "ns/iter" } else { &metric.unit };
        let [lower, upper] = metric.quartiles;
        let mut entry = json!({
            "name": metric.name, "unit": unit, "value": metric.value,
            "range": format!("± {}", rounded((upper - lower) / 2.0)),
        });
        if let Some(comparison) = series.comparison {
            entry["extra"] = extra(comparison).into();
        }
        Some(entry)
    });
    pretty(&entries.collect())
}

/// With four significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// `-16.67 % ±0.15% *** against main (1.234 µs): regressed`
fn extra(comparison: &Comparison) -> String {
    let Cells { confidence, improvement, accuracies: [at_95, ..], base, verdict, .. } =
        Cells::of(comparison);
    let is_there = |figure: &String| !["", "-"].contains(&figure.as_str());
    let figures: Vec<String> =
        [improvement, at_95, confidence].into_iter().filter(is_there).collect();
    let against = shortened(&comparison.base.label, LONGEST_BENCHMARK);
    format!("{} against {against} ({base}): {verdict}", figures.join(" "))
}

fn pretty(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("JSON values can be written");
    text.push('\n');
    text
}
