//! Curves over a parameter: the times of all sides, and the improvements with their intervals.

use maud::{Markup, html};

use crate::model::Percent;

use super::scale::{ImprovementScale, Scale, improvement_label, quantity_labels, range, wider};
use super::svg::{dots, fitting, line, short, width};

/// What is drawn over the parameter.
#[derive(Debug, Clone)]
pub struct Curves<'a> {
    /// The parameter's values, ascending, and how they are written.
    pub parameter: Vec<(f64, &'a str)>,
    /// Whether the parameter is drawn on a logarithmic scale.
    pub logarithmic: bool,
    /// One for each side that has values.
    pub curves: Vec<Curve<'a>>,
    /// The unit of the values.
    pub unit: &'a str,
    /// The margin.
    pub margin: Percent,
}

/// One revision's curve.
#[derive(Debug, Clone)]
pub struct Curve<'a> {
    /// The revision's label.
    pub label: &'a str,
    /// The class that colours it.
    pub class: &'static str,
    /// One for each value of the parameter; `None` where it was not measured.
    pub points: Vec<Option<CurvePoint>>,
}

/// A curve at one value of the parameter.
#[derive(Debug, Clone, Copy)]
pub struct CurvePoint {
    /// Time per iteration.
    pub value: f64,
    /// The improvement, in percent; none for the reference.
    pub improvement: Option<f64>,
    /// Its 95 % confidence interval.
    pub interval: Option<[f64; 2]>,
}

const WIDTH: f64 = 360.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = WIDTH - 14.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 168.0;
const HEIGHT: f64 = 190.0;

/// The times, and the improvements.
pub fn curves(curves: &Curves) -> [Markup; 2] {
    let ends = (curves.parameter.first(), curves.parameter.last());
    let (Some((first, _)), Some((last, _))) = ends else { return [html! {}, html! {}] };
    let positions = (LEFT + 14.0, RIGHT - 14.0);
    let x = if curves.logarithmic {
        Scale::logarithmic((*first, *last), positions)
    } else {
        Scale::linear((*first, *last), positions)
    };
    [times(curves, x), improvements(curves, x)]
}

fn times(all: &Curves, x: Scale) -> Markup {
    let values = all.curves.iter().flat_map(|curve| curve.points.iter().flatten());
    let Some((low, high)) = range(values.map(|point| point.value)) else { return html! {} };
    let y = if low > 0.0 && high / low > 8.0 {
        Scale::logarithmic((low / 1.2, high * 1.2), (BOTTOM, TOP))
    } else {
        // Curves that rise from zero are read against zero.
        let (bottom, top) = wider((low, high), 0.1, 1e-3 * high.abs());
        Scale::linear((if low < 0.6 * high { 0.0 } else { bottom }, top), (BOTTOM, TOP))
    };
    let ticks = y.ticks(4);
    let labels = quantity_labels(&ticks, all.unit);
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img"
            aria-label=(format!("Time over {} values of the parameter", all.parameter.len())) {
            @for (tick, label) in ticks.iter().zip(labels) {
                text.y x=(LEFT - 6.0) y=(short(y.place(*tick) + 4.0)) { (fitting(&label, LEFT - 8.0)) }
                path.grid d=(format!("M{LEFT} {}H{RIGHT}", short(y.place(*tick)))) {}
            }
            (parameter_axis(&all.parameter, x))
            @for curve in &all.curves {
                (curve_path(curve, all, x, |point| Some((y.place(point.value), None))))
            }
        }
    }
}

fn improvements(all: &Curves, x: Scale) -> Markup {
    let points = || all.curves.iter().flat_map(|curve| curve.points.iter().flatten());
    let ends =
        points().flat_map(|point| point.interval.into_iter().flatten().chain(point.improvement));
    let y = ImprovementScale::new(ends, all.margin, (BOTTOM, TOP));
    if points().all(|point| point.improvement.is_none()) {
        return html! {};
    }
    let (band_top, band_bottom) = (y.place(all.margin.value()), y.place(-all.margin.value()));
    let place = |point: &CurvePoint| {
        let ends = point.interval.map(|ends| ends.map(|end| y.place(end)));
        Some((y.place(point.improvement?), ends))
    };
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img"
            aria-label=(format!("Improvement over {} values of the parameter", all.parameter.len())) {
            rect.band x=(LEFT) y=(short(band_top)) width=(RIGHT - LEFT) height=(short(band_bottom - band_top)) {}
            @for tick in y.ticks(16.0, 0.0) {
                text.y x=(LEFT - 6.0) y=(short(y.place(tick) + 4.0)) { (improvement_label(tick)) }
                path.grid d=(format!("M{LEFT} {}H{RIGHT}", short(y.place(tick)))) {}
            }
            path.zero d=(format!("M{LEFT} {}H{RIGHT}", short(y.place(0.0)))) {}
            (parameter_axis(&all.parameter, x))
            @for curve in &all.curves {
                (curve_path(curve, all, x, place))
            }
        }
    }
}

/// One curve. `place` gives the height of a point, and the ends of its interval where it has one.
fn curve_path(
    curve: &Curve,
    all: &Curves,
    x: Scale,
    place: impl Fn(&CurvePoint) -> Option<(f64, Option<[f64; 2]>)>,
) -> Markup {
    let mut points = Vec::new();
    let mut bars = String::new();
    for ((value, _), point) in all.parameter.iter().zip(&curve.points) {
        let Some((height, interval)) = point.as_ref().and_then(&place) else { continue };
        let at = x.place(*value);
        points.push((at, height));
        if let Some(ends) = interval {
            bars += &line(ends.map(|end| (at, end)));
        }
    }
    html! {
        @if !points.is_empty() {
            g class=(curve.class) {
                path.curve d=(line(points.iter().copied())) {}
                @if !bars.is_empty() { path.bars d=(bars) {} }
                path.dots d=(dots(points)) {}
            }
        }
    }
}

/// The values of the parameter themselves are the ticks; those labels are left out that have no room.
fn parameter_axis(parameter: &[(f64, &str)], x: Scale) -> Markup {
    let mut free_from = f64::NEG_INFINITY;
    let labels: Vec<(f64, f64, String)> = parameter
        .iter()
        .filter_map(|(value, text)| {
            let (at, text) = (x.place(*value), fitting(text, 90.0));
            let half = width(&text) / 2.0;
            let middle = at.clamp(half, WIDTH - half);
            let fits = middle - half >= free_from;
            free_from = if fits { middle + half + 8.0 } else { free_from };
            fits.then_some((at, middle, text))
        })
        .collect();
    html! {
        path.axis-line d=(format!("M{LEFT} {BOTTOM}H{RIGHT}")) {}
        @for (at, middle, label) in labels {
            path.axis-line d=(format!("M{} {BOTTOM}v4", short(at))) {}
            text.x.middle x=(short(middle)) y=(BOTTOM + 18.0) { (label) }
        }
    }
}
