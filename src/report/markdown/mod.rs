//! Markdown for pull requests and job summaries, as GitHub reads it.
//!
//! The answer comes first, then what changed and what failed; the rest is folded. Names, labels, messages and
//! commands may come from strangers: see [`escape`]. The length is limited: see [`budget`].

mod agreement;
mod budget;
mod document;
mod escape;
mod parts;

pub use agreement::agreement_markdown;
pub use document::{MARKDOWN_LIMIT, MarkdownOptions, markdown};

use document::{beginning, ci, revision};
