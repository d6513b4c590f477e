//! From results to what people read: pure functions that give text. Knows nothing of where it goes.

mod names;
mod table;
mod text;
mod units;

pub use names::natural_order;
pub use table::{Table, table};
pub use text::{one_line, printable};
pub use units::{format_quantity, format_time};

#[cfg(test)]
mod tests;
