//! Which rows are folded into counts.

use crate::model::Percent;
use crate::report::order::Row;
use crate::report::text::one_line;
use crate::stats::Verdict;

/// Up to so many rows are shown, whatever they say.
const FEW: usize = 40;

/// Takes the rows out that say the least, if there are many: identical code and what is equivalent, then what is
/// inconclusive. Gives back what was taken out, in words.
pub fn fold(rows: &mut Vec<Row>, margin: Percent) -> Option<String> {
    let mut folded = Vec::new();
    for (verdict, words) in [
        (Verdict::IdenticalCode, "identical code".to_owned()),
        (Verdict::Equivalent, format!("equivalent within {margin}")),
        (Verdict::Inconclusive, "inconclusive".to_owned()),
    ] {
        if rows.len() <= FEW {
            break;
        }
        let before = rows.len();
        let words = if rows.iter().flat_map(Row::present).all(|c| c.margin_percent == margin) {
            words
        } else {
            words.replace(&format!("within {margin}"), "within their margins")
        };
        rows.retain(|row| !row.present().all(|c| at_most(c.verdict, verdict)));
        if before > rows.len() {
            folded.push(format!("{} {words}", before - rows.len()));
        }
    }
    (!folded.is_empty())
        .then(|| one_line(&format!("Not shown: {}; --all shows everything.", folded.join(", "))))
}

/// With several revisions, a row goes with what says the most in it.
fn at_most(verdict: Verdict, most: Verdict) -> bool {
    let says = |verdict| match verdict {
        Verdict::IdenticalCode => 0,
        Verdict::Equivalent => 1,
        Verdict::Inconclusive => 2,
        Verdict::Improved | Verdict::Regressed => 3,
    };
    says(verdict) <= says(most)
}
