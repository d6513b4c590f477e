//! Benchmarks that differ in a parameter, drawn as curves over it.

use maud::{Markup, html};

use crate::model::Percent;
use crate::report::sweep;
use crate::report::sweep::{FullName, Point, Sweep};
use crate::report::text::{one_line, shortened};
use crate::results::{Comparison, Results};

use super::details::{quantity, short_unit};
use super::overview::signed;
use super::plot::{Curve, CurvePoint, Curves, curves};
use super::{Benchmark, Section, position, side_class};

/// So many are shown unfolded.
const UNFOLDED: usize = 4;

/// The section of all sweeps in which at least two benchmarks were measured, in one unit. Those with most
/// points come first, and of these those in which something stands that comes first in the table.
pub fn section(results: &Results, benchmarks: &[Benchmark]) -> Option<Section> {
    let names: Vec<FullName> = benchmarks
        .iter()
        .map(|benchmark| {
            let first = benchmark.comparisons[0];
            (first.package.as_str(), first.target.as_str(), first.benchmark.as_str())
        })
        .collect();
    let mut sweeps = sweep::sweeps(&names);
    sweeps.retain(|sweep| is_worth_drawing(sweep, benchmarks));
    sweeps.sort_by_key(|sweep| std::cmp::Reverse(sweep.points.len()));
    let content = html! {
        p.hint {
            "Benchmarks whose names differ in one number only. Bars are 95 % confidence intervals, and the \
            shaded band is the margin."
        }
        @for (index, sweep) in sweeps.iter().enumerate() {
            (figure(sweep, results, benchmarks, index < UNFOLDED))
        }
    };
    let section = Section { id: "sweeps", title: "Over a parameter", content };
    (!sweeps.is_empty()).then_some(section)
}

fn is_worth_drawing(sweep: &Sweep, benchmarks: &[Benchmark]) -> bool {
    let comparisons = |point: &Point| &benchmarks[point.index].comparisons;
    let unit = &comparisons(&sweep.points[0])[0].unit;
    let is_measured = |point: &&Point| comparisons(point).iter().any(|c| !c.log_ratios.is_empty());
    sweep.points.iter().all(|point| comparisons(point)[0].unit == *unit)
        && sweep.points.iter().filter(is_measured).count() > 1
}

fn figure(sweep: &Sweep, results: &Results, benchmarks: &[Benchmark], open: bool) -> Markup {
    let first = benchmarks[sweep.points[0].index].comparisons[0];
    let unit = short_unit(first);
    let drawn = Curves {
        parameter: sweep.points.iter().map(|point| (point.value, point.text)).collect(),
        logarithmic: sweep.is_logarithmic(),
        curves: all_curves(sweep, results, benchmarks),
        unit: &unit,
        margin: results.margin_percent,
    };
    let [times, improvements] = curves(&drawn);
    html! {
        details.sweep open[open] {
            summary {
                span.pattern { (pattern(sweep, benchmarks)) }
                " " span.extremes { (extremes(sweep, benchmarks)) }
            }
            ul.legend {
                @for curve in &drawn.curves {
                    li class=(curve.class) { (one_line(curve.label)) }
                }
            }
            div.panel {
                figure {
                    figcaption { (quantity(first)) " over " (parameter(sweep)) }
                    (times)
                }
                figure {
                    figcaption { "Improvement over " (parameter(sweep)) }
                    (improvements)
                }
            }
        }
    }
}

/// The common part of the names, with the parameter's name in the place of its values.
fn pattern(sweep: &Sweep, benchmarks: &[Benchmark]) -> Markup {
    let point = &sweep.points[0];
    // What the report puts before the id to tell targets apart.
    let name = &benchmarks[point.index].name;
    let id = one_line(&format!("{}{}{}", sweep.before, point.text, sweep.after));
    let prefix = name.strip_suffix(&id).unwrap_or_default();
    html! { (prefix) (one_line(sweep.before)) (parameter(sweep)) (one_line(sweep.after)) }
}

fn parameter(sweep: &Sweep) -> Markup {
    html! { var { (sweep.parameter().map_or_else(|| "n".to_owned(), |name| shortened(name, 40))) } }
}

/// The two ends of what was found: `−13.2 % at 100000, +27.9 % at 100`.
fn extremes(sweep: &Sweep, benchmarks: &[Benchmark]) -> String {
    let mut found: Vec<(f64, &str)> = sweep
        .points
        .iter()
        .flat_map(|point| {
            let comparisons = benchmarks[point.index].comparisons.iter();
            comparisons.filter_map(|c| Some((c.improvement_percent?.value(), point.text)))
        })
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let text = |(improvement, at): &(f64, &str)| {
        format!("{} at {}", signed(&format!("{improvement:.1} %")), shortened(at, 20))
    };
    match &found[..] {
        [] => String::new(),
        [only] => text(only),
        [lowest, .., highest] => format!("{}, {}", text(lowest), text(highest)),
    }
}

fn all_curves<'a>(
    sweep: &Sweep,
    results: &'a Results,
    benchmarks: &[Benchmark<'a>],
) -> Vec<Curve<'a>> {
    let of = |point: &Point, place: usize| -> Option<&'a Comparison> {
        let comparisons = &benchmarks[point.index].comparisons;
        comparisons.iter().copied().find(|c| position(results, &c.head.label) == place)
    };
    // As what others are compared with.
    let base = |point: &Point, label: &str| {
        let comparisons = benchmarks[point.index].comparisons.iter();
        let against_it = comparisons.filter(|c| c.base.label == label);
        let value = against_it.filter_map(|c| c.base.nanoseconds).next()?;
        Some(CurvePoint { value, improvement: None, interval: None })
    };
    let head = |point: &Point, place: usize| {
        let comparison = of(point, place)?;
        Some(CurvePoint {
            value: comparison.head.nanoseconds?,
            improvement: comparison.improvement_percent.map(Percent::value),
            interval: comparison.interval_percent,
        })
    };
    let revisions = results.revisions.iter().enumerate();
    revisions
        .map(|(place, revision)| Curve {
            label: &revision.label,
            class: side_class(place),
            points: sweep
                .points
                .iter()
                .map(|point| head(point, place).or_else(|| base(point, &revision.label)))
                .collect(),
        })
        .filter(|curve| curve.points.iter().any(Option::is_some))
        .collect()
}
