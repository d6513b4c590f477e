//! The table on the terminal, with the answer above it and what one needs to judge it below.

mod bar;
mod fold;
mod grid;
mod groups;
mod render;
mod rows;

pub use render::{Table, table};

use render::style;
