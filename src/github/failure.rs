//! What can go wrong with a request, and what is said of it.

use std::error::Error as StdError;
use std::time::{Duration, SystemTime};

use hyper_util::client::legacy::Error as HttpError;
use octocrab::{Error as OctocrabError, GitHubError};

use crate::report::one_line;
use crate::system::Error;

/// Why a request had no success.
#[derive(Debug)]
pub enum Failure {
    /// GitHub, or something before it, said no.
    Answer(Box<Answer>),
    /// No whole answer came, or it is not known what it means.
    NoAnswer {
        /// Why, in words.
        why: String,
        /// Whether the request may have reached GitHub.
        sent: bool,
    },
    /// The user asked to stop.
    Interrupted(Error),
}

/// An answer that says no.
#[derive(Debug)]
pub struct Answer {
    status: u16,
    message: String,
    /// What a token must be allowed to do for this: `pull_requests=write`.
    permissions: Option<String>,
    /// How long GitHub asks to wait.
    retry_after: Option<Duration>,
    /// When there will be requests again, if there are none now.
    exhausted_until: Option<SystemTime>,
}

/// What was to be done when it failed: decides what is said.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// `post the review on me/project#3`
    pub what: &'a str,
    /// The permissions that it needs, as a workflow names them: `pull-requests: write`.
    pub permission: &'a str,
    /// Whether the pull request comes from a fork.
    pub fork: bool,
}

impl Failure {
    /// What octocrab says.
    pub fn of(error: &OctocrabError) -> Self {
        match error {
            OctocrabError::GitHub { source, .. } => Self::Answer(Box::new(Answer::of(source))),
            OctocrabError::Json { source, .. } => Self::NoAnswer {
                why: format!("the answer is not what GitHub's interface describes: {source}"),
                sent: true,
            },
            other => Self::NoAnswer { why: chain(other), sent: !is_about_connecting(other) },
        }
    }

    /// No answer within this time.
    pub fn late(patience: Duration) -> Self {
        let patience = humantime::format_duration(patience);
        Self::NoAnswer { why: format!("no answer within {patience}"), sent: true }
    }

    /// The user asked to stop.
    pub fn interrupted(error: Error) -> Self {
        Self::Interrupted(error)
    }

    /// Whether it may have been done in spite of the failure.
    pub fn is_unclear(&self) -> bool {
        match self {
            Self::Answer(answer) => answer.status >= 500,
            Self::NoAnswer { sent, .. } => *sent,
            Self::Interrupted(_) => false,
        }
    }

    /// Whether it was certainly not done, and may be done if it is tried again.
    pub fn was_not_looked_at(&self) -> bool {
        match self {
            Self::Answer(answer) => answer.is_rate_limit(),
            Self::NoAnswer { sent, .. } => !sent,
            Self::Interrupted(_) => false,
        }
    }

    /// The status of the answer, if there was one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Answer(answer) => Some(answer.status),
            _ => None,
        }
    }

    /// How long GitHub asks to wait before the next request.
    pub fn wait_asked_for(&self) -> Option<Duration> {
        let Self::Answer(answer) = self else { return None };
        let until = |time: SystemTime| time.duration_since(SystemTime::now()).unwrap_or_default();
        answer.retry_after.or_else(|| answer.exhausted_until.map(until))
    }

    /// In words, with what to do about it.
    pub fn explain(self, attempt: Attempt) -> Error {
        let error = Error::publishing(format!("could not {}", attempt.what));
        match self {
            Self::Interrupted(error) => error,
            Self::NoAnswer { why, sent } => {
                let error = error.because(in_one_line(&why));
                if why.contains("certificate") {
                    error.help(
                        "if your GitHub has a certificate of its own, name it with SSL_CERT_FILE",
                    )
                } else if sent {
                    error.help("try again: publishing twice makes no second review")
                } else {
                    error
                        .help("is the network there, and is GITHUB_API_URL right?")
                        .help("HTTPS_PROXY names a proxy if there is one")
                }
            }
            Self::Answer(answer) => answer.explain(error, attempt),
        }
    }
}

