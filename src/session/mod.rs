//! A whole comparison: wires the stages, in their order.
//!
//! In: [`Settings`]. Out: results, or the lists of benchmarks. This is the only room that knows all stages;
//! it decides nothing that a stage could decide.

mod commands;
mod compare;
pub mod demo;
mod discover;
pub mod doctor;
mod executor;
mod places;
mod recorder;
mod settings;

pub use compare::{Listing, Outcome, compare, last_results, list, results_in};
pub use recorder::ResultsRecorder;
pub use settings::{How, Settings, What};
