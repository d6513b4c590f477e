//! What is published where, in which order, and what may fail.

use super::{Key, Mode, Patience, Repository};
use std::path::PathBuf;

use serde::Deserialize;

use crate::report::{answer, one_line};
use crate::results::Results;
use crate::stats::Verdict;
use crate::system::{Error, Observer, Result};

use super::body::Section;
use super::check::Check;
use super::client::Client;
use super::event::Context;
use super::post::{Done, Posts};
use super::pull_request::{Measured, PullRequest};

/// The file for the report in the runner's directory for temporary files, for the steps that follow.
const REPORT: &str = "cargo-bench-compare-report.md";

/// What is published, and how.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The results file. Without one, it is announced that benchmarks have started.
    pub file: Option<PathBuf>,
    /// A file to which the report is written as well, as Markdown.
    pub output: Option<PathBuf>,
    /// The repository, if the event is not to say it.
    pub repository: Option<Repository>,
    /// The pull request, if the event is not to say it.
    pub pull_request: Option<u64>,
    /// As what it is posted.
    pub mode: Mode,
    /// Which earlier report it updates. The workflow's, if nothing else is said.
    pub key: Option<Key>,
    /// Whether there is to be a check as well, with remarks at the benchmarks' sources.
    pub check: bool,
    /// Who has written the earlier report, if the token does not say it.
    pub author: Option<String>,
    /// Shows what would be sent instead of sending it.
    pub dry_run: bool,
    /// How long to wait for GitHub.
    pub patience: Patience,
}

/// An environment variable by its name.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Publishes results, or announces them. In a dry run, `show` gets what would be sent.
pub fn publish(
    settings: &Settings,
    variable: Variables,
    observer: &dyn Observer,
    show: &dyn Fn(&str),
) -> Result<()> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let context = Context::read(variable, (settings.repository.as_ref(), settings.pull_request))?;
    let results = settings.file.as_deref().map(super::untrusted::load).transpose()?;
    let outputs = Outputs::new(set("GITHUB_OUTPUT"), settings.dry_run);
    if let Some(results) = &results {
        // Before anything can go wrong on the way to GitHub.
        write_files(settings, &context, results, &set, &outputs, observer)?;
    }
    if settings.mode == Mode::None && !settings.check {
        return Ok(());
    }
    let token = set("GITHUB_TOKEN").or_else(|| set("GH_TOKEN"));
    if token.is_none() && !settings.dry_run {
        return Err(Error::usage("there is no token to publish with")
            .help("in a workflow's step, write `env: GITHUB_TOKEN: ${{ github.token }}`")
            .help("--dry-run shows without one what would be sent"));
    }
    let client = Client::new(&context.api, token.as_deref(), settings.patience.clone(), variable)?;
    let client = if settings.dry_run { client.only_showing(show) } else { client };
    let pull_request = match find(&client, &context, settings, results.as_ref(), observer)? {
        Ok(found) => found,
        // A branch need not have a pull request (yet), but who starts the program by hand means one.
        Err(why) if set("GITHUB_EVENT_NAME").is_some() => {
            observer.status("Skipped", &format!("nothing is posted: {why}"));
            return Ok(());
        }
        Err(why) => {
            return Err(Error::usage("it is not known which pull request to publish to")
                .because(why)
                .help("say it: --repo OWNER/NAME --pr NUMBER"));
        }
    };
    let measured = match &results {
        Some(results) => measured(&client, &context, &pull_request, results, settings, observer)?,
        None => Measured::Head(pull_request.head_of_event().to_owned()),
    };
    let publishing = Publishing {
        settings,
        context: &context,
        client: &client,
        pull_request: &pull_request,
        measured: &measured,
        results: results.as_ref(),
        observer,
        outputs: &outputs,
    };
    // The one is not to be missing because the other cannot be made.
    let posted = publishing.post(token.is_some());
    let checked = publishing.check();
    posted.and(checked)
}

/// Everything that is known when there is something to be sent.
struct Publishing<'a> {
    settings: &'a Settings,
    context: &'a Context,
    client: &'a Client<'a>,
    pull_request: &'a PullRequest,
    measured: &'a Measured,
    results: Option<&'a Results>,
    observer: &'a dyn Observer,
    outputs: &'a Outputs,
}

