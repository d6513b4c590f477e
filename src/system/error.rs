//! Errors as a user meets them: what failed, why, and what to do next.

use std::fmt;
use std::process::ExitCode;

/// The result of everything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure it is; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Wrong usage or configuration: exit code 2.
    Usage,
    /// The comparison could not be made (git, a build, a benchmark): exit code 3.
    Comparison,
    /// Results could not be published: exit code 4.
    Publishing,
    /// Ctrl-C or a request to terminate: exit code 130.
    Interrupted,
}

/// A failure in words: what failed (and on which side), why, and what to do next.
#[derive(Debug, Clone)]
pub struct Error {
    kind: ErrorKind,
    what: String,
    why: Vec<String>,
    help: Vec<String>,
}

impl Error {
    /// Wrong usage or configuration.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, what)
    }

    /// The comparison, or a part of it, could not be made.
    pub fn comparison(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Comparison, what)
    }

    /// Results could not be published, and are still where they were.
    pub fn publishing(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Publishing, what)
    }

    /// The user asked to stop.
    pub fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted")
    }

    fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), why: Vec::new(), help: Vec::new() }
    }

    /// Says on which side it happened: `base (main, 1a2b3c4d5)`. An interrupt has no side.
    #[must_use]
    pub fn on_side(mut self, side: impl fmt::Display) -> Self {
        if self.kind != ErrorKind::Interrupted {
            self.what = format!("{side}: {}", self.what);
        }
        self
    }

    /// Adds a reason. Several are printed in the order in which they were added.
    #[must_use]
    pub fn because(mut self, why: impl fmt::Display) -> Self {
        self.why.push(why.to_string());
        self
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The process exit code for it.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            ErrorKind::Usage => 2,
            ErrorKind::Comparison => 3,
            ErrorKind::Publishing => 4,
            ErrorKind::Interrupted => 130,
        })
    }
}

/// Several lines: what failed, then the reasons, then the help.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        for (name, lines) in [("because", &self.why), ("help", &self.help)] {
            for line in lines {
                write!(f, "\n  {name}: {}", line.trim_end().replace('\n', "\n    "))?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        let out_of_space = error.kind() == std::io::ErrorKind::StorageFull;
        let error = Self::comparison("a file operation failed").because(error);
        if out_of_space {
            error.help("free some disk space; `cargo bench-compare clean` removes what was kept between runs")
        } else {
            error
        }
    }
}
