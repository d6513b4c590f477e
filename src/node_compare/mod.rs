//! Node.js's own way of comparing: the CSV that its `benchmark/compare.js` writes, judged as its
//! `benchmark/compare.R` does.
//!
//! In: the text of such a file. Out: the table and the footer that `compare.R` prints, and in words what it
//! would have died of. Pure, and independent of all stages of a comparison.

mod rates;
mod table;

pub use rates::{RateTable, StrayLine, parse};
pub use table::{ClassicRow, NotCompared, compare_rates, render};
