//! Whole commands as benchmarks: programs of any kind, started over and over again on every side.
//!
//! In: commands as the user describes them, and where the sides lie. Out: benchmarks behind the traits of
//! [`harness`](crate::harness). What a command does and prints is not trusted; no shell has a part in starting it.

mod entry;
mod launcher;
mod programs;
mod rates;
mod sides;
mod sweep;
mod template;

pub use entry::{CommandEntry, PLACEHOLDERS, Quantity};
pub use launcher::{Account, MEASURE_SUBCOMMAND, measure_run, measured, read_account};
pub use programs::{Program, in_order, labelled};
pub use rates::{Rate, rates};
pub use sides::{CommandSide, CommandTaker, PACKAGE, TakenCommands, Worktree, ad_hoc};
pub use sweep::{Combination, Parameter, Setting, count as combination_count};
pub use template::{Template, Value};

/// The commands of a comparison.
#[derive(Debug, Clone, Default)]
pub struct CommandSettings {
    /// The commands.
    pub entries: Vec<CommandEntry>,
    /// What parameters are set to.
    pub settings: Vec<Setting>,
    /// Prebuilt programs that are compared instead of revisions, the reference first.
    pub programs: Vec<Program>,
    /// What is measured where both cargo's benchmarks and commands could be.
    pub only: Option<Only>,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Only {
    /// Cargo's benchmarks
    Benches,
    /// Commands
    Commands,
}
