//! Results for other programs: Node.js's CSV, Bencher's metrics, github-action-benchmark's list.
//!
//! All of them are about single revisions and their times, launch by launch or summed up: see [`Series`].

mod csv;
mod neighbours;
mod series;

pub use csv::csv;
pub use neighbours::{bencher, github_action_benchmark};

use series::{Series, series};
