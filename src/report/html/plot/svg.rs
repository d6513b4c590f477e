//! What all plots are made of: numbers, dots and labels, written as short as they can be.

use std::fmt::Write as _;

use crate::report::text::one_line;

/// A position with at most one decimal, which is less than a pixel.
pub fn short(position: f64) -> String {
    let rounded = (position * 10.0).round() / 10.0;
    // No `-0`.
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

/// The data of a path that shows a dot at each position, if its strokes have round ends. One element for
/// all dots of a plot keeps a page of thousands of plots usable.
pub fn dots(positions: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in positions {
        _ = write!(path, "M{} {}h0", short(x), short(y));
    }
    path
}

/// The data of a path from position to position.
pub fn line(positions: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in positions {
        let command = if path.is_empty() { 'M' } else { 'L' };
        _ = write!(path, "{command}{} {}", short(x), short(y));
    }
    path
}

/// About how wide a text is, in units of the view box, at the size that the style sheet gives to labels.
pub fn width(text: &str) -> f64 {
    use unicode_width::UnicodeWidthStr;
    7.0 * text.width() as f64
}

/// A text in one line that is no wider than `most`, with an ellipsis for what is cut off.
pub fn fitting(text: &str, most: f64) -> String {
    let text = one_line(text);
    if width(&text) <= most {
        return text;
    }
    let mut cut = String::new();
    for c in text.chars() {
        cut.push(c);
        if width(&cut) + width("…") > most {
            cut.pop();
            break;
        }
    }
    cut + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_short() {
        assert_eq!(dots([(1.0, 2.26), (-0.01, 30.0)]), "M1 2.3h0M0 30h0");
        assert_eq!(line([(1.0, 2.0), (3.0, 4.0)]), "M1 2L3 4");
    }

    #[test]
    fn texts_are_cut_where_they_end() {
        assert_eq!(fitting("short", 100.0), "short");
        assert_eq!(fitting("a long label", 50.0), "a long…");
        assert!(width(&fitting("漢字漢字漢字漢字", 50.0)) <= 50.0);
    }
}
