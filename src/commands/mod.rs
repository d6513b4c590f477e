//! Whole commands as benchmarks: programs of any kind, started over and over again on every side.

mod entry;
mod sweep;
mod template;

pub use entry::{CommandEntry, PLACEHOLDERS, Quantity};
pub use sweep::{
    Combination, Parameter, Setting, count as combination_count, text as settings_text,
};
pub use template::{Template, Value};
