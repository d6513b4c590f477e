//! The text of a review or comment: the newest table, and the earlier ones folded below. Pure.
//!
//! A text begins with a hidden mark that carries its key, by which it is found again. Each table in it stands
//! between two further marks, so that it can be moved below the fold when a newer one comes.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::event::Run;
use super::names::Key;

/// The most characters that GitHub takes in a review, a comment or a pull request.
pub const MOST_CHARACTERS: usize = 65_536;

/// What a new table may have, so that something is left for marks and for the earlier tables.
pub const MOST_OF_A_TABLE: usize = 60_000;

/// The earlier tables that are kept at most.
const MOST_EARLIER: usize = 20;

const TABLE_BEGINS: &str = "<!-- cargo-bench-compare:table ";
const TABLE_ENDS: &str = "<!-- cargo-bench-compare:end -->";
const LEFT_OUT: &str = "<!-- cargo-bench-compare:left-out ";
const MARK_ENDS: &str = " -->";

/// One table, or the announcement of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    about: About,
    text: String,
}

/// What is known of a table without reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct About {
    /// The commit that was measured.
    commit: String,
    /// The number and the attempt of the run that measured.
    run: Option<(u64, u64)>,
    /// The answer in a sentence; none of an announcement.
    answer: Option<String>,
}

impl Section {
    /// A table in Markdown, or an announcement if there is no `answer` yet.
    pub fn new(commit: &str, run: Option<&Run>, answer: Option<String>, markdown: &str) -> Self {
        // Nothing in a table can be taken for a mark, not even in a block of code: another kind of hyphen looks
        // the same, and makes the text no longer.
        let text = markdown.replace('\r', "").replace("<!--", "<!-\u{2010}").trim().to_owned();
        let run = run.map(|run| (run.id, run.attempt));
        Self { about: About { commit: commit.to_owned(), run, answer }, text }
    }

    /// The commit that was measured.
    pub fn commit(&self) -> &str {
        &self.about.commit
    }

    fn is_announcement(&self) -> bool {
        self.about.answer.is_none()
    }

    /// Whether the other one says the same thing again or what this one only announces.
    fn is_replaced_by(&self, other: &Self) -> bool {
        let (one, two) = (&self.about, &other.about);
        match (one.run, two.run) {
            (Some((run, attempt)), Some((other_run, other_attempt))) => {
                run == other_run && (attempt == other_attempt || self.is_announcement())
            }
            _ => self.text == other.text,
        }
    }

    fn is_of_a_later_run_than(&self, other: &Self) -> bool {
        matches!((self.about.run, other.about.run), (Some(one), Some(two)) if one > two)
    }

    fn render(&self) -> String {
        let about = serde_json::to_string(&self.about).expect("it can be written as JSON");
        // Nothing in it begins or ends a mark.
        let about = about.replace('<', "\\u003c").replace('>', "\\u003e");
        format!("{TABLE_BEGINS}{about}{MARK_ENDS}\n\n{}\n\n{TABLE_ENDS}\n", self.text)
    }

