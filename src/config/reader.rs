//! Reading TOML so that every error names the file, the line and the key, and suggests what may have been meant.
//!
//! In: the text of a file. Out: typed values, each asked for by its key; what nobody asked for is an error.

use crate::system::with_suggestion;
use std::cell::RefCell;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::system::{Error, Result};

/// A file of TOML, as errors name it.
#[derive(Debug)]
pub struct Document {
    name: String,
    text: String,
}

impl Document {
    /// The content of a file, and what to call it.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Its top table.
    pub fn parse(&self) -> Result<Spanned<DeTable<'_>>> {
        DeTable::parse(&self.text).map_err(|error| {
            let place = self.place(&error.span().unwrap_or(0..0));
            Error::usage(format!("{place}: this is no TOML")).because(error.message())
        })
    }

    /// `bench-compare.toml:12`
    fn place(&self, span: &Range<usize>) -> String {
        let before = self.text.as_bytes().iter().take(span.start);
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        format!("{}:{line}", self.name)
    }
}

/// One table of a document, of which every key is to be asked for.
#[derive(Debug)]
pub struct Reader<'a> {
    document: &'a Document,
    table: &'a DeTable<'a>,
    span: Range<usize>,
    asked: RefCell<Vec<String>>,
    /// Keys that are known in other tables, and where they belong.
    elsewhere: Vec<(String, String)>,
}

/// A text, number or truth value as it stands in the file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// Strings without their quotes.
    pub text: String,
    /// `bench-compare.toml:12`
    pub place: String,
    /// What kind of value it is.
    pub kind: ScalarKind,
}

/// Kinds of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarKind {
    /// In quotes.
    Text,
    /// An integer or a decimal number.
    Number,
    /// `true` or `false`.
    Truth,
}

impl Scalar {
    /// What is wrong with it, in words, as an error that names the place.
    pub fn wrong(&self, key: &str, why: impl std::fmt::Display) -> Error {
        Error::usage(format!("{}: `{}` is no value for `{key}`", self.place, self.text))
            .because(why)
    }

    /// Reads it in another form.
    pub fn parse<T, E: std::fmt::Display>(
        &self,
        key: &str,
        parse: impl Fn(&str) -> std::result::Result<T, E>,
    ) -> Result<T> {
        parse(&self.text).map_err(|why| self.wrong(key, why))
    }
}

impl<'a> Reader<'a> {
    /// Of a table in a document.
    pub fn new(document: &'a Document, table: &'a Spanned<DeTable<'a>>) -> Self {
        Self::of(document, table.get_ref(), table.span())
    }

    fn of(document: &'a Document, table: &'a DeTable<'a>, span: Range<usize>) -> Self {
        Self { document, table, span, asked: RefCell::default(), elsewhere: Vec::new() }
    }

    /// Where the table stands.
    pub fn place(&self) -> String {
        self.document.place(&self.span)
    }

    /// Says of a key that it belongs into another table.
    pub fn knows_elsewhere(&mut self, key: &str, table: &str) {
        self.elsewhere.push((key.to_owned(), table.to_owned()));
    }

    fn get(&self, key: &str) -> Option<(&'a Spanned<DeValue<'a>>, String)> {
        self.asked.borrow_mut().push(key.to_owned());
        let value = self.table.get(key)?;
        Some((value, self.document.place(&value.span())))
    }

    /// A single value.
    pub fn scalar(&self, key: &str) -> Result<Option<Scalar>> {
        let Some((value, place)) = self.get(key) else { return Ok(None) };
        match scalar(value.get_ref(), &place) {
            Some(scalar) => Ok(Some(scalar)),
            None => Err(is_no(key, &place, value, "a single value")),
        }
    }

    /// A single text.
    pub fn text(&self, key: &str) -> Result<Option<Scalar>> {
        let Some(scalar) = self.scalar(key)? else { return Ok(None) };
        if scalar.kind == ScalarKind::Text {
            return Ok(Some(scalar));
        }
        Err(scalar.wrong(key, "it must be a text in quotes"))
    }

    /// One value or several in brackets.
    pub fn scalars(&self, key: &str) -> Result<Option<Vec<Scalar>>> {
        let Some((value, place)) = self.get(key) else { return Ok(None) };
        self.scalars_of(key, value, &place).map(Some)
    }

    fn scalars_of(&self, key: &str, value: &Spanned<DeValue>, place: &str) -> Result<Vec<Scalar>> {
        if let Some(scalar) = scalar(value.get_ref(), place) {
            return Ok(vec![scalar]);
        }
        let DeValue::Array(array) = value.get_ref() else {
            return Err(is_no(key, place, value, "a value, or a list of them in brackets"));
        };
        let scalar = |value: &Spanned<DeValue>| {
            let place = self.document.place(&value.span());
            scalar(value.get_ref(), &place)
                .ok_or_else(|| is_no(key, &place, value, "a single value"))
        };
        array.iter().map(scalar).collect()
    }

    /// A list in brackets, or `None` if it is no list.
    pub fn list(&self, key: &str) -> Result<Option<Vec<Scalar>>> {
        match self.table.get(key).map(Spanned::get_ref) {
            Some(DeValue::Array(_)) => self.scalars(key),
            _ => Ok(None),
        }
    }

