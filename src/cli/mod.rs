//! The command line: arguments in, output and exit codes out. Knows how nothing is done.

mod arguments;
mod commands;
mod configured;
mod files;
#[cfg(fuzzing)]
pub mod fuzzing;
mod output;
mod publish;
mod run;
mod saved;
mod terminal;

use configured::all_option_keys;
pub use run::{configuration_schema, main};

use run::{GATE_TRIPPED, last_results};
