//! The `git` program, and the repository that the user stands in.

use crate::system::untie;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::system::process::Stderr;
use crate::system::{Error, Result, process};

/// No hooks (fsmonitor is one too), and no repository that older versions of git cannot read afterwards.
const SETTINGS: [&str; 4] = [
    "advice.detachedHead=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "worktree.useRelativePaths=false",
];

/// A git command that ran and failed.
#[derive(Debug)]
pub struct GitFailure(pub String);

/// What comes of running git: that it refuses may be an answer too.
pub type GitResult<T> = std::result::Result<T, GitFailure>;

/// Runs git in a directory. An error is an interrupt or a missing git.
///
/// No hooks, no prompts, English messages, and no opportunistic writes to the user's index.
pub fn try_git<S: AsRef<OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Result<GitResult<String>> {
    let mut command = Command::new("git");
    command
        .current_dir(directory)
        .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]))
        .args(arguments)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    untie(&mut command);
    let finished = process::run(command, Stderr::Captured)?;
    if !finished.status.success() {
        let message = finished.stderr.trim().trim_start_matches("fatal: ").to_owned();
        return Ok(Err(GitFailure(message)));
    }
    // Paths come NUL-separated; those that are not UTF-8 cannot be cargo's either.
    Ok(Ok(String::from_utf8_lossy(&finished.stdout).trim_end_matches('\n').to_owned()))
}

/// Runs git in a directory; any failure is an error that shows git's own message.
pub fn git<S: AsRef<OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Result<String> {
    let arguments: Vec<S> = arguments.into_iter().collect();
    let shown: Vec<_> =
        arguments.iter().map(|argument| argument.as_ref().to_string_lossy()).collect();
    let shown = format!("`git {}` failed in {}", shown.join(" "), directory.display());
    try_git(directory, arguments)?.map_err(|GitFailure(why)| {
        // Of a checkout on a full disk git says no more than the latter.
        let disk_may_be_full = ["No space left on device", "unable to write file"];
        let disk_may_be_full = disk_may_be_full.iter().any(|text| why.contains(text));
        let error = Error::comparison(shown).because(why);
        if disk_may_be_full {
            error.help("if the disk is full, free some space; `cargo bench-compare clean` removes what was kept between runs")
        } else {
            error
        }
    })
}

/// The entries of a NUL-separated list.
pub fn nul_separated(text: &str) -> impl Iterator<Item = &str> {
    text.split('\0').filter(|entry| !entry.is_empty())
}

/// The repository in which the comparison was asked for.
#[derive(Debug, Clone)]
pub struct Repository {
    root: PathBuf,
    common_directory: PathBuf,
    prefix: PathBuf,
    bare: bool,
}

impl Repository {
    /// Finds the repository around a directory.
    pub fn discover(directory: &Path) -> Result<Self> {
        let query = ["rev-parse", "--is-bare-repository", "--git-common-dir"];
        let answer = try_git(directory, query)?.map_err(|failure| {
            let GitFailure(why) = failure;
            let error = Error::comparison(format!(
                "{} is not in a git repository that can be read",
                directory.display()
            ))
            .because(&why);
            if why.contains("safe.directory") {
                error.help("the repository belongs to another user; git's message says how to allow it")
            } else {
                error.help("run cargo bench-compare inside the repository whose revisions you want to compare")
            }
        })?;
        let (bare, common) = answer.split_once('\n').unwrap_or((&answer, ".git"));
        let common_directory = canonical(&directory.join(common))?;
        if bare == "true" {
            let root = common_directory.clone();
            return Ok(Self { root, common_directory, prefix: PathBuf::new(), bare: true });
        }
        let root = canonical(Path::new(&git(directory, ["rev-parse", "--show-toplevel"])?))?;
        let prefix = canonical(directory)?;
        let prefix = prefix.strip_prefix(&root).unwrap_or(Path::new("")).to_owned();
        Ok(Self { root, common_directory, prefix, bare: false })
    }

    /// The top directory of the user's working tree (the git directory of a bare repository).
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The git directory that all worktrees of the repository share.
    pub fn common_directory(&self) -> &Path {
        &self.common_directory
    }

    /// Where in the working tree the user stands, relative to [`root`](Self::root).
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// Whether the repository has no working tree of its own.
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// Whether history was cut when the repository was cloned.
    pub fn is_shallow(&self) -> Result<bool> {
        Ok(self.git(["rev-parse", "--is-shallow-repository"])? == "true")
    }

    pub(super) fn git<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<String> {
        git(&self.root, arguments)
    }

    pub(super) fn try_git<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<GitResult<String>> {
        try_git(&self.root, arguments)
    }
}

fn canonical(path: &Path) -> Result<PathBuf> {
    Ok(fs_err::canonicalize(path)?)
}
