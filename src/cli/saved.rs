//! What is done with results that have been saved: shown again, merged. Measures nothing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::report::{agreement_markdown, agreement_table, one_line};
use crate::results::{self, NamedResults, Results};
use crate::revision::position_of;
use crate::system::{Error, Observer, Result};

use super::arguments::{Format, MergeArguments, Presentation, ReportArguments};
use super::output::{markdown_options, present, print_to_stdout, show};
use super::terminal::Terminal;
use super::{GATE_TRIPPED, files, last_results};

/// Shows saved results, one file after the other.
pub fn report(arguments: &ReportArguments) -> Result<ExitCode> {
    let files = match &arguments.files[..] {
        [] => vec![last_results()?],
        files => files.to_vec(),
    };
    // All are read before anything is shown.
    let several = files.len() > 1;
    let all = files.iter().map(|file| rederived(file, arguments)).collect::<Result<Vec<_>>>()?;
    if arguments.agree {
        let names = files.iter().map(|file| file.display().to_string());
        return agree(&names.zip(all).collect::<Vec<_>>(), &arguments.presentation);
    }
    if several && arguments.presentation.format == Format::Html {
        return Err(Error::usage("a page shows the results of one file")
            .help("make a page of each file, with --output"));
    }
    if several && arguments.presentation.output.is_some() {
        return Err(Error::usage("the results of several files cannot be written to one")
            .help("name a single results file with --output"));
    }
    let one_document = [Format::Bencher, Format::GithubActionBenchmark];
    if several && one_document.contains(&arguments.presentation.format) {
        return Err(Error::usage("this format has one document for one results file")
            .help("name a single results file, or merge them: cargo bench-compare merge FILE..."));
    }
    for (file, results) in files.iter().zip(&all) {
        if several && arguments.presentation.format == Format::Table {
            print_to_stdout(&format!("== {}\n", one_line(&file.display().to_string())))?;
        }
        present(results, &arguments.presentation)?;
        if several && arguments.presentation.format == Format::Table {
            print_to_stdout("\n")?;
        }
    }
    // Without the option nothing is judged, only shown.
    let is_tripped = arguments.gate.is_some() && all.iter().any(Results::trips_gate);
    Ok(if is_tripped { ExitCode::from(GATE_TRIPPED) } else { ExitCode::SUCCESS })
}

/// Says whether the runs agree.
fn agree(runs: &[NamedResults], presentation: &Presentation) -> Result<ExitCode> {
    if runs.len() < 2 {
        return Err(Error::usage("one run alone cannot agree or disagree")
            .help("name two results files or more: cargo bench-compare report first.json second.json --agree"));
    }
    let agreement = results::agreement(runs)?;
    let text = match presentation.format {
        Format::Table => agreement_table(&agreement),
        Format::Markdown => agreement_markdown(&agreement, &markdown_options(presentation)),
        Format::Json => {
            let json = serde_json::to_string_pretty(&agreement).map_err(std::io::Error::from)?;
            json + "\n"
        }
        _ => {
            return Err(Error::usage("agreement is shown as a table, as Markdown or as JSON")
                .help("leave out --format, or give --format markdown or --format json"));
        }
    };
    show(&text, presentation)?;
    Ok(ExitCode::SUCCESS)
}

/// The results of a file with the reference, the margin and the gate that are asked for.
fn rederived(file: &Path, arguments: &ReportArguments) -> Result<Results> {
    let mut results = Results::load(file)?;
    if let Some(gate) = arguments.gate {
        results.gate = gate.into();
        results.derive_comparisons();
    }
    if let Some(margin) = arguments.margin {
        results.margin_percent = margin;
        results.derive_comparisons();
    }
    let Some(label) = &arguments.against else { return Ok(results) };
    let labels: Vec<&str> = results.revisions.iter().map(|r| r.label.as_str()).collect();
    let reference = position_of(label, &labels).map_err(|error| error.on_side(file.display()))?;
    Ok(results.against(reference))
}

/// Makes one comparison of several results, saves and shows it.
pub fn merge(arguments: &MergeArguments) -> Result<ExitCode> {
    files::check(arguments.save.as_deref(), arguments.presentation.output.as_deref())?;
    let load = |file: &PathBuf| -> Result<(String, Results)> {
        let mut results = Results::load(file)?;
        if let Some(margin) = arguments.margin {
            results.margin_percent = margin;
        }
        if let Some(gate) = arguments.gate {
            results.gate = gate.into();
        }
        Ok((file.display().to_string(), results))
    };
    let all = arguments.files.iter().map(load).collect::<Result<Vec<_>>>()?;
    let merged = results::merge(all)?;
    if let Some(file) = &arguments.save {
        merged.save(file)?;
    }
    present(&merged, &arguments.presentation)?;
    if let Some(file) = &arguments.save {
        Terminal::new().status("Saved", &file.display().to_string());
    }
    let is_tripped = arguments.gate.is_some() && merged.trips_gate();
    Ok(if is_tripped { ExitCode::from(GATE_TRIPPED) } else { ExitCode::SUCCESS })
}
