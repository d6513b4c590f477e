//! The launch pairs of a benchmark in the order in which they were measured, so that drift and outliers show.

use maud::{Markup, html};

use crate::model::Percent;
use crate::report::text::shortened;

use super::scale::{Scale, improvement_label, range, wider};
use super::svg::{dots, fitting, short, width};

/// One comparison: a strip of its own, where there are several.
#[derive(Debug, Clone)]
pub struct Strip<'a> {
    /// What it is called; shown if there are several.
    pub label: &'a str,
    /// The class that colours it.
    pub class: &'static str,
    /// The runs that the launch pairs come from, one after the other; none if that is not known.
    pub runs: &'a [Run],
    /// The improvement of each launch pair, in percent.
    pub improvements: Vec<f64>,
    /// Their estimate.
    pub estimate: Option<f64>,
    /// Its 95 % confidence interval.
    pub interval: Option<[f64; 2]>,
    /// Its margin.
    pub margin: Percent,
}

/// A run on one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// By which it is known.
    pub number: usize,
    /// How many launch pairs there are of it.
    pub pairs: usize,
}

const WIDTH: f64 = 360.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = WIDTH - 8.0;
const HEIGHT: f64 = 96.0;
const TITLE: f64 = 18.0;
const RUNS: f64 = 15.0;

/// All strips one below the other, each on a scale of its own: a small drift is to be seen in each.
pub fn pairs(strips: &[Strip]) -> Markup {
    let several = strips.len() > 1;
    let title = if several { TITLE } else { 2.0 };
    let runs = if strips.iter().any(|strip| strip.runs.len() > 1) { RUNS } else { 0.0 };
    let height = strips.len() as f64 * (HEIGHT + title + runs) + 20.0;
    let most = strips.iter().map(|strip| strip.improvements.len()).max().unwrap_or_default();
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {height}")) role="img"
            aria-label=(description(strips)) {
            @for (index, strip) in strips.iter().enumerate() {
                @let top = index as f64 * (HEIGHT + title + runs) + title + runs;
                @if several {
                    text.title x=(LEFT) y=(short(top - runs - 6.0)) { (fitting(strip.label, RIGHT - LEFT)) }
                }
                (panel(strip, most, top))
            }
            text.x x=(LEFT + 4.0) y=(height - 6.0) { "1" }
            @if most > 1 {
                text.x.end x=(RIGHT - 4.0) y=(height - 6.0) { (most) }
            }
        }
    }
}

/// Lines between the pairs of different runs, and the runs' numbers above them.
fn sections(strip: &Strip, x: Scale, top: f64) -> Markup {
    let mut first = 0;
    let sections = strip.runs.iter().filter(|_| strip.runs.len() > 1).map(|run| {
        let begin = first;
        first += run.pairs;
        // Half a step before the first pair and after the last.
        (run.number, x.place(begin as f64 + 0.5), x.place(first as f64 + 0.5))
    });
    html! {
        @for (index, (number, begin, end)) in sections.enumerate() {
            @if index > 0 {
                path.between d=(format!("M{} {}V{}", short(begin), short(top - RUNS + 3.0), short(top + HEIGHT))) {}
            }
            @let labels = [format!("run {number}"), number.to_string()];
            @if let Some(label) = labels.iter().find(|label| width(label) <= end - begin) {
                text.middle x=(short((begin + end) / 2.0)) y=(short(top - 4.0)) { (label) }
            }
        }
    }
}

/// All pairs, the interval, and zero unless that would press the pairs together.
fn domain(strip: &Strip) -> (f64, f64) {
    let values = strip.improvements.iter().copied();
    let values = values.chain(strip.interval.into_iter().flatten());
    let (low, high) = range(values).unwrap_or_default();
    let (low, high) = wider((low, high), 0.08, 0.02 * strip.margin.value());
    let farthest = 2.0 * (high - low);
    let low = if low > 0.0 && low < farthest { -0.1 * high } else { low };
    let high = if high < 0.0 && high > -farthest { -0.1 * low } else { high };
    (low, high)
}

fn panel(strip: &Strip, most: usize, top: f64) -> Markup {
    let y = Scale::linear(domain(strip), (top + HEIGHT, top));
    let x = Scale::linear((1.0, most as f64), (LEFT + 8.0, RIGHT - 8.0));
    let across = |class: &'static str, low: f64, high: f64| {
        let (top, bottom) = (y.place(high), y.place(low));
        html! {
            @if bottom - top > 0.05 {
                rect class=(class) x=(LEFT) y=(short(top)) width=(RIGHT - LEFT)
                    height=(short(bottom - top)) {}
            }
        }
    };
    let positions = strip.improvements.iter().enumerate();
    html! {
        (across("band", -strip.margin.value(), strip.margin.value()))
        @for tick in y.ticks(3) {
            text.y x=(LEFT - 6.0) y=(short(y.place(tick) + 4.0)) { (improvement_label(tick)) }
            path.grid d=(format!("M{LEFT} {}H{RIGHT}", short(y.place(tick)))) {}
        }
        g class=(strip.class) {
            @if let Some([low, high]) = strip.interval {
                (across("range", low, high))
            }
            @if let Some(estimate) = strip.estimate {
                path.estimate d=(format!("M{LEFT} {}H{RIGHT}", short(y.place(estimate)))) {}
            }
            path.dots d=(dots(positions.map(|(i, v)| (x.place(i as f64 + 1.0), y.place(*v))))) {}
        }
        (sections(strip, x, top))
        @if y.shows(0.0) {
            path.zero d=(format!("M{LEFT} {}H{RIGHT}", short(y.place(0.0)))) {}
        }
    }
}

fn description(strips: &[Strip]) -> String {
    let parts: Vec<String> = strips
        .iter()
        .map(|strip| {
            let (low, high) = range(strip.improvements.iter().copied()).unwrap_or_default();
            let label = if strips.len() > 1 {
                format!("{}: ", shortened(strip.label, 60))
            } else {
                String::new()
            };
            let runs = match strip.runs {
                [] | [_] => String::new(),
                several => format!(" of {} runs", several.len()),
            };
            format!(
                "{label}{} launch pairs{runs} from {} to {}",
                strip.improvements.len(),
                improvement_label((low * 100.0).round() / 100.0),
                improvement_label((high * 100.0).round() / 100.0),
            )
        })
        .collect();
    parts.join("; ")
}
