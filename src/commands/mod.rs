//! Whole commands as benchmarks: programs of any kind, started over and over again on every side.
//!
//! In: commands as the user describes them, and where the sides lie. Out: benchmarks behind the traits of
//! [`harness`](crate::harness). What a command does and prints is not trusted; no shell has a part in starting it.

mod benchmarks;
mod entry;
mod launcher;
mod programs;
mod rates;
mod settings;
mod sides;
mod sweep;
mod template;

pub use entry::{CommandEntry, PLACEHOLDERS, Quantity};
pub use launcher::{Account, MEASURE_SUBCOMMAND, measure_run, measured, read_account};
pub use programs::{PrebuiltProgram, in_order, labelled};
pub use rates::{Rate, rates};
pub use settings::{CommandSettings, Only};
pub use sides::{CommandSide, CommandTaker, PACKAGE, TakenCommands, Worktree, ad_hoc};
pub use sweep::{Combination, Parameter, Setting, count as combination_count};
pub use template::{Template, Value};
