//! The subcommand `publish`: its arguments, and what they mean. A program without the cargo feature `github`
//! knows it too, and says how to get one with it.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::system::Result;

#[derive(Debug, Args)]
pub struct PublishArguments {
    /// The results file
    #[arg(required_unless_present = "announce")]
    file: Option<PathBuf>,
    /// Say that benchmarks have started; the results will take its place
    #[arg(long, conflicts_with_all = ["file", "output"])]
    announce: bool,
    /// The repository on GitHub [default: the workflow's]
    #[arg(long, value_name = "OWNER/NAME", requires = "pr")]
    repo: Option<String>,
    /// The number of the pull request [default: the one that the workflow's event is about]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pr: Option<u64>,
    /// How it is published
    #[arg(long, value_enum, default_value_t = Mode::Review, value_name = "HOW")]
    mode: Mode,
    /// Reports with different keys do not update each other [default: the workflow's name]
    #[arg(long)]
    key: Option<String>,
    /// Make a check as well, with remarks at the benchmarks' sources
    #[arg(long, conflicts_with = "announce")]
    check: bool,
    /// Only reports of this user are updated [default: the token's]
    #[arg(long, value_name = "USER")]
    author: Option<String>,
    /// Write the report as Markdown to this file, too
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print what would be sent to GitHub, and send nothing
    #[arg(long)]
    dry_run: bool,
    /// Give up on a request that has no answer for so long
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = crate::config::timeout)]
    timeout: Duration,
}

/// How results are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// As a review, which every further run updates
    Review,
    /// As a comment, which every further run updates
    Comment,
    /// As a new review for each run
    New,
    /// Only in the job's summary and the step's outputs
    None,
}

impl PublishArguments {
    /// Publishes.
    #[cfg(feature = "github")]
    pub fn run(self) -> Result<()> {
        use crate::github;
        use crate::github::{Patience, Settings};
        use crate::system::Error;

        let wrong = |option: &'static str| move |why: String| Error::usage(option).because(why);
        let settings = Settings {
            file: self.file,
            output: self.output,
            repository: self.repo.map(|repo| repo.parse()).transpose().map_err(wrong("--repo"))?,
            pull_request: self.pr,
            mode: match self.mode {
                Mode::Review => github::Mode::Review,
                Mode::Comment => github::Mode::Comment,
                Mode::New => github::Mode::New,
                Mode::None => github::Mode::None,
            },
            key: self.key.map(|key| key.parse()).transpose().map_err(wrong("--key"))?,
            check: self.check,
            author: self.author,
            dry_run: self.dry_run,
            patience: Patience { answer: self.timeout, ..Patience::default() },
        };
        let variable = |name: &str| std::env::var(name).ok();
        // Nobody reading any more is no reason to stop.
        let show = |text: &str| _ = super::output::print_to_stdout(text);
        github::publish(&settings, &variable, &super::terminal::Terminal::new(), &show)
            .map_err(|error| with_file(error, settings.file.as_deref()))
    }

    /// There is nothing to publish with.
    #[cfg(not(feature = "github"))]
    pub fn run(self) -> Result<()> {
        use crate::system::Error;

        let Self { file, announce, repo, pr, mode, key, check, author, output, dry_run, timeout } =
            self;
        _ = (file, announce, repo, pr, mode, key, check, author, output, dry_run, timeout);
        Err(Error::usage("this program was built without publishing on GitHub")
            .because("its cargo feature `github` was left out")
            .help("install it with that: cargo install cargo-bench-compare --features github"))
    }
}

/// Whatever happened, the results are not lost.
#[cfg(feature = "github")]
fn with_file(error: crate::system::Error, file: Option<&std::path::Path>) -> crate::system::Error {
    match file {
        Some(file) if error.kind() == crate::system::ErrorKind::Publishing => {
            error.help(format!("the results are still in {}", file.display()))
        }
        _ => error,
    }
}
