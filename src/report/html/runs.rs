//! The runs of which results were merged: in the plots each has a number, and beside them stands which machine that is.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::report::text::shortened;
use crate::results::{Comparison, Measured, Results};

use super::plot::Run;
use super::position;

/// A machine in more words than that would fill the panel.
const MOST_CHARACTERS: usize = 160;

/// The runs whose launch pairs a comparison rests on, in the order in which its pairs stand. None, unless the results were merged.
pub fn runs(comparison: &Comparison, measured: Option<&Measured>, results: &Results) -> Vec<Run> {
    let Some(measured) = measured.filter(|_| results.parts.len() > 1) else { return Vec::new() };
    let head = measured.measured_as(position(results, &comparison.head.label));
    let pairs = measured.pairs_of_runs(0, head);
    pairs.into_iter().map(|(part, pairs)| Run { number: part + 1, pairs: pairs.len() }).collect()
}

/// Which machine is which, where launch pairs come from several.
pub fn machines(each: &[Vec<Run>], results: &Results) -> Markup {
    let several = each.iter().filter(|runs| runs.len() > 1);
    let numbers: BTreeSet<usize> = several.flatten().map(|run| run.number).collect();
    html! {
        @if !numbers.is_empty() {
            ol.runs {
                @for number in numbers {
                    li value=(number) { (machine(number, results)) }
                }
            }
        }
    }
}

/// The machine of the run with this number, in words.
pub fn machine(number: usize, results: &Results) -> String {
    let part = number.checked_sub(1).and_then(|part| results.parts.get(part));
    part.map(|part| shortened(&part.environment.in_words(), MOST_CHARACTERS)).unwrap_or_default()
}
