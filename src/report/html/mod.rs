//! The page: one HTML file that needs nothing else, for people who want to see more than a table shows.
//!
//! It is whole without JavaScript; the script only adds search and sorting. It may load nothing, and run no other
//! script and no other styles than its own, whatever stands in the results: its content security policy names
//! them by their hashes.

mod details;
mod overview;
mod page;
mod plot;
mod rest;
mod runs;
mod sweeps;

pub use page::html;

use page::{Benchmark, Section, class, position, side_class};
