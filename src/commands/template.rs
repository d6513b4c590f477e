//! Words with placeholders: `{worktree}/data/{n}.json`.
//!
//! In: a text as the user wrote it. Out: the words of a command line for one side and one configuration of the
//! parameters. No shell has a part in it: what stands for a placeholder stays within its word, whatever it contains.

use std::fmt;

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Placeholder(String),
}

/// One word with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Part>);

/// What a placeholder stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A part of a word.
    Text(String),
    /// Words of their own; only a whole word can stand for them.
    Words(Vec<String>),
}

impl Template {
    /// Reads one word. `{{` and `}}` stand for braces.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '{' | '}' if rest.peek() == Some(&c) => {
                    rest.next();
                    plain.push(c);
                }
                '}' => {
                    return Err("a `}` without its `{`; write `}}` for the brace itself".to_owned());
                }
                '{' => {
                    let mut name = String::new();
                    loop {
                        match rest.next() {
                            Some('}') => break,
                            Some('{') | None => {
                                let text = "a `{` without its `}`; write `{{` for the brace itself";
                                return Err(text.to_owned());
                            }
                            Some(c) => name.push(c),
                        }
                    }
                    if !plain.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut plain)));
                    }
                    parts.push(Part::Placeholder(name));
                }
                c => plain.push(c),
            }
        }
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self(parts))
    }

    /// Splits a command line into words as a shell does, quotes and backslashes included, and reads each.
    pub fn parse_line(line: &str) -> Result<Vec<Self>, String> {
        let words = shlex::split(line).ok_or("a quote that is not closed")?;
        if words.is_empty() {
            return Err("there is no command".to_owned());
        }
        words.iter().map(|word| Self::parse(word)).collect()
    }

    /// The names of its placeholders.
    pub fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Placeholder(name) => Some(name.as_str()),
        })
    }

    /// The words that it stands for: one, or any number if it is nothing but a placeholder for words.
    ///
    /// A placeholder of which nothing is known stays as it is; they are checked before.
    pub fn expand(&self, value: &dyn Fn(&str) -> Option<Value>) -> Vec<String> {
        if let [Part::Placeholder(name)] = &self.0[..]
            && let Some(Value::Words(words)) = value(name)
        {
            return words;
        }
        let mut word = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => word += text,
                Part::Placeholder(name) => match value(name) {
                    Some(Value::Text(text)) => word += &text,
                    Some(Value::Words(words)) => word += &words.join(" "),
                    None => word += &format!("{{{name}}}"),
                },
            }
        }
        vec![word]
    }
}

/// As it was written.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}")),
            Part::Placeholder(name) => write!(f, "{{{name}}}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(name: &str) -> Option<Value> {
        match name {
            "bin" => Some(Value::Text("/my dir/tool; rm".to_owned())),
            "params" => Some(Value::Words(vec!["n=1".to_owned(), "m=2 3".to_owned()])),
            "none" => Some(Value::Words(Vec::new())),
            _ => None,
        }
    }

    fn words(line: &str) -> Vec<String> {
        let templates = Template::parse_line(line).unwrap();
        templates.iter().flat_map(|template| template.expand(&value)).collect()
    }

    #[test]
    fn placeholders_stay_within_their_words() {
        assert_eq!(
            words("{bin} -x '{bin} y' {{n}}"),
            ["/my dir/tool; rm", "-x", "/my dir/tool; rm y", "{n}"]
        );
    }

    #[test]
    fn parameters_are_words_of_their_own_or_one_text() {
        assert_eq!(words("a {params} b"), ["a", "n=1", "m=2 3", "b"]);
        assert_eq!(words("--all={params}"), ["--all=n=1 m=2 3"]);
        assert_eq!(words("a {none}"), ["a"]);
    }

    #[test]
    fn what_is_not_closed_is_refused() {
        for line in ["{bin", "bin}", "{a{b}}", "'x", ""] {
            assert!(Template::parse_line(line).is_err(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(text in "[a-z {}]{0,12}") {
            if let Ok(template) = Template::parse(&text) {
                prop_assert_eq!(Template::parse(&template.to_string()), Ok(template));
            }
        }

        #[test]
        fn text_without_braces_is_itself(text in "[^{}]{0,20}") {
            let template = Template::parse(&text).unwrap();
            prop_assert_eq!(template.expand(&value), [text]);
        }
    }
}
