//! From the arguments of the process to its exit code.

use super::all_option_keys;
use std::path::PathBuf;
use std::process::ExitCode;

use fs_err as fs;

use crate::build;
use crate::commands::measure_run;
use crate::config::{self, Config};
use crate::model::Side;
use crate::node_compare;
use crate::plan::{Plan, Skipped};
use crate::report::{natural_order, one_line, printable};
use crate::revision::{Cache, Repository};
use crate::session::{self, Outcome, Settings, What, demo, doctor};
use crate::system::{Error, Observer, Result, interrupt};

use super::arguments::{AnalyzeArguments, Arguments, Command, Presentation};
use super::configured::Refused;
use super::output::{present, print_to_stdout};
use super::terminal::{Terminal, print_error, print_line};

/// The exit code of a comparison that came to its end, but not to the end that the user wants.
pub(super) const GATE_TRIPPED: u8 = 1;

/// Runs the program with the process's own arguments.
pub fn main() -> ExitCode {
    if let Some(code) = build::stand_in_for_another() {
        return code;
    }
    let mut words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    // Cargo passes its subcommand's name on.
    if words.get(1).is_some_and(|word| word == "bench-compare") {
        words.remove(1);
    }
    let command = shown_command(&words);
    let (arguments, config) = match super::configured::parse(&words) {
        Ok(parsed) => parsed,
        Err(Refused::Configuration(error)) => {
            print_error(&error);
            return error.exit_code();
        }
        Err(Refused::Arguments(error)) => {
            // Help and version are no errors, and go to standard output.
            let code = if error.use_stderr() { 2 } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    if let Some(color) = arguments.color() {
        color.write_global();
    }
    run(arguments, config, command).unwrap_or_else(|error| {
        print_error(&error);
        error.exit_code()
    })
}

fn run(arguments: Arguments, config: Config, command: String) -> Result<ExitCode> {
    if let Some(Command::RecordLaunch { launch }) = arguments.command {
        build::record_launch(launch)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(Command::MeasureRun { account, words }) = arguments.command {
        measure_run(&account, words)?;
        return Ok(ExitCode::SUCCESS);
    }
    interrupt::install_handler()?;
    for note in &config.notes {
        Terminal::new().warn(note);
    }
    match arguments.command {
        None => {
            let mut settings = arguments.comparison.settings(command, std::env::current_dir()?)?;
            settings.what = settings.what.configured(config);
            run_comparison(&settings, &arguments.comparison.presentation)
        }
        Some(Command::List(arguments)) => run_list(&arguments.what()?.configured(config)),
        Some(Command::Report(arguments)) => super::saved::report(&arguments),
        Some(Command::Merge(arguments)) => super::saved::merge(&arguments),
        Some(Command::Analyze(arguments)) => run_analyze(&arguments),
        Some(Command::Publish(arguments)) => {
            arguments.run()?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Demo(arguments)) => run_demo(command, &arguments.presentation),
        Some(Command::Doctor) => {
            let diagnosis = doctor::examine(Cache::from_environment()?, &Terminal::new())?;
            print_to_stdout(&doctor::text(&diagnosis))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Clean) => run_clean(),
        Some(Command::RecordLaunch { .. } | Command::MeasureRun { .. }) => {
            unreachable!("handled above")
        }
    }
}

/// The command as the user would type it, for the report.
fn shown_command(words: &[std::ffi::OsString]) -> String {
    let words = words.iter().skip(1).map(|word| word.to_string_lossy());
    let quoted = words.map(|word| match shlex::try_quote(&word) {
        Ok(quoted) => quoted.into_owned(),
        Err(_) => word.clone().into_owned(),
    });
    ["cargo".to_owned(), "bench-compare".to_owned()]
        .into_iter()
        .chain(quoted)
        .collect::<Vec<_>>()
        .join(" ")
}

fn run_comparison(settings: &Settings, presentation: &Presentation) -> Result<ExitCode> {
    super::files::check(settings.save.as_deref(), presentation.output.as_deref())?;
    let Outcome { results, stopped, .. } = session::compare(settings, &Terminal::new())?;
    present(&results, presentation)?;
    if let Some(file) = &settings.save {
        Terminal::new().status("Saved", &file.display().to_string());
    }
    Ok(match stopped {
        Some(error) => {
            print_error(&error);
            error.exit_code()
        }
        None if results.trips_gate() => ExitCode::from(GATE_TRIPPED),
        None if results.failed.is_empty() => ExitCode::SUCCESS,
        None => ExitCode::from(3),
    })
}

fn run_list(what: &What) -> Result<ExitCode> {
    let listing = session::list(what, &Terminal::new())?;
    print_to_stdout(&list_text(&listing.plan, listing.labels.len()))?;
    Ok(if listing.plan.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

/// One line a benchmark: its full name, and what is special about it.
fn list_text(plan: &Plan, sides: usize) -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    for (name, benchmark) in plan.benchmarks() {
        let name = format!("{}::{}::{}", name.package, name.target, name.benchmark);
        if benchmark.work().is_some() {
            lines.push((name.clone(), String::new()));
        }
        let mut special = |what: String| lines.push((name.clone(), what));
        for (side, other) in benchmark.same_code() {
            special(match other {
                Side::REFERENCE if sides > 2 => format!("identical code on {side}"),
                Side::REFERENCE => "identical code".to_owned(),
                _ => format!("the code of {other} on {side}"),
            });
        }
        benchmark.added_on().for_each(|side| special(format!("only on {side}")));
        benchmark.removed_on().for_each(|side| special(format!("not on {side}")));
    }
    for Skipped { target, benchmark, reason } in &plan.skipped {
        let benchmark = benchmark.as_deref().unwrap_or("*");
        lines.push((format!("{target}::{benchmark}"), format!("set aside: {}", one_line(reason))));
    }
    lines.sort_by(|a, b| natural_order(&a.0, &b.0));
    let mut text = String::new();
    for (name, what) in lines {
        let name = one_line(&name);
        text += &if what.is_empty() { format!("{name}\n") } else { format!("{name}  ({what})\n") };
    }
    for failed in &plan.failed {
        let reason = printable(&failed.reason);
        text += &format!("{}  (failed on {}: {reason})\n", failed.target, failed.side);
    }
    text
}

fn run_demo(command: String, presentation: &Presentation) -> Result<ExitCode> {
    let repository = demo::Repository::create(Cache::from_environment()?)?;
    let settings = repository.settings(command);
    print_line(demo::INTRODUCTION);
    let code = run_comparison(&settings, presentation)?;
    print_line(demo::CONCLUSION);
    Ok(code)
}

/// Compares every binary of a Node.js CSV file with one of them.
fn run_analyze(arguments: &AnalyzeArguments) -> Result<ExitCode> {
    let text = fs::read_to_string(&arguments.file)
        .map_err(|error| Error::usage("cannot read the file").because(error))?;
    let rates = node_compare::parse(&text)?;
    let reference = reference_binary(&rates.binaries, arguments.against.as_deref())?;
    let others: Vec<&String> = rates.binaries.iter().filter(|name| *name != reference).collect();
    if others.is_empty() {
        // So that every benchmark is said to have no other side.
        let (rows, not_compared) = node_compare::compare_rates(&rates, "old", "new");
        print_to_stdout(&node_compare::render(&rows, &not_compared))?;
    }
    for other in &others {
        if others.len() > 1 {
            print_to_stdout(&format!("{other} against {reference}\n"))?;
        }
        let (rows, not_compared) = node_compare::compare_rates(&rates, reference, other);
        print_to_stdout(&(node_compare::render(&rows, &not_compared) + "\n"))?;
    }
    for stray in &rates.stray {
        let text = format!("line {}: {}; it was skipped", stray.line, stray.reason);
        Terminal::new().warn(&text);
    }
    Ok(ExitCode::SUCCESS)
}

/// The one that is named, else `old`, else the first.
fn reference_binary<'a>(binaries: &'a [String], named: Option<&str>) -> Result<&'a String> {
    let wanted = named.unwrap_or("old");
    match (binaries.iter().find(|name| *name == wanted), named) {
        (Some(binary), _) => Ok(binary),
        (None, None) => Ok(&binaries[0]),
        (None, Some(named)) => Err(Error::usage(format!("the file has no binary `{named}`"))
            .help(format!("it has: {}", binaries.join(", ")))),
    }
}

fn run_clean() -> Result<ExitCode> {
    let (cache, directory) = (Cache::from_environment()?, std::env::current_dir()?);
    let removed = match Repository::discover(&directory) {
        Ok(repository) => cache.clean(&repository)?,
        // Programs may have been compared here.
        Err(error) => match cache.clean_directory(&directory)? {
            None => return Err(error),
            removed => removed,
        },
    };
    match removed {
        Some(directory) => print_to_stdout(&format!("removed {}\n", directory.display()))?,
        None => print_to_stdout("there was nothing to remove\n")?,
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn last_results() -> Result<PathBuf> {
    let directory = std::env::current_dir()?;
    let file = session::results_in(&Cache::from_environment()?, &directory);
    if file.exists() {
        return Ok(file);
    }
    // Outside of a repository that is why there are none.
    Repository::discover(&directory)?;
    Err(Error::usage("nothing has been compared in this repository yet")
        .help("name a results file, or run a comparison first: cargo bench-compare main..HEAD"))
}

/// The JSON Schema of `bench-compare.toml`.
pub fn configuration_schema() -> serde_json::Value {
    config::json_schema(&all_option_keys())
}
