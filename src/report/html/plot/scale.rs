//! From values to positions, and where the ticks are.

use crate::model::Percent;
use crate::report::units::format_quantity;

/// Maps a range of values to a range of positions. Values beyond it are put at its ends.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    logarithmic: bool,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// Equal differences are equally far apart.
    pub fn linear((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        Self { logarithmic: false, low, high, start, end }
    }

    /// Equal ratios are equally far apart. The values must be positive.
    pub fn logarithmic((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let low = low.max(f64::MIN_POSITIVE);
        Self { logarithmic: true, low, high: high.max(low), start, end }
    }

    /// The position of a value.
    pub fn place(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        // One value alone stands in the middle.
        let share = if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) };
        self.start + share * (self.end - self.start)
    }

    /// Whether a value lies within the range.
    pub fn shows(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Round values within the range, about so many.
    pub fn ticks(&self, about: usize) -> Vec<f64> {
        let ticks = if self.logarithmic { self.powers(about) } else { Vec::new() };
        if ticks.len() > 1 { ticks } else { self.steps(about) }
    }

    /// Powers of ten, or of a thousand and so on where those would be too many.
    fn powers(&self, about: usize) -> Vec<f64> {
        let (low, high) = (self.low.log10().ceil() as i32, self.high.log10().floor() as i32);
        let every = (high - low).max(0) as usize / about.max(1) + 1;
        (low..=high).step_by(every).map(|power| 10f64.powi(power)).collect()
    }

    /// Multiples of 1, 2 or 5 times a power of ten.
    fn steps(&self, about: usize) -> Vec<f64> {
        let step = round_step((self.high - self.low) / about.max(1) as f64);
        if !step.is_finite() || step <= 0.0 {
            return vec![self.low];
        }
        let first = (self.low / step).ceil();
        let count = ((self.high / step).floor() - first).clamp(-1.0, 100.0) as i32 + 1;
        let ticks = (0..count).map(|i| (first + f64::from(i)) * step);
        // Where a step is less than the precision of the values, they are all the same.
        ticks.filter(|tick| tick.is_finite()).collect()
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= least * 0.999_999);
    factor.unwrap_or(10.0) * power
}

/// The range of some values; `None` if there are none. What is not finite is not counted.
pub fn range(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|value| value.is_finite());
    finite.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// A little more than a range on both sides, so that nothing lies on an edge.
pub fn wider((low, high): (f64, f64), share: f64, least: f64) -> (f64, f64) {
    let more = ((high - low) * share).max(least);
    (low - more, high + more)
}

/// Labels of ticks that are values in a unit: alike in their digits where the steps are alike.
pub fn quantity_labels(ticks: &[f64], unit: &str) -> Vec<String> {
    ticks.iter().map(|tick| without_zeros(&format_quantity(*tick, unit))).collect()
}

/// `10.00 µs` becomes `10 µs`.
fn without_zeros(text: &str) -> String {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    if unit.is_empty() { number.to_owned() } else { format!("{number} {unit}") }
}

/// An improvement as the label of a tick: `+2 %`, `0 %`, `−16.5 %`.
pub fn improvement_label(percent: f64) -> String {
    let digits = format!("{:.6}", percent.abs());
    let number = digits.trim_end_matches('0').trim_end_matches('.');
    let sign = match number {
        "0" => "",
        _ if percent < 0.0 => "\u{2212}",
        _ => "+",
    };
    format!("{sign}{number}\u{a0}%")
}

/// The scale of all improvements together: linear in the log-ratio within the margin, so that small ones can
/// be seen, and logarithmic beyond, so that large ones have a place too. Twice as fast is as far from zero as
/// half as fast.
#[derive(Debug, Clone, Copy)]
pub struct ImprovementScale {
    margin: Percent,
    bent: Scale,
}

impl ImprovementScale {
    /// The scale that has room for these improvements in percent, and for the margin.
    pub fn new(
        improvements: impl IntoIterator<Item = f64>,
        margin: Percent,
        positions: (f64, f64),
    ) -> Self {
        let around = [-1.6, 1.6].map(|times| bend(times * margin.value(), margin));
        let bent = improvements.into_iter().map(|improvement| bend(improvement, margin));
        let bent = range(bent.chain(around)).unwrap_or((-1.0, 1.0));
        Self { margin, bent: Scale::linear(wider(bent, 0.04, 0.0), positions) }
    }

    /// The position of an improvement in percent.
    pub fn place(&self, improvement: f64) -> f64 {
        self.bent.place(bend(improvement, self.margin))
    }

