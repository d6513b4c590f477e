//! From results to what people read: pure functions that give text. Knows nothing of where it goes.

mod cells;
mod circumstances;
mod html;
mod markdown;
mod names;
mod order;
mod sweep;
mod table;
mod text;
mod units;
mod variant;

pub use cells::{Cells, TITLES, verdict};
pub use circumstances::{Circumstance, circumstances, expected_false_stars, short_commit};
pub use html::html;
pub use markdown::{MARKDOWN_LIMIT, MarkdownOptions, markdown};
pub use names::{Naming, natural_order};
pub use order::{Row, Sort, is_change, rows};
pub use table::{Table, table};
pub use text::{one_line, printable, shortened};
pub use units::{format_quantity, format_time};
pub use variant::{Tally, Variant, answer, answer_of, variants};

#[cfg(test)]
mod tests;