    fn render_folded(&self) -> String {
        let commit: String = self.about.commit.chars().take(9).collect();
        let answer = escape(self.about.answer.as_deref().unwrap_or_default());
        let commit = if commit.is_empty() {
            String::new()
        } else {
            format!("<code>{}</code>: ", escape(&commit))
        };
        let summary = format!("{commit}{answer}");
        format!("<details><summary>{summary}</summary>\n\n{}\n</details>\n\n", self.render())
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('@', "&#64;")
}

/// The hidden mark with which every text of this key begins.
fn mark(key: &Key) -> String {
    format!("<!-- cargo-bench-compare:key {key} -->")
}

/// Whether a text is one of this program, with this key. Who wrote it must be asked too.
pub fn has_key(text: &str, key: &Key) -> bool {
    // A quotation, or a text that a mark was pasted into, does not begin with it.
    text.trim_start().starts_with(&mark(key))
}

/// Whether a text has a table or an announcement of this run.
pub fn has_run(text: &str, run: Option<&Run>) -> bool {
    let sections = sections(text);
    run.is_some_and(|run| {
        sections.iter().any(|section| section.about.run.is_some_and(|(id, _)| id == run.id))
    })
}

/// A new text.
pub fn compose(key: &Key, section: Section) -> String {
    render(key, &[section], 0)
}

/// The text with a further table, which stands first unless a later run was quicker.
pub fn add(key: &Key, text: &str, section: Section) -> String {
    let mut all: Vec<Section> = sections(text);
    all.retain(|old| !old.is_replaced_by(&section));
    let place = all.iter().take_while(|old| old.is_of_a_later_run_than(&section)).count();
    all.insert(place, section);
    // An announcement that something newer stands above will not be filled in.
    let mut position = 0;
    all.retain(|section| {
        position += 1;
        position == 1 || !section.is_announcement()
    });
    render(key, &all, left_out(text))
}

/// `left_out` earlier tables have been left out before.
fn render(key: &Key, sections: &[Section], left_out: u64) -> String {
    let [newest, earlier @ ..] = sections else { return mark(key) };
    let mut text = format!("{}\n{}", mark(key), newest.render());
    let mut left_out = left_out.saturating_add(earlier.len() as u64);
    let mut kept = String::new();
    let used = text.chars().count();
    for section in earlier.iter().take(MOST_EARLIER) {
        let folded = section.render_folded();
        // 300 for the words around them.
        if used + kept.chars().count() + folded.chars().count() + 300 > MOST_CHARACTERS {
            break;
        }
        kept += &folded;
        left_out -= 1;
    }
    if !earlier.is_empty() || left_out > 0 {
        text += "\n#### Earlier\n\n";
        text += &kept;
    }
    if left_out > 0 {
        let tables = if left_out == 1 { "table is" } else { "tables are" };
        _ = writeln!(
            text,
            "{left_out} earlier {tables} not kept here: there is no room for more.\n\n\
             {LEFT_OUT}{left_out}{MARK_ENDS}"
        );
    }
    text
}

/// How many tables of a text have been left out of it.
fn left_out(text: &str) -> u64 {
    let count = text.rsplit_once(LEFT_OUT).and_then(|(_, rest)| rest.split_once(MARK_ENDS));
    count.and_then(|(count, _)| count.parse().ok()).unwrap_or(0)
}

/// The tables of a text, newest first. What people have changed so much that it cannot be read is left out.
fn sections(text: &str) -> Vec<Section> {
    // GitHub gives texts back with the line ends of forms.
    let text = text.replace("\r\n", "\n");
    let mut found = Vec::new();
    for part in text.split(TABLE_BEGINS).skip(1) {
        let Some((about, rest)) = part.split_once(MARK_ENDS) else { continue };
        let Some((content, _)) = rest.split_once(TABLE_ENDS) else { continue };
        if let Ok(about) = serde_json::from_str(about) {
            found.push(Section { about, text: content.trim().to_owned() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key() -> Key {
        "k".parse().unwrap()
    }

    fn run(id: u64, attempt: u64) -> Run {
        Run { id, attempt, workflow: String::new() }
    }

    fn table(id: u64, text: &str) -> Section {
        Section::new(&format!("{id:040}"), Some(&run(id, 1)), Some("1 regressed".into()), text)
    }

    fn announcement(id: u64) -> Section {
        Section::new(&format!("{id:040}"), Some(&run(id, 1)), None, "started")
    }

    fn texts(body: &str) -> Vec<String> {
        sections(body).into_iter().map(|section| section.text).collect()
    }

    #[test]
    fn each_push_puts_its_table_on_top_and_keeps_the_earlier_ones() {
        let mut body = compose(&key(), table(1, "one"));
        body = add(&key(), &body, table(2, "two"));
        body = add(&key(), &body.replace('\n', "\r\n"), table(3, "three"));
        assert!(has_key(&body, &key()) && !has_key(&body, &"other".parse().unwrap()));
        assert_eq!(texts(&body), ["three", "two", "one"]);
        assert_eq!(body.matches("<details>").count(), 2);
        assert!(body.find("#### Earlier").unwrap() > body.find("three").unwrap());
    }

    #[test]
    fn publishing_the_same_run_again_changes_nothing_but_its_own_table() {
        let first = add(&key(), &compose(&key(), table(1, "one")), table(2, "two"));
        assert_eq!(add(&key(), &first, table(2, "two")), first);
        assert_eq!(texts(&add(&key(), &first, table(2, "better"))), ["better", "one"]);
        let again = Section::new("c", Some(&run(2, 2)), Some(String::new()), "measured again");
        assert_eq!(texts(&add(&key(), &first, again)), ["measured again", "two", "one"]);
    }

    #[test]
    fn a_run_that_ends_late_does_not_cover_a_later_one() {
        let body = add(&key(), &compose(&key(), table(2, "two")), table(1, "one"));
        assert_eq!(texts(&body), ["two", "one"]);
    }

    #[test]
    fn an_announcement_is_filled_in_and_never_kept() {
        let announced = add(&key(), &compose(&key(), table(1, "one")), announcement(2));
        assert_eq!(texts(&announced), ["started", "one"]);
        assert_eq!(texts(&add(&key(), &announced, table(2, "two"))), ["two", "one"]);
        // Its run was cancelled by the next push.
        assert_eq!(texts(&add(&key(), &announced, announcement(3))), ["started", "one"]);
        assert!(has_run(&announced, Some(&run(2, 1))) && !has_run(&announced, Some(&run(3, 1))));
    }

    #[test]
    fn a_text_that_only_has_the_mark_within_it_is_not_taken() {
        let body = compose(&key(), table(1, "one"));
        assert!(!has_key(&format!("look at this:\n{body}"), &key()));
        assert!(!has_key(&format!("> {body}"), &key()));
    }

    #[test]
    fn what_is_too_much_is_left_out_and_counted() {
        let long = "x".repeat(20_000);
        let mut body = compose(&key(), table(1, &long));
        for id in 2..=5 {
            body = add(&key(), &body, table(id, &long));
        }
        assert!(body.chars().count() <= MOST_CHARACTERS);
        assert_eq!(texts(&body).len(), 3);
        assert!(body.contains("2 earlier tables are not kept here"), "{body}");
        // The same table once more leaves out nothing.
        let again = add(&key(), &body.replace('\n', "\r\n"), table(5, "short"));
        assert!(again.contains("2 earlier tables are not kept here"), "{again}");
        let full = add(&key(), &body, table(6, &"y".repeat(MOST_OF_A_TABLE)));
        assert!(full.chars().count() <= MOST_CHARACTERS);
        assert_eq!(texts(&full).len(), 1);
        assert!(full.contains("5 earlier tables are not kept here"), "{full}");
    }

    proptest! {
        #[test]
        fn nothing_in_a_table_moves_the_marks(
            text in "([a-z\n`@>]|<!--|-->|<!-- cargo-bench-compare:end -->|<!-- cargo-bench-compare:table \\{\\}){0,12}",
            answer in ".{0,20}", second in any::<bool>(),
        ) {
            let hostile = Section::new(&format!("{:040}", 2), Some(&run(2, 1)), Some(answer), &text);
            let kept = hostile.text.clone();
            let mut body = add(&key(), &compose(&key(), table(1, "one")), hostile);
            if second {
                body = add(&key(), &body, table(3, "three"));
                prop_assert_eq!(texts(&body), ["three", kept.as_str(), "one"]);
            } else {
                prop_assert_eq!(texts(&body), [kept.as_str(), "one"]);
            }
        }

        #[test]
        fn any_old_text_can_be_added_to(old in ".{0,200}") {
            let body = add(&key(), &old, table(1, "one"));
            prop_assert!(has_key(&body, &key()));
        }
    }
}