    /// Round improvements with a distance of at least `apart` between their positions, and of `edge` to the
    /// ends: none, the margin, and what lies outside of it, the outermost before those between.
    pub fn ticks(&self, apart: f64, edge: f64) -> Vec<f64> {
        let margin = self.margin.value();
        let sides = [
            &[margin, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 1e4, 1e5, 1e6, 1e9][..],
            &[-margin, -5.0, -10.0, -20.0, -50.0, -80.0, -90.0, -99.0, -99.9],
        ];
        let mut ticks = vec![0.0];
        for side in sides {
            let shown = |tick: &f64| {
                let (at, bent) = (self.place(*tick), bend(*tick, self.margin));
                let ends = [self.bent.start, self.bent.end];
                let inside = ends.iter().all(|end| (at - end).abs() >= edge);
                tick.abs() >= margin && self.bent.shows(bent) && inside
            };
            let mut candidates: Vec<f64> = side.iter().copied().filter(shown).collect();
            if let Some(outermost) = candidates.pop() {
                candidates.insert(0, outermost);
            }
            for candidate in candidates {
                let far = |tick: &f64| (self.place(*tick) - self.place(candidate)).abs() >= apart;
                if ticks.iter().all(far) {
                    ticks.push(candidate);
                }
            }
        }
        ticks.sort_by(f64::total_cmp);
        ticks
    }
}

/// The log-ratio of an improvement in percent, in units of the margin: as it is where it is small, and its
/// logarithm where it is large.
fn bend(improvement: f64, margin: Percent) -> f64 {
    ((improvement / 100.0).max(-1.0).ln_1p() / margin.to_log_ratio().abs()).asinh()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round() {
        let linear = |range| Scale::linear(range, (0.0, 1.0)).ticks(4);
        assert_eq!(linear((0.0, 100.0)), [0.0, 50.0, 100.0]);
        assert_eq!(linear((-3.0, 7.9)), [0.0, 5.0]);
        assert_eq!(linear((1200.0, 1231.0)), [1200.0, 1210.0, 1220.0, 1230.0]);
        let logarithmic = |range| Scale::logarithmic(range, (0.0, 1.0)).ticks(4);
        assert_eq!(logarithmic((8.0, 12_000.0)), [10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(logarithmic((1.0, 1e9)), [1.0, 1e3, 1e6, 1e9]);
        assert_eq!(logarithmic((20.0, 60.0)), [20.0, 30.0, 40.0, 50.0, 60.0]);
        let one = Scale::linear((5.0, 5.0), (0.0, 10.0));
        assert_eq!((one.ticks(4), one.place(5.0)), (vec![5.0], 5.0));
    }

    #[test]
    fn labels_have_no_needless_digits() {
        assert_eq!(quantity_labels(&[1000.0, 1500.0, 2e6], "ns"), ["1 µs", "1.5 µs", "2 ms"]);
        assert_eq!(quantity_labels(&[100.0, 12_345.0], "cycles"), ["100 cycles", "12345 cycles"]);
        let labels = [0.0, 2.0, -16.5, 0.1 + 0.2].map(improvement_label);
        assert_eq!(labels.map(|l| l.replace('\u{a0}', " ")), ["0 %", "+2 %", "−16.5 %", "+0.3 %"]);
    }

    #[test]
    fn twice_as_fast_is_as_far_from_zero_as_half_as_fast() {
        let margin = Percent::new(2.0);
        let scale = ImprovementScale::new([100.0, -50.0], margin, (0.0, 100.0));
        assert!((scale.place(0.0) - 50.0).abs() < 1e-9);
        assert!((scale.place(100.0) - 50.0 + (scale.place(-50.0) - 50.0)).abs() < 1e-9);
        assert!(scale.place(100.0) > 95.0);
        assert!(scale.place(2.0) > 55.0, "small ones can be told from none");
        assert_eq!(scale.ticks(9.0, 0.0), [-50.0, -10.0, -2.0, 0.0, 2.0, 10.0, 100.0]);
        // Where there is nothing, there is no more than the margin.
        let scale = ImprovementScale::new([100.0], margin, (0.0, 100.0));
        assert_eq!(scale.ticks(9.0, 0.0), [-2.0, 0.0, 2.0, 5.0, 10.0, 20.0, 100.0]);
    }

    proptest! {
        #[test]
        fn positions_lie_within_the_plot(a in any::<f64>(), b in any::<f64>(), value in any::<f64>()) {
            let (low, high) = if a <= b { (a, b) } else { (b, a) };
            for scale in [Scale::linear((low, high), (9.0, 3.0)), Scale::logarithmic((low, high), (9.0, 3.0))] {
                let place = scale.place(value);
                prop_assert!((3.0..=9.0).contains(&place), "{place}");
                prop_assert!(scale.ticks(5).len() < 102);
            }
            let margin = Percent::new(2.0);
            let scale = ImprovementScale::new([a, b], margin, (0.0, 100.0));
            prop_assert!((0.0..=100.0).contains(&scale.place(value)));
            for pair in scale.ticks(9.0, 0.0).windows(2) {
                prop_assert!(scale.place(pair[1]) - scale.place(pair[0]) >= 9.0);
            }
        }

        #[test]
        fn larger_values_lie_further_on(a in -1e6..1e6f64, b in -1e6..1e6f64) {
            let scale = ImprovementScale::new([1e6], Percent::new(2.0), (0.0, 100.0));
            prop_assert!(a > b || scale.place(a) <= scale.place(b));
        }
    }
}
