//! Standard output and `--output`: results in every form.

use std::io::Write;
use std::path::Path;

use fs_err as fs;

use crate::report::{
    MarkdownOptions, Table, bencher, csv, github_action_benchmark, html, markdown, table,
};
use crate::results::Results;
use crate::system::{Error, Result};

use super::arguments::{Format, Presentation};

/// Shows results in the form and in the place that were asked for.
pub fn present(results: &Results, presentation: &Presentation) -> Result<()> {
    let to_stdout = presentation.output.is_none();
    let text = match presentation.format {
        Format::Table => {
            let terminal = || terminal_size::terminal_size_of(std::io::stdout());
            let width = match presentation.width {
                Some(width) => Some(width),
                None if to_stdout => terminal().map(|(width, _)| width.0),
                None => None,
            };
            table(
                results,
                Table {
                    color: to_stdout,
                    width: width.map(usize::from),
                    sort: presentation.sort.unwrap_or_default(),
                    all: presentation.all,
                },
            )
        }
        Format::Markdown => markdown(results, &markdown_options(presentation)),
        Format::Csv => csv(results),
        Format::Json => results.to_json(),
        Format::Html => html(results),
        Format::Bencher => bencher(results),
        Format::GithubActionBenchmark => github_action_benchmark(results),
    };
    show(&text, presentation)
}

/// How Markdown is to be, as far as it was said.
pub fn markdown_options(presentation: &Presentation) -> MarkdownOptions {
    MarkdownOptions {
        repository_url: presentation.repository_url.clone(),
        ci_url: presentation.ci_url.clone(),
        ..MarkdownOptions::default()
    }
}

/// Puts a text in the place that was asked for.
pub fn show(text: &str, presentation: &Presentation) -> Result<()> {
    match (&presentation.output, presentation.format) {
        (Some(file), _) => write_output(file, text),
        (None, Format::Table) => print_to_stdout(text),
        // For machines, byte for byte.
        (None, _) => written(std::io::stdout().write_all(text.as_bytes())),
    }
}

fn write_output(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).map_err(|error| Error::usage("cannot write the output").because(error))
}

/// Prints text. Colours are taken out on the way unless standard output is a terminal that wants them.
pub fn print_to_stdout(text: &str) -> Result<()> {
    written(anstream::stdout().write_all(text.as_bytes()))
}

fn written(result: std::io::Result<()>) -> Result<()> {
    match result {
        // Whoever reads has read enough: `| head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}
