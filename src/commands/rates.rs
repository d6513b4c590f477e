//! The lines that Node.js's benchmark scripts print: `http/bench-parser.js n=100000 len=16: 1,234.5`.
//!
//! In: what a script printed. Out: names, and operations a second. Pure.

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    /// As the tables of Node.js name it: the script without `.js`, then its configuration.
    pub name: String,
    /// Operations a second.
    pub rate: f64,
}

/// All lines that tell a rate, in their order; others are passed over. Every version's form is read: with thousands
/// separators or without, with texts in quotes or without.
pub fn rates(text: &str) -> Vec<Rate> {
    text.lines().filter_map(rate).collect()
}

fn rate(line: &str) -> Option<Rate> {
    let (heading, number) = line.trim().rsplit_once(": ")?;
    let rate = number.replace(',', "").parse().ok()?;
    let (script, configuration) = match heading.split_once(' ') {
        Some((script, configuration)) => (script, Some(configuration)),
        None => (heading, None),
    };
    let is_number = |c: char| c.is_ascii_digit() || ".,-+e".contains(c);
    // A sentence with a colon, or `key: 5`, is none of them.
    let is_script = script.ends_with(".js") || script.ends_with(".mjs") || script.ends_with(".cjs");
    let is_configuration = configuration.is_some_and(|text| text.contains('='));
    if !number.chars().all(is_number) || !(is_script || is_configuration) || script.is_empty() {
        return None;
    }
    let script = script.strip_suffix(".js").unwrap_or(script);
    let name = match configuration {
        Some(configuration) => format!("{script} {}", without_quotes(configuration)),
        None => script.to_owned(),
    };
    Some(Rate { name, rate })
}

/// `type="fast" n=1` as `type=fast n=1`; texts with spaces keep their quotes.
fn without_quotes(configuration: &str) -> String {
    let mut plain = String::new();
    let mut rest = configuration;
    while let Some(begin) = rest.find("=\"") {
        let (before, quoted) = rest.split_at(begin + 1);
        plain += before;
        let inner = &quoted[1..];
        match inner.find('"') {
            Some(end) if !inner[..end].contains(char::is_whitespace) => {
                plain += &inner[..end];
                rest = &inner[end + 1..];
            }
            Some(end) => {
                plain += &quoted[..end + 2];
                rest = &inner[end + 1..];
            }
            None => {
                rest = quoted;
                break;
            }
        }
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names_and_rates(text: &str) -> Vec<(String, f64)> {
        rates(text).into_iter().map(|rate| (rate.name, rate.rate)).collect()
    }

    #[test]
    fn the_forms_of_all_versions_are_read() {
        let text = "http/bench-parser.js n=100000 len=16: 1,234,567.5\n\
                    buffers/buffer-creation.js type=fast len=1 n=1024: 12345.67891\n\
                    misc/x.js type=\"a-b\" s=\"a b\" n=1: 1e+21\n  alone.js: 5\n";
        let expected = [
            ("http/bench-parser n=100000 len=16", 1_234_567.5),
            ("buffers/buffer-creation type=fast len=1 n=1024", 12345.67891),
            ("misc/x type=a-b s=\"a b\" n=1", 1e21),
            ("alone", 5.0),
        ];
        assert_eq!(names_and_rates(text), expected.map(|(name, rate)| (name.to_owned(), rate)));
    }

    #[test]
    fn other_lines_are_passed_over() {
        let text = "(node:12) Warning: 5\ntime: 12\nx.js n=1: fast\nError: n=1\n\n: 5\nx.js n=1:5\nx=1: NaN\n";
        assert_eq!(names_and_rates(text), []);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "(\\PC|\n|: |=\"|\\.js ){0,40}") {
            rates(&text);
        }

        #[test]
        fn what_is_printed_is_read_again(script in "[a-z]{1,9}", n in any::<u32>(), rate in 1u32..) {
            let expected = Rate { name: format!("{script} n={n}"), rate: f64::from(rate) + 0.5 };
            prop_assert_eq!(rates(&format!("{script}.js n={n}: {rate}.5\n")), [expected]);
        }
    }
}
