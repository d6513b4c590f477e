//! What the program prints: help, tables, errors, and the results file.
//!
//! Snapshots are made anew with `SNAPSHOTS=overwrite cargo test --test it output`.

mod agreement;
mod exports;
mod files;
pub mod handmade;
mod help;
mod markdown;
mod page;
mod runs;
mod tables;

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{PROGRAM, Run};

/// The program, run where there is no repository and no terminal.
fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .env("COLUMNS", "100")
        .env("CARGO_BENCH_COMPARE_CACHE", directory.join("cache"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(name);
    }
    command
}

fn run(directory: &Path, arguments: &[&str]) -> Run {
    Run::of(command(directory, arguments).output().unwrap())
}