impl Publishing<'_> {
    /// The review or comment.
    fn post(&self, with_token: bool) -> Result<()> {
        if self.settings.mode == Mode::None {
            return Ok(());
        }
        let author = if with_token { Some(author(self.client, self.settings)?) } else { None };
        let posts = Posts {
            client: self.client,
            context: self.context,
            pull_request: self.pull_request,
            mode: self.settings.mode,
            key: &self.key(),
            author: author.as_deref(),
        };
        let (verb, address) = match posts.publish(self.section())? {
            Done::Shown => return Ok(()),
            Done::Posted { address, by_other } => {
                if let Some(author) = by_other.filter(|_| self.settings.mode != Mode::New) {
                    let author = one_line(&author);
                    self.observer
                        .warn(&format!("the next run will find it only with --author {author}"));
                }
                ("Posted", address)
            }
            Done::Updated(address) => ("Updated", address),
            Done::Unchanged(address) => ("Unchanged", address),
        };
        self.observer.status(verb, &address);
        let number = self.pull_request.number.to_string();
        self.outputs.set(&[("url", address), ("pull-request", number)])
    }

    /// What is put into the review: the report, or its announcement.
    fn section(&self) -> Section {
        let Self { context, measured, .. } = self;
        let (run, key) = (context.run.as_ref(), self.settings.key.as_ref());
        let Some(results) = self.results else {
            let text = super::report::announcement(context, key, measured.commit());
            return Section::new(measured.commit(), run, None, &text);
        };
        let remark = super::report::remark(measured, &self.pull_request.head);
        let room = super::body::MOST_OF_A_TABLE.saturating_sub(remark.len());
        let text = format!("{remark}{}", super::report::whole(results, context, key, room));
        Section::new(measured.commit(), run, Some(super::report::counts(results)), &text)
    }

    /// The check.
    fn check(&self) -> Result<()> {
        let Some(results) = self.results.filter(|_| self.settings.check) else { return Ok(()) };
        let commit = self.measured.commit();
        let check = Check { client: self.client, context: self.context, commit, key: &self.key() };
        let address = check.publish(results).map_err(|failure| {
            failure.explain(super::failure::Attempt {
                what: &format!("make a check of {commit}"),
                permission: "checks: write",
                fork: self.pull_request.fork,
            })
        })?;
        if let Some(address) = address {
            self.observer.status("Checked", &address);
        }
        Ok(())
    }

    fn key(&self) -> Key {
        let workflow = self.context.run.as_ref().map_or("", |run| run.workflow.as_str());
        self.settings.key.clone().unwrap_or_else(|| Key::of_workflow(workflow))
    }
}

/// The step's outputs, unless nothing is to be done in earnest.
struct Outputs(Option<PathBuf>);

impl Outputs {
    fn new(file: Option<String>, dry_run: bool) -> Self {
        Self(file.filter(|_| !dry_run).map(PathBuf::from))
    }

    fn set(&self, outputs: &[(&str, String)]) -> Result<()> {
        self.0.as_deref().map_or(Ok(()), |file| super::actions::set_outputs(file, outputs))
    }
}

/// The report, the job's summary and the step's outputs.
fn write_files(
    settings: &Settings,
    context: &Context,
    results: &Results,
    set: &dyn Fn(&str) -> Option<String>,
    outputs: &Outputs,
    observer: &dyn Observer,
) -> Result<()> {
    let key = settings.key.as_ref();
    let in_workflow = || set("RUNNER_TEMP").map(|temp| PathBuf::from(temp).join(REPORT));
    let output = settings.output.clone().or_else(|| in_workflow().filter(|_| !settings.dry_run));
    if let Some(file) = &output {
        fs_err::write(file, super::report::whole(results, context, key, usize::MAX))
            .map_err(|error| Error::publishing("cannot write the report").because(error))?;
    }
    if let Some(file) = set("GITHUB_STEP_SUMMARY").map(PathBuf::from)
        && !settings.dry_run
    {
        match super::actions::room_in_summary(&file) {
            0..1000 => observer.warn("the summary of this job is full, so the report is not in it"),
            room => {
                super::actions::add_summary(
                    &file,
                    &super::report::whole(results, context, key, room),
                )?;
                observer.status("Summarized", "on the page of this job");
            }
        }
    }
    let count =
        |verdict| results.comparisons.iter().filter(|c| c.verdict == verdict).count().to_string();
    let path = |file: &Option<PathBuf>| {
        let absolute = file.as_deref().and_then(|file| std::path::absolute(file).ok());
        absolute.map(|file| file.display().to_string()).unwrap_or_default()
    };
    outputs.set(&[
        ("regressed", count(Verdict::Regressed)),
        ("improved", count(Verdict::Improved)),
        ("equivalent", count(Verdict::Equivalent)),
        ("inconclusive", count(Verdict::Inconclusive)),
        ("identical", count(Verdict::IdenticalCode)),
        ("failed", results.failed.len().to_string()),
        ("summary", answer(results)),
        ("results", path(&settings.file)),
        ("report", path(&output)),
    ])
}

/// The pull request, or why there is none. In a dry run it need not be possible to read it.
fn find(
    client: &Client,
    context: &Context,
    settings: &Settings,
    results: Option<&Results>,
    observer: &dyn Observer,
) -> Result<Result<PullRequest, String>> {
    let error = match super::pull_request::find(client, context) {
        Err(error) if settings.dry_run => error,
        found => return found,
    };
    let Some(assumed) = PullRequest::unread(&context.target, results) else { return Err(error) };
    observer.warn(&format!("shown as if nothing had been posted yet: {error}"));
    Ok(Ok(assumed))
}

/// Of which commit the results are.
fn measured(
    client: &Client,
    context: &Context,
    pull_request: &PullRequest,
    results: &Results,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Measured> {
    match pull_request.check(client, context, results) {
        Err(error) if settings.dry_run => {
            observer.warn(&error.to_string());
            Ok(Measured::Head(pull_request.head_of_event().to_owned()))
        }
        other => other,
    }
}

#[derive(Deserialize)]
struct User {
    login: String,
}

/// Whose reviews are the own ones.
fn author(client: &Client, settings: &Settings) -> Result<String> {
    if let Some(author) = &settings.author {
        return Ok(author.clone());
    }
    match client.get::<User>("/user") {
        Ok(user) => Ok(user.login),
        // The token of a workflow is no user's. It may not ask who it is, and is this:
        Err(failure) if failure.status() == Some(403) && !failure.was_not_looked_at() => {
            Ok("github-actions[bot]".to_owned())
        }
        Err(failure) => Err(failure.explain(super::failure::Attempt {
            what: "find out whose token it is",
            permission: "pull-requests: write",
            fork: false,
        })),
    }
}
