//! The configuration: `bench-compare.toml`, and the metadata in Cargo manifests.
//!
//! In: the directory of the comparison, and the options that there are. Out: the options that are configured, as words
//! of the command line; rules for some of the benchmarks; commands. Arguments come before the file, the file before the
//! manifests (docs/configuration.md). Knows nothing of git.

mod command;
#[cfg(fuzzing)]
pub mod fuzzing;
mod load;
mod options;
mod places;
mod reader;
mod schema;
mod values;

pub use load::{Config, Search};
pub use options::{ConfiguredOption, OptionKey, OptionKind, option_keys};
pub use places::FILE_NAME;
pub use reader::Scalar;
pub use schema::json_schema;
pub use values::{margin, timeout};

#[cfg(fuzzing)]
use load::ConfigTable;
