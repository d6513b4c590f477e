//! The values of every side of a benchmark: a dot for each launch, a box from the lower to the upper quartile,
//! a line at the median.

use maud::{Markup, html};

use crate::report::text::shortened;
use crate::report::units::format_quantity;
use crate::stats::quantile;

use super::scale::{Scale, quantity_labels, range, wider};
use super::svg::{dots, fitting, short, width};

/// One side's values.
#[derive(Debug, Clone)]
pub struct Side<'a> {
    /// The revision's label.
    pub label: &'a str,
    /// The class that colours it.
    pub class: &'static str,
    /// Time per iteration of each launch.
    pub values: Vec<f64>,
}

const WIDTH: f64 = 360.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = WIDTH - 8.0;
const ROW: f64 = 54.0;
/// How far dots lie from the middle of their row, in turn, so that equal values can be told apart.
const SPREAD: [f64; 5] = [0.0, -8.0, 4.0, -4.0, 8.0];

/// The sides one below the other, on one scale.
pub fn distribution(sides: &[Side], unit: &str) -> Markup {
    let all = || sides.iter().flat_map(|side| side.values.iter().copied());
    let Some((low, high)) = range(all()) else { return html! {} };
    let x = if low > 0.0 && high / low > 8.0 {
        Scale::logarithmic((low / 1.1, high * 1.1), (LEFT, RIGHT))
    } else {
        Scale::linear(wider((low, high), 0.04, 1e-3 * high.abs()), (LEFT, RIGHT))
    };
    let bottom = sides.len() as f64 * ROW;
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {}", bottom + 24.0)) role="img"
            aria-label=(description(sides, unit)) {
            @for (tick, label) in ticks(x, unit) {
                path.grid d=(format!("M{} 0V{bottom}", short(x.place(tick)))) {}
                text.x.middle x=(short(label_position(x.place(tick), &label))) y=(bottom + 17.0) { (label) }
            }
            @for (index, side) in sides.iter().enumerate() {
                (row(side, index as f64 * ROW, x, unit))
            }
        }
    }
}

/// A label below its tick, but not beyond the edges.
fn label_position(tick: f64, label: &str) -> f64 {
    let half = width(label) / 2.0;
    tick.clamp(half.min(WIDTH / 2.0), (WIDTH - half).max(WIDTH / 2.0))
}

/// As many ticks as have room for their labels.
fn ticks(x: Scale, unit: &str) -> Vec<(f64, String)> {
    let fitting = (1..=4).rev().map(|about| {
        let ticks = x.ticks(about);
        let labels = quantity_labels(&ticks, unit).into_iter().map(|label| fitting(&label, 80.0));
        ticks.into_iter().zip(labels).collect::<Vec<_>>()
    });
    let fits = |ticks: &Vec<(f64, String)>| {
        ticks.windows(2).all(|pair| {
            let [a, b] = [0, 1].map(|i| label_position(x.place(pair[i].0), &pair[i].1));
            b - a > (width(&pair[0].1) + width(&pair[1].1)) / 2.0 + 8.0
        })
    };
    fitting.into_iter().find(fits).unwrap_or_default()
}

fn row(side: &Side, top: f64, x: Scale, unit: &str) -> Markup {
    let quartiles = [0.25, 0.5, 0.75].map(|q| quantile(&side.values, q));
    let [Some(low), Some(middle), Some(high)] = quartiles else { return html! {} };
    let center = top + 35.0;
    let value = fitting(&format_quantity(middle, unit), 120.0);
    let room = RIGHT - LEFT - width(&value) - 12.0;
    let dot =
        |(index, value): (usize, &f64)| (x.place(*value), center + SPREAD[index % SPREAD.len()]);
    html! {
        g class=(side.class) {
            text.title x=(LEFT) y=(top + 15.0) { (fitting(side.label, room)) }
            text.end x=(RIGHT) y=(top + 15.0) { (value) }
            rect.range x=(short(x.place(low))) y=(center - 12.0) height="24"
                width=(short((x.place(high) - x.place(low)).max(0.5))) {}
            path.dots d=(dots(side.values.iter().enumerate().map(dot))) {}
            path.estimate d=(format!("M{} {}v24", short(x.place(middle)), center - 12.0)) {}
        }
    }
}

fn description(sides: &[Side], unit: &str) -> String {
    let parts: Vec<String> = sides
        .iter()
        .filter_map(|side| {
            let text = |q| Some(format_quantity(quantile(&side.values, q)?, unit));
            let (low, middle, high) = (text(0.0)?, text(0.5)?, text(1.0)?);
            Some(format!("{}: from {low} to {high}, median {middle}", shortened(side.label, 60)))
        })
        .collect();
    parts.join("; ")
}
