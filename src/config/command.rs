//! `[[command]]`: the commands of a file, checked as far as that is possible without running anything.

use std::path::Path;

use clap::ValueEnum;

use crate::commands::{
    CommandEntry, PLACEHOLDERS, Parameter, Quantity, Template, combination_count,
};
use crate::system::{Error, Result};

use super::reader::{Reader, Scalar};
use super::values;
use crate::system::with_suggestion;

/// More combinations than anybody measures.
const MOST_COMBINATIONS: usize = 10_000;
/// Placeholders that mean something before there is a program.
const BEFORE_THE_BUILD: [&str; 3] = ["worktree", "revision", "label"];

/// Reads one `[[command]]`. `directory` is where it runs, relative to the worktree.
pub fn read_command(reader: &Reader, directory: &Path) -> Result<CommandEntry> {
    let place = reader.place();
    let name = reader.text("name")?.ok_or_else(|| missing(&place, "name"))?;
    if name.text.trim().is_empty() {
        return Err(name.wrong("name", "it is empty"));
    }
    let parameters = match reader.table("params")? {
        Some(table) => read_parameters(&table)?,
        None => Vec::new(),
    };
    let known = PLACEHOLDERS.into_iter().chain(parameters.iter().map(|p| p.name.as_str()));
    let known: Vec<&str> = known.collect();
    let run = read_line(reader, "run", &known)?.ok_or_else(|| missing(&place, "run"))?;
    let quantity = match reader.text("measure")? {
        Some(text) => choice::<Quantity>(&text, "measure")?,
        None => Quantity::default(),
    };
    let environment = match reader.table("env")? {
        Some(table) => read_environment(&table, &known)?,
        None => Vec::new(),
    };
    let bin = reader.text("bin")?.map(|text| read_word(&text, "bin", &BEFORE_THE_BUILD));
    let timeout = reader.scalar("timeout")?.map(|text| text.parse("timeout", values::timeout));
    let entry = CommandEntry {
        name: name.text,
        run,
        parameters,
        quantity,
        build: read_line(reader, "build", &BEFORE_THE_BUILD)?.unwrap_or_default(),
        bin: bin.transpose()?,
        environment,
        timeout: timeout.transpose()?,
        directory: directory.to_owned(),
        place,
    };
    reader.finish()?;
    check(&entry)?;
    Ok(entry)
}

fn missing(place: &str, key: &str) -> Error {
    Error::usage(format!("{place}: this `[[command]]` has no `{key}`"))
}

/// A command line as one text, or as a list of words.
fn read_line(reader: &Reader, key: &str, known: &[&str]) -> Result<Option<Vec<Template>>> {
    if let Some(words) = reader.list(key)? {
        if words.is_empty() {
            return Err(Error::usage(format!("{}: `{key}` is an empty list", reader.place())));
        }
        let word = |word: &Scalar| read_word(word, key, known);
        return words.iter().map(word).collect::<Result<_>>().map(Some);
    }
    let Some(text) = reader.text(key)? else { return Ok(None) };
    let words = text.parse(key, Template::parse_line)?;
    words.iter().try_for_each(|word| check_placeholders(word, &text, known))?;
    Ok(Some(words))
}

fn read_word(text: &Scalar, key: &str, known: &[&str]) -> Result<Template> {
    let word = text.parse(key, Template::parse)?;
    check_placeholders(&word, text, known)?;
    Ok(word)
}

fn check_placeholders(word: &Template, text: &Scalar, known: &[&str]) -> Result<()> {
    let unknown = word.placeholders().find(|name| !known.contains(name));
    let Some(unknown) = unknown else { return Ok(()) };
    let error = Error::usage(format!(
        "{}: nothing is known that `{{{unknown}}}` could stand for",
        text.place
    ));
    Err(with_suggestion(error, unknown, known.iter().copied()))
}

fn read_parameters(table: &Reader) -> Result<Vec<Parameter>> {
    let mut parameters = Vec::new();
    for (name, place) in table.own_keys() {
        let wrong = |why: &str| {
            Err(Error::usage(format!("{place}: `{name}` cannot be the name of a parameter"))
                .because(why))
        };
        if PLACEHOLDERS.contains(&name.as_str()) {
            return wrong("it already stands for something else");
        }
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || "={}".contains(c)) {
            return wrong("it has a space, a brace or an `=` in it, or nothing");
        }
        let values = table.scalars(&name)?.unwrap_or_default();
        if values.is_empty() {
            return Err(Error::usage(format!("{place}: the parameter `{name}` has no values")));
        }
        let values = values.into_iter().map(|value| value.text).collect();
        parameters.push(Parameter { name, values });
    }
    Ok(parameters)
}

fn read_environment(table: &Reader, known: &[&str]) -> Result<Vec<(String, Template)>> {
    let mut environment = Vec::new();
    for (name, place) in table.own_keys() {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(Error::usage(format!(
                "{place}: `{name}` cannot be the name of a variable"
            )));
        }
        if let Some(value) = table.scalar(&name)? {
            environment.push((name.clone(), read_word(&value, &name, known)?));
        }
    }
    Ok(environment)
}

/// One of the values of an enumeration, by its name.
pub fn choice<T: ValueEnum>(text: &Scalar, key: &str) -> Result<T> {
    T::from_str(&text.text, false).map_err(|_| {
        let names: Vec<String> = T::value_variants()
            .iter()
            .filter_map(|variant| Some(variant.to_possible_value()?.get_name().to_owned()))
            .collect();
        let error =
            Error::usage(format!("{}: `{}` is no value for `{key}`", text.place, text.text));
        with_suggestion(error, &text.text, names.iter().map(String::as_str))
    })
}

/// What contradicts itself in an entry whose parts are right.
fn check(entry: &CommandEntry) -> Result<()> {
    let place = &entry.place;
    let unused = entry.parameters.iter().find(|p| !entry.uses("params") && !entry.uses(&p.name));
    if let Some(Parameter { name, .. }) = unused {
        return Err(Error::usage(format!("{place}: the parameter `{name}` is used nowhere")).help(
            format!("write `{{{name}}}` where its value belongs, or `{{params}}` for `{name}=...`"),
        ));
    }
    if entry.bin.is_some() && !entry.uses("bin") {
        return Err(Error::usage(format!("{place}: `bin` is used nowhere"))
            .help("write `{bin}` where the path of the program belongs"));
    }
    let count = combination_count(&entry.parameters);
    if count > MOST_COMBINATIONS {
        return Err(Error::usage(format!("{place}: the parameters have {count} combinations"))
            .help(format!("at most {MOST_COMBINATIONS} can be measured")));
    }
    Ok(())
}