impl Answer {
    fn of(error: &GitHubError) -> Self {
        let header = |name: &str| {
            let value = error.headers.as_ref()?.get(name)?;
            Some(value.to_str().ok()?.to_owned())
        };
        let seconds = |name: &str| header(name)?.parse().ok();
        let exhausted = header("x-ratelimit-remaining").is_some_and(|left| left == "0");
        let reset = || seconds("x-ratelimit-reset").map(Duration::from_secs);
        let details = error.errors.iter().flatten().map(|detail| match detail {
            serde_json::Value::String(text) => text.clone(),
            other => other
                .get("message")
                .and_then(|m| m.as_str())
                .map_or_else(|| other.to_string(), str::to_owned),
        });
        let message: Vec<String> = std::iter::once(error.message.clone()).chain(details).collect();
        Self {
            status: error.status_code.as_u16(),
            message: message.join("; ").chars().take(1000).collect(),
            permissions: header("x-accepted-github-permissions"),
            retry_after: seconds("retry-after").map(Duration::from_secs),
            exhausted_until: reset()
                .filter(|_| exhausted)
                .and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since)),
        }
    }

    fn is_rate_limit(&self) -> bool {
        let asked = self.retry_after.is_some() || self.exhausted_until.is_some();
        self.status == 429 || (self.status == 403 && (asked || self.message.contains("rate limit")))
    }

    fn explain(&self, error: Error, attempt: Attempt) -> Error {
        let Self { status, message, .. } = self;
        let error = error.because(format!("GitHub answered {status}: {}", in_one_line(message)));
        if self.is_rate_limit() {
            return error.help(match self.exhausted_until {
                Some(time) => {
                    let time = humantime::format_rfc3339_seconds(time);
                    format!("this token has no requests left until {time}; publish again then")
                }
                None => {
                    "too many requests in a short time; publish again in some minutes".to_owned()
                }
            });
        }
        match status {
            300..=399 => error.help("the repository has another name now; say it with --repo"),
            401 => error.help("the token is not valid (any more): look at GITHUB_TOKEN"),
            403 => self.explain_forbidden(error, attempt),
            404 => error
                .help("is the number of the pull request right, and the repository's name?")
                .help("a private repository is there only for tokens that may read it"),
            413 | 422 => error.help("publish with --dry-run shows what would be sent"),
            500.. => error.help("try again: publishing twice makes no second review"),
            _ => error,
        }
    }

    fn explain_forbidden(&self, error: Error, attempt: Attempt) -> Error {
        let missing = match &self.permissions {
            Some(names) => {
                let named = names.replace('_', "-").replace('=', ": ").replace(',', ", ");
                format!(
                    "GitHub says that the token needs one of: {}",
                    in_one_line(&named.replace(';', " or "))
                )
            }
            None => format!("the token needs `{}`", attempt.permission),
        };
        let error = error.because(missing);
        if attempt.fork {
            error
                .because("the pull request comes from a fork, whose runs get a token that may only read")
                .help("measure in the event pull_request, and publish from workflow_run: docs/github.md")
        } else {
            let permission = attempt.permission;
            error.help(format!("write it in the job:\n  permissions:\n    {permission}"))
        }
    }
}

/// What others say begins no line: a line in the log of a workflow may be taken for a command.
fn in_one_line(text: &str) -> String {
    one_line(&text.replace(['\n', '\r'], " "))
}

/// What happened, and why, and why that.
fn chain(error: &OctocrabError) -> String {
    let mut reasons: Vec<String> = Vec::new();
    let mut next: Option<&dyn StdError> = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        // Many repeat the text of their source.
        if !reasons.iter().any(|reason| reason.contains(&text)) {
            reasons.push(text);
        }
        next = error.source();
    }
    reasons.join(": ")
}

/// Whether not even a connection came about, so that nothing was sent.
fn is_about_connecting(error: &OctocrabError) -> bool {
    let mut next: Option<&dyn StdError> = Some(error);
    while let Some(error) = next {
        if error.downcast_ref::<HttpError>().is_some_and(HttpError::is_connect) {
            return true;
        }
        next = error.source();
    }
    false
}
