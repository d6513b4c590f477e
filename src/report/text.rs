//! Texts from elsewhere, made harmless: names, labels and messages of other programs must neither break a
//! table nor reach the terminal as anything but text.

use anstream::adapter::strip_str;
use unicode_width::UnicodeWidthStr;

/// What stands for a character that is not shown.
const REPLACEMENT: char = '\u{fffd}';

/// A name in one line, every control character visible as such.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if is_harmless(c) { c } else { REPLACEMENT }).collect()
}

/// A message of any number of lines, without the escape sequences that coloured it.
pub fn printable(text: &str) -> String {
    let plain = strip_str(text).to_string();
    let lines: Vec<String> =
        plain.split('\n').map(|line| one_line(&line.trim_end().replace('\t', "    "))).collect();
    lines.join("\n")
}

/// A name in one line, cut in its middle to at most so many characters (two or more), which then says so: `…`.
pub fn shortened(text: &str, most: usize) -> String {
    let text = one_line(text);
    let count = text.chars().count();
    if count <= most {
        return text;
    }
    let end = (most - 1) / 2;
    let begin = most - 1 - end;
    let first = text.chars().take(begin);
    first.chain(['…']).chain(text.chars().skip(count - end)).collect()
}

/// The same for columns of a terminal, of which some characters take two.
pub fn shortened_to_width(text: &str, most: usize) -> String {
    let text = one_line(text);
    let mut keep = most;
    let mut short = text.clone();
    while short.width() > most && keep > 1 {
        short = shortened(&text, keep);
        keep -= 1;
    }
    short
}

/// Breaks a text between words into lines that are not wider than that, if its words are not.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Controls move the cursor or worse; the others break the line or turn the direction of writing.
fn is_harmless(c: char) -> bool {
    let breaks_or_turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !c.is_control() && !breaks_or_turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_lose_their_colours_and_keep_their_lines() {
        let text = "\u{1b}[31merror\u{1b}[0m: no\r\n\tluck\u{7}\u{9b}2J\u{202e}";
        assert_eq!(printable(text), "error: no\n    luck\u{fffd}2J\u{fffd}");
    }

    #[test]
    fn names_show_where_something_was() {
        assert_eq!(one_line("a\nb\u{1b}[2J\tc"), "a\u{fffd}b\u{fffd}[2J\u{fffd}c");
        assert_eq!(one_line("größe/漢字 👩‍🚀"), "größe/漢字 👩‍🚀");
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefg", 6), "abc…fg");
        assert_eq!(shortened("größe漢字", 5), "gr…漢字");
        assert_eq!(shortened_to_width("größe漢字", 7), "gr…漢字");
        assert_eq!(shortened_to_width("größe漢字", 9), "größe漢字");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three, four", 9), ["one two", "three,", "four"]);
        assert_eq!(wrapped("", 9), [""]);
        assert_eq!(wrapped("incomprehensible words", 5), ["incomprehensible", "words"]);
    }

    proptest! {
        #[test]
        fn nothing_but_text_is_left(text in proptest::collection::vec(any::<char>(), 0..40)) {
            let text: String = text.into_iter().collect();
            prop_assert!(one_line(&text).chars().all(is_harmless));
            prop_assert!(printable(&text).chars().all(|c| c == '\n' || is_harmless(c)));
        }
    }
}
