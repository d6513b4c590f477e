//! The forest plot: one row for each comparison, all on one scale. Rows stretch to any width, so all positions
//! are in percent of it.

use maud::{Markup, html};

use crate::model::Percent;
use crate::results::Comparison;
use crate::stats::Verdict;

use super::scale::{ImprovementScale, improvement_label};
use super::svg::short;

/// The forest plot's scale, from which its axis and rows are made.
#[derive(Debug, Clone, Copy)]
pub struct Forest {
    scale: ImprovementScale,
    margin: Percent,
}

impl Forest {
    /// A plot with room for all intervals of these comparisons.
    pub fn of(comparisons: &[Comparison], margin: Percent) -> Self {
        let ends = comparisons.iter().flat_map(|comparison| {
            let ends = comparison.interval_percent.into_iter().flatten();
            ends.chain(comparison.improvement_percent.map(Percent::value))
        });
        Self { scale: ImprovementScale::new(ends, margin, (0.0, 100.0)), margin }
    }

    fn at(&self, improvement: f64) -> String {
        format!("{}%", short(self.scale.place(improvement)))
    }

    /// Where the style sheet finds the margin band and the line at zero, which are the background of all rows.
    pub fn style(&self) -> String {
        let margin = self.margin.value();
        let [low, zero, high] = [-margin, 0.0, margin].map(|improvement| self.at(improvement));
        format!(":root {{ --low: {low}; --zero: {zero}; --high: {high}; }}\n")
    }

    /// The axis, to stand above the rows.
    pub fn axis(&self) -> Markup {
        html! {
            svg.axis aria-hidden="true" {
                // Half a label needs room at the ends.
                @for tick in self.scale.ticks(18.0, 8.0) {
                    text x=(self.at(tick)) y="13" { (improvement_label(tick)) }
                    line x1=(self.at(tick)) x2=(self.at(tick)) y1="18" y2="100%" {}
                }
            }
        }
    }

    fn own_band(&self, margin: f64) -> Markup {
        let (low, high) = (self.scale.place(-margin), self.scale.place(margin));
        html! { rect.own-band x={ (short(low)) "%" } width={ (short(high - low)) "%" } y="1" height="93%" {} }
    }

    /// The interval of one comparison, and its estimate: a triangle that points up for an improvement and
    /// down for a regression, a disk for equivalence, a ring where nothing can be said.
    pub fn row(&self, comparison: &Comparison) -> Markup {
        let Some(improvement) = comparison.improvement_percent.map(Percent::value) else {
            return html! {};
        };
        html! {
            svg aria-hidden="true" {
                // The band behind all rows is another one.
                @if comparison.margin_percent != self.margin {
                    (self.own_band(comparison.margin_percent.value()))
                }
                @if let Some([low, high]) = comparison.interval_percent {
                    line.interval x1=(self.at(low)) x2=(self.at(high)) y1="50%" y2="50%" {}
                }
                svg x=(self.at(improvement)) y="50%" { (marker(comparison.verdict)) }
            }
        }
    }
}

fn marker(verdict: Verdict) -> Markup {
    html! {
        @match verdict {
            Verdict::Improved => path d="M-6 4.5H6L0-6.5z" {},
            Verdict::Regressed => path d="M-6-4.5H6L0 6.5z" {},
            Verdict::Inconclusive => circle.ring r="4" {},
            _ => circle r="4" {},
        }
    }
}
