//! From results to what people read: pure functions that give text. Knows nothing of where it goes.

mod agreement;
mod cells;
mod circumstances;
mod export;
mod failures;
mod html;
mod markdown;
mod names;
mod order;
mod parameters;
mod sweep;
mod table;
mod text;
mod units;
mod variant;

pub use agreement::agreement_table;
pub use cells::{Cells, TITLES, verdict};
pub use circumstances::{Circumstance, circumstances, expected_false_stars, short_commit};
pub use export::{bencher, csv, github_action_benchmark};
pub use html::html;
pub use markdown::{MARKDOWN_LIMIT, MarkdownOptions, agreement_markdown, markdown};
pub use names::{Naming, natural_order};
pub use order::{Row, Sort, is_change, rows};
pub use parameters::split_parameters;
pub use table::{Table, table};
pub use text::{one_line, printable, shortened};
pub use units::{format_quantity, format_time};
pub use variant::{Tally, Variant, answer, answer_of, variants};

#[cfg(test)]
mod report_tests;
