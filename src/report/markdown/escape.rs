//! Texts from elsewhere as Markdown in which they are nothing but text.
//!
//! Whatever is not this program's own words stands in code: in a code span or in a fenced block. There GitHub
//! looks neither for markup and HTML nor for mentions, issues, commits, addresses and `:emoji:`, and there are no
//! escapes that parsers could understand in different ways.

use crate::report::text::{one_line, printable, shortened};

/// The most characters that a name may have in a report.
const LONGEST_NAME: usize = 160;

/// A name as a code span that can stand in a table.
pub fn code(name: &str) -> String {
    let name = shortened(name, LONGEST_NAME);
    // Parsers do not agree on backslashes before a `|` within a table, so that it stands between two spans.
    let spans: Vec<String> = name.split('|').map(span).collect();
    spans.join("&#124;")
}

fn span(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(text, '`') + 1);
    // One blank is taken off on both sides if there is one on both sides, unless there is nothing else.
    let edges = [text.chars().next(), text.chars().next_back()];
    let blank = text.chars().all(|c| c == ' ');
    let pad = if !blank && edges.iter().any(|c| matches!(c, Some('`' | ' '))) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn longest_run(text: &str, of: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// A fence that no line of these texts can close.
pub fn fence<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let longest = texts.into_iter().map(|text| longest_run(text, '`')).max().unwrap_or_default();
    "`".repeat((longest + 1).max(3))
}

/// A message of any length as a fenced block of at most so many bytes of text, with a line feed at the end.
pub fn block(text: &str, most: usize) -> String {
    let text = cut(text, most);
    let fence = fence([text.as_str()]);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end())
}

/// At most so many bytes of a message, made harmless; one that is cut ends with `…`.
pub fn cut(text: &str, most: usize) -> String {
    // Escape sequences go first, so that there may be room for more than the first bytes, but not for all of them.
    let begin = first_bytes(text, 8 * most);
    let harmless = printable(begin);
    let shown = first_bytes(&harmless, most);
    if begin.len() + shown.len() == text.len() + harmless.len() {
        return harmless;
    }
    format!("{shown}…")
}

fn first_bytes(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A link with this text, which is Markdown already. Nothing but web addresses become links.
pub fn link(text: &str, address: &str) -> String {
    if !["https://", "http://"].iter().any(|scheme| address.starts_with(scheme)) {
        return text.to_owned();
    }
    let mut target = String::new();
    for byte in address.bytes() {
        // What addresses are made of, without what could end the link.
        if byte.is_ascii_alphanumeric() || b"-._~:/?#@!$&'*+,;=%".contains(&byte) {
            target.push(char::from(byte));
        } else {
            target += &format!("%{byte:02X}");
        }
    }
    format!("[{text}]({target})")
}

/// This program's own words in a table: stars are no emphasis, and numbers keep their units.
pub fn own(text: &str) -> String {
    one_line(text).replace('*', "\\*").replace(" %", "\u{a0}%")
}
