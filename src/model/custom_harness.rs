//! What programs with a custom harness print.

/// What an executable with a harness of its own prints, as the configuration says. Only then is it run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum CustomHarness {
    /// One JSON object a line (docs/harnesses.md).
    JsonLines,
    /// Lines as those of `#[bench]`.
    Libtest,
}
