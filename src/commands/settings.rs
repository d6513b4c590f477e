//! What the user wants of the commands.

use super::{CommandEntry, PrebuiltProgram, Setting};

/// The commands of a comparison.
#[derive(Debug, Clone, Default)]
pub struct CommandSettings {
    /// The commands.
    pub entries: Vec<CommandEntry>,
    /// What parameters are set to.
    pub settings: Vec<Setting>,
    /// Prebuilt programs that are compared instead of revisions, the reference first.
    pub programs: Vec<PrebuiltProgram>,
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