    /// A table within this one.
    pub fn table(&self, key: &str) -> Result<Option<Reader<'a>>> {
        let Some((value, place)) = self.get(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Table(table) => Ok(Some(Self::of(self.document, table, value.span()))),
            _ => Err(is_no(key, &place, value, &format!("a table: `[{key}]`"))),
        }
    }

    /// The tables of a list: `[[key]]`.
    pub fn tables(&self, key: &str) -> Result<Vec<Reader<'a>>> {
        let Some((value, place)) = self.get(key) else { return Ok(Vec::new()) };
        let wanted = format!("a list of tables: `[[{key}]]`");
        let DeValue::Array(array) = value.get_ref() else {
            return Err(is_no(key, &place, value, &wanted));
        };
        let array: &'a DeArray = array;
        let table = |value: &'a Spanned<DeValue<'a>>| match value.get_ref() {
            DeValue::Table(table) => Ok(Self::of(self.document, table, value.span())),
            _ => Err(is_no(key, &self.document.place(&value.span()), value, &wanted)),
        };
        array.iter().map(table).collect()
    }

    /// All keys with their places, in the order of the file, for a table whose keys are the user's own.
    pub fn own_keys(&self) -> Vec<(String, String)> {
        let mut keys: Vec<_> = self.table.keys().collect();
        keys.sort_by_key(|key| key.span().start);
        keys.into_iter()
            .map(|key| (key.get_ref().to_string(), self.document.place(&key.span())))
            .collect()
    }

    /// Fails if there is a key that nobody asked for.
    pub fn finish(&self) -> Result<()> {
        let asked = self.asked.borrow();
        let unknown = self.own_keys().into_iter().find(|(key, _)| !asked.contains(key));
        let Some((key, place)) = unknown else { return Ok(()) };
        let error = Error::usage(format!("{place}: there is no setting `{key}` here"));
        if let Some((_, table)) = self.elsewhere.iter().find(|(other, _)| *other == key) {
            return Err(error.help(format!("it belongs into `[{table}]`")));
        }
        Err(with_suggestion(error, &key, asked.iter().map(String::as_str)))
    }
}

fn scalar(value: &DeValue, place: &str) -> Option<Scalar> {
    let (text, kind) = match value {
        DeValue::String(text) => (text.to_string(), ScalarKind::Text),
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix()).ok()?;
            (number.to_string(), ScalarKind::Number)
        }
        DeValue::Float(number) => (number.as_str().to_owned(), ScalarKind::Number),
        DeValue::Boolean(truth) => (truth.to_string(), ScalarKind::Truth),
        _ => return None,
    };
    Some(Scalar { text, place: place.to_owned(), kind })
}

fn is_no(key: &str, place: &str, value: &Spanned<DeValue>, wanted: &str) -> Error {
    let kind = value.get_ref().type_str();
    Error::usage(format!("{place}: `{key}` must be {wanted}")).because(format!("this is: {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error_of(text: &str, ask: impl Fn(&Reader) -> Result<()>) -> String {
        let document = Document::new("x.toml", text);
        let result = document.parse().and_then(|table| {
            let reader = Reader::new(&document, &table);
            ask(&reader)?;
            reader.finish()
        });
        result.unwrap_err().to_string()
    }

    #[test]
    fn errors_name_the_line_and_suggest_a_key() {
        let ask = |reader: &Reader| reader.scalar("margin").map(drop);
        assert_eq!(
            error_of("\n\nmargn = 2\n", ask),
            "x.toml:3: there is no setting `margn` here\n  help: did you mean `margin`?"
        );
        assert_eq!(
            error_of("margin = [1]\n", ask),
            "x.toml:1: `margin` must be a single value\n  because: this is: array"
        );
        assert_eq!(
            error_of("# one\nmargin = 2\nother = 1\n", ask),
            "x.toml:3: there is no setting `other` here\n  help: there are: `margin`"
        );
        assert!(error_of("a = \n", ask).starts_with("x.toml:1: this is no TOML\n  because: "));
    }

    #[test]
    fn tables_are_told_from_lists_of_tables() {
        let ask = |reader: &Reader| reader.tables("command").map(drop);
        assert!(error_of("[command]\n", ask).contains("must be a list of tables: `[[command]]`"));
        let ask = |reader: &Reader| reader.table("cargo").map(drop);
        assert!(error_of("cargo = 1\n", ask).contains("must be a table: `[cargo]`"));
    }

    #[test]
    fn a_key_of_another_table_is_told_where_it_belongs() {
        let document = Document::new("x.toml", "features = []\n");
        let table = document.parse().unwrap();
        let mut reader = Reader::new(&document, &table);
        reader.knows_elsewhere("features", "cargo");
        let message = reader.finish().unwrap_err().to_string();
        assert!(message.ends_with("help: it belongs into `[cargo]`"), "{message}");
    }

    proptest! {
        #[test]
        fn scalars_are_read_as_they_were_written(text in "[^\\p{C}\"\\\\]{0,20}", number in any::<i64>()) {
            let source = format!("list = [\"{text}\", {number}, true]\n");
            let document = Document::new("x.toml", source);
            let table = document.parse().unwrap();
            let list = Reader::new(&document, &table).scalars("list").unwrap().unwrap();
            let texts: Vec<String> = list.into_iter().map(|scalar| scalar.text).collect();
            prop_assert_eq!(texts, [text, number.to_string(), "true".to_owned()]);
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,60}") {
            let document = Document::new("x.toml", text);
            if let Ok(table) = document.parse() {
                let reader = Reader::new(&document, &table);
                for (key, _) in reader.own_keys() {
                    let _ = (reader.scalars(&key), reader.table(&key), reader.tables(&key), reader.list(&key));
                }
                prop_assert!(reader.finish().is_ok());
            }
        }
    }
}
