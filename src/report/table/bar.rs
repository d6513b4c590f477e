//! A small picture of a confidence interval: where it lies, and where the margin lies.

use crate::results::Comparison;

/// The width of the picture. It is odd, so that no difference is in the middle.
pub const WIDTH: usize = 25;

/// The scale that all bars of a table have in common: slower to the left, faster to the right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The improvement at the right edge, in percent.
    edge: f64,
}

impl Scale {
    /// So that all intervals are seen whole, as long as the margin can still be seen.
    pub fn for_comparisons<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> Self {
        let mut extent = 0.0f64;
        let mut margin = 0.0f64;
        for comparison in comparisons {
            margin = margin.max(comparison.margin_percent.value());
            for end in comparison.interval_percent.into_iter().flatten() {
                extent = extent.max(end.abs());
            }
        }
        let edge = extent.clamp(2.0 * margin, 6.0 * margin);
        Self { edge: if edge.is_normal() { edge.ceil() } else { 1.0 } }
    }

    /// The cell of a value, or on which side it is beyond the edge.
    fn cell(self, value: f64) -> Result<usize, Side> {
        let position = (value / self.edge + 1.0) / 2.0 * (WIDTH - 1) as f64;
        match position.round() {
            cell if cell < 0.0 => Err(Side::Left),
            cell if cell > (WIDTH - 1) as f64 => Err(Side::Right),
            cell if cell.is_nan() => Err(Side::Left),
            cell => Ok(cell as usize),
        }
    }

    /// What stands above the bars: the improvements at the edges, and in the middle.
    pub fn header(self) -> String {
        let (left, right) = (format!("-{}%", self.edge), format!("+{}%", self.edge));
        let middle = WIDTH / 2;
        let blanks = [middle.saturating_sub(left.len()), middle.saturating_sub(right.len())];
        format!("{left}{}0{}{right}", " ".repeat(blanks[0]), " ".repeat(blanks[1]))
    }

    /// The picture of one comparison; empty if nothing was measured.
    pub fn bar(self, comparison: &Comparison) -> String {
        let Some(improvement) = comparison.improvement_percent else { return String::new() };
        let mut cells = [' '; WIDTH];
        let margin = comparison.margin_percent.value();
        for (value, mark) in [(0.0, '│'), (-margin, '┊'), (margin, '┊')] {
            if let Ok(cell) = self.cell(value) {
                cells[cell] = mark;
            }
        }
        if let Some([low, high]) = comparison.interval_percent {
            let first = self.cell(low).unwrap_or_else(Side::edge);
            let last = self.cell(high).unwrap_or_else(Side::edge);
            for cell in cells.iter_mut().take(last + 1).skip(first) {
                *cell = '━';
            }
            for end in [low, high] {
                if let Err(side) = self.cell(end) {
                    cells[side.edge()] = side.arrow();
                }
            }
        }
        match self.cell(improvement.value()) {
            Ok(cell) => cells[cell] = '●',
            Err(side) => cells[side.edge()] = side.arrow(),
        }
        cells.iter().collect()
    }
}

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

impl Side {
    fn edge(self) -> usize {
        match self {
            Self::Left => 0,
            Self::Right => WIDTH - 1,
        }
    }

    fn arrow(self) -> char {
        match self {
            Self::Left => '<',
            Self::Right => '>',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::report_tests::comparison;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn the_interval_lies_where_it_is_to_be_read() {
        let comparisons = [
            comparison(0.0, Some([-1.0, 1.0])),
            comparison(-5.0, Some([-8.0, -3.1])),
            comparison(40.0, Some([39.0, 41.0])),
            comparison(-11.9, Some([-14.0, -9.0])),
            comparison(3.0, None),
        ];
        let scale = Scale::for_comparisons(comparisons.iter());
        let bars: Vec<String> = comparisons.iter().map(|c| scale.bar(c)).collect();
        assert_eq!(scale.header(), "-12%        0        +12%");
        assert_eq!(
            bars,
            [
                "          ┊━●━┊          ",
                "    ━━━●━━┊ │ ┊          ",
                "          ┊ │ ┊         >",
                "●━━━      ┊ │ ┊          ",
                "          ┊ │ ┊●         ",
            ]
        );
    }

    #[test]
    fn the_scale_fits_the_intervals_within_reason() {
        let scale = |improvement, interval| {
            Scale::for_comparisons([comparison(improvement, Some(interval))].iter()).edge
        };
        assert_eq!(scale(0.0, [-0.1, 0.1]), 4.0);
        assert_eq!(scale(0.0, [-7.3, 7.0]), 8.0);
        assert_eq!(scale(0.0, [-70.0, 7.0]), 12.0);
    }

    proptest! {
        #[test]
        fn a_bar_is_always_as_wide(
            values in proptest::array::uniform4(any::<f64>()), interval in any::<bool>(),
        ) {
            let [improvement, low, high, other] = values;
            let one = comparison(improvement, interval.then_some([low, high]));
            let scale = Scale::for_comparisons([one.clone(), comparison(other, None)].iter());
            prop_assert_eq!(scale.bar(&one).width(), WIDTH);
        }
    }
}
