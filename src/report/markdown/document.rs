//! The document as a whole: the blocks in their order, cut to the length that is wanted.

use crate::results::{Results, Revision};
use crate::stats::Verdict;

use super::super::circumstances::{expected_false_stars, short_commit};
use super::super::variant::{Variant, answer, answer_of, variants};

use super::budget::{Block, Item, fit};
use super::escape::{code, link, own};
use super::parts::{Rows, classic, failures, folded, gate, machine, matrix, names, set_aside};

/// What GitHub takes as the body of a review or comment: 65,536 characters.
pub const MARKDOWN_LIMIT: usize = 65_536;

/// How the Markdown is to be.
#[derive(Debug, Clone)]
pub struct MarkdownOptions {
    /// The repository's address, `https://github.com/owner/name`: commits become links into it.
    pub repository_url: Option<String>,
    /// The address of the run that measured.
    pub ci_url: Option<String>,
    /// The most bytes that the text may have. Characters, and UTF-16's units, are never more than bytes.
    pub limit: usize,
}

impl Default for MarkdownOptions {
    /// Without links, and as long as GitHub allows.
    fn default() -> Self {
        Self { repository_url: None, ci_url: None, limit: MARKDOWN_LIMIT }
    }
}

/// Renders the results as Markdown of at most [`limit`](MarkdownOptions::limit) bytes. What does not fit is cut,
/// the least important first, and the text says how much of what is left out.
pub fn markdown(results: &Results, options: &MarkdownOptions) -> String {
    let variants = variants(results);
    let (head, blocks) = match &variants[..] {
        [only] => one_revision(results, only, options),
        several => several_revisions(results, several, options),
    };
    fit(&head, blocks, options.limit).unwrap_or_else(|| {
        // So little room that not even commits fit: the answer in plain words, as far as it goes.
        let text = match &variants[..] {
            [_, _, ..] => "The answer does not fit here; the results file has it.".to_owned(),
            _ => own(&answer(results)),
        };
        beginning(text, options.limit)
    })
}

/// At most so many bytes of a text.
pub(super) fn beginning(mut text: String, most: usize) -> String {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.truncate(end.unwrap_or_default());
    text
}

fn one_revision(
    results: &Results,
    variant: &Variant,
    options: &MarkdownOptions,
) -> (String, Vec<Block>) {
    let mut head = format!("**{}**\n\n", own(&answer_of(variant, results)));
    let sides = [variant.reference, variant.revision].map(|r| revision(r, options));
    head += &format!("{}{}\n\n", sides.join(" → "), ci(options));
    let rows = Rows::of(results, &variant.comparisons, false);
    let mut blocks = Vec::new();
    blocks.extend(gate(results));
    blocks.extend(rows.changed(&legend(variant)));
    blocks.extend(failures(results));
    blocks.extend(rows.folded(Verdict::Inconclusive));
    blocks.extend(rows.folded(Verdict::Equivalent));
    blocks.extend(common(results, &rows));
    (head, blocks)
}

fn several_revisions(
    results: &Results,
    variants: &[Variant],
    options: &MarkdownOptions,
) -> (String, Vec<Block>) {
    let Some(reference) = results.revisions.first() else { return Default::default() };
    let head = format!("Compared with {}{}:\n\n", revision(reference, options), ci(options));
    let answers = variants.iter().map(|variant| {
        let answer = own(&answer_of(variant, results));
        let text = format!("- {}: **{answer}**\n", revision(variant.revision, options));
        Item { rank: 0, text }
    });
    let mut blocks = vec![Block {
        importance: 0,
        what: "revisions".to_owned(),
        before: String::new(),
        items: answers.collect(),
        after: "\n".to_owned(),
    }];
    let all: Vec<_> = variants.iter().flat_map(|v| v.comparisons.iter().copied()).collect();
    let rows = Rows::of(results, &all, true);
    blocks.extend(gate(results));
    blocks.extend(matrix(results, variants));
    blocks.extend(failures(results));
    blocks.extend(rows.all_changed());
    blocks.extend(rows.folded(Verdict::Inconclusive));
    blocks.extend(rows.folded(Verdict::Equivalent));
    blocks.extend(common(results, &rows));
    (head, blocks)
}

/// What is folded in every report.
fn common(results: &Results, rows: &Rows) -> Vec<Block> {
    let mut blocks = Vec::new();
    let missing = |list| names(results, list);
    blocks.extend(folded(5, "added, so there is nothing to compare with", missing(&results.added)));
    blocks.extend(folded(5, "removed", missing(&results.removed)));
    blocks.extend(folded(5, "set aside", set_aside(results)));
    blocks.extend(rows.identical());
    blocks.extend(classic(rows));
    blocks.push(machine(results));
    blocks
}

/// `` `main` ([`477468d4e`](https://github.com/owner/name/commit/...)) ``
pub(super) fn revision(revision: &Revision, options: &MarkdownOptions) -> String {
    let label = code(&revision.label);
    let commit = &revision.commit;
    let dirty = if revision.dirty { " with uncommitted changes" } else { "" };
    if let Some(program) = &revision.program {
        return format!("{label} ({})", code(program));
    }
    if commit.is_empty() {
        return label;
    }
    let short = code(&short_commit(commit));
    let is_id = (7..=64).contains(&commit.len()) && commit.bytes().all(|b| b.is_ascii_hexdigit());
    let shown = match &options.repository_url {
        Some(url) if is_id => {
            link(&short, &format!("{}/commit/{commit}", url.trim_end_matches('/')))
        }
        _ => short,
    };
    format!("{label} ({shown}{dirty})")
}

pub(super) fn ci(options: &MarkdownOptions) -> String {
    match &options.ci_url {
        Some(url) => format!(" · {}", link("CI run", url)),
        None => String::new(),
    }
}

/// What the columns mean, and how many false stars are to be expected.
fn legend(variant: &Variant) -> String {
    let tested: Vec<_> =
        variant.comparisons.iter().copied().filter(|c| c.p_value.is_some()).collect();
    let expected = expected_false_stars(&tested)
        .map(|(level, count)| format!("{count} at {}", level.stars()))
        .join(", ");
    let text = format!(
        "Improvement is base time / head time - 1: positive is faster. If nothing had changed, {expected} of {} \
         comparisons would be expected to be starred.",
        tested.len()
    );
    format!("{}\n\n", own(&text))
}
