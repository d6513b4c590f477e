//! Which pull request a report belongs to, and whether the results are of its commits.
//!
//! The pull request comes from the event or from the user, never from the results file.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use crate::report::one_line;
use crate::results::Results;
use crate::system::{Error, Result};

use super::client::Client;
use super::event::{Context, Head, Target};
use super::failure::{Attempt, Failure};
use super::names::{Repository, is_commit};

/// A pull request as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// The commit at its head now.
    pub head: String,
    /// Whether its branch is in another repository.
    pub fork: bool,
    /// The commit with which GitHub tries whether it can be merged.
    merge_commit: Option<String>,
    /// The head when the event happened, if the event says it.
    head_then: Option<String>,
    /// Whether the user chose it.
    named: bool,
}

/// Whether results are of a pull request, and of which of its commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measured {
    /// Its head, or the merge of its head.
    Head(String),
    /// What was its head once.
    EarlierHead(String),
    /// Other commits, and the user named the pull request.
    Other(String),
}

impl Measured {
    /// The commit that was measured.
    pub fn commit(&self) -> &str {
        match self {
            Self::Head(commit) | Self::EarlierHead(commit) | Self::Other(commit) => commit,
        }
    }
}

#[derive(Deserialize)]
struct Listed {
    number: u64,
    head: Branch,
    base: Branch,
    merge_commit_sha: Option<String>,
}

#[derive(Deserialize)]
struct Branch {
    sha: String,
    #[serde(rename = "ref")]
    name: String,
    /// None if the fork is gone.
    repo: Option<Named>,
}

#[derive(Deserialize)]
struct Named {
    full_name: String,
}

#[derive(Deserialize)]
struct Commit {
    sha: String,
    #[serde(default)]
    parents: Vec<Parent>,
}

#[derive(Deserialize)]
struct Parent {
    sha: String,
}

impl Branch {
    fn is_in(&self, repository: &str) -> bool {
        self.repo.as_ref().is_some_and(|repo| repo.full_name.eq_ignore_ascii_case(repository))
    }
}

impl Listed {
    fn found(self, head_then: Option<String>, named: bool) -> PullRequest {
        let fork = !self.base.repo.is_some_and(|base| self.head.is_in(&base.full_name));
        let Self { number, head, merge_commit_sha, .. } = self;
        PullRequest {
            number,
            head: head.sha,
            fork,
            merge_commit: merge_commit_sha,
            head_then,
            named,
        }
    }
}

/// Finds the pull request. Without one, why there is none.
pub fn find(client: &Client, context: &Context) -> Result<Result<PullRequest, String>> {
    let repository = &context.repository;
    match &context.target {
        Target::None(why) => Ok(Err(why.clone())),
        Target::Number { number, head, named } => {
            let what = format!("read the pull request {repository}#{number}");
            let listed: Listed = client
                .get(&format!("/repos/{repository}/pulls/{number}"))
                .map_err(|failure| reading(failure, &what))?;
            Ok(Ok(listed.found(head.clone(), *named)))
        }
        Target::Head(head) => find_by_head(client, repository, head),
    }
}

fn reading(failure: Failure, what: &str) -> Error {
    failure.explain(Attempt { what, permission: "pull-requests: read", fork: false })
}

fn find_by_head(
    client: &Client,
    repository: &Repository,
    head: &Head,
) -> Result<Result<PullRequest, String>> {
    let label = format!("{}:{}", head.repository.owner(), head.branch);
    let query = utf8_percent_encode(&label, NON_ALPHANUMERIC);
    let mut listed: Vec<Listed> = client
        .list(&format!("/repos/{repository}/pulls?state=open&head={query}"))
        .map_err(|failure| reading(failure, &format!("list the pull requests of {repository}")))?;
    let of_this_repository = head.repository.to_string();
    listed.retain(|one| one.head.is_in(&of_this_repository) && one.head.name == head.branch);
    // Its head may have moved on, so the commit only helps to choose.
    prefer(&mut listed, |one| one.head.sha == head.commit);
    prefer(&mut listed, |one| head.listed.contains(&one.number));
    let label = one_line(&label);
    match &listed[..] {
        [] => Ok(Err(format!("no open pull request has the head {label}"))),
        [_] => Ok(Ok(listed.remove(0).found(Some(head.commit.clone()), false))),
        several => {
            let numbers: Vec<String> =
                several.iter().map(|one| format!("#{}", one.number)).collect();
            let what = format!("several open pull requests have the head {label}");
            Err(Error::publishing(what)
                .because(format!("they are {}", numbers.join(", ")))
                .help("say which one is meant with --pr"))
        }
    }
}

/// Prebuilt programs are of no commit.
fn in_words(commit: &str) -> &str {
    if commit.is_empty() { "of no commit" } else { commit }
}

/// Leaves those of which this is true, unless it is true of none.
fn prefer(listed: &mut Vec<Listed>, is_better: impl Fn(&Listed) -> bool) {
    if listed.iter().any(&is_better) {
        listed.retain(is_better);
    }
}

impl PullRequest {
    /// A pull request of which nothing could be read: as the event describes it.
    pub fn unread(target: &Target, results: Option<&Results>) -> Option<Self> {
        let Target::Number { number, head, named } = target else { return None };
        let measured = || results?.revisions.last().map(|revision| revision.commit.clone());
        Some(Self {
            number: *number,
            head: head.clone().or_else(measured).unwrap_or_default(),
            fork: false,
            merge_commit: None,
            head_then: head.clone(),
            named: *named,
        })
    }

    /// The head when the event happened, else now.
    pub fn head_of_event(&self) -> &str {
        self.head_then.as_deref().unwrap_or(&self.head)
    }

    /// Whether the results are of this pull request: one of the revisions that were compared with the reference
    /// is its head, or a merge of its head. Others are an error unless the user named the pull request.
    pub fn check(&self, client: &Client, context: &Context, results: &Results) -> Result<Measured> {
        let compared: Vec<&str> =
            results.revisions.iter().skip(1).map(|revision| revision.commit.as_str()).collect();
        if let Some(measured) = self.find_measured(client, context, &compared)? {
            return Ok(measured);
        }
        let commit = compared.last().copied().unwrap_or_default().to_owned();
        if self.named {
            return Ok(Measured::Other(commit));
        }
        let Self { number, head, .. } = self;
        let repository = &context.repository;
        Err(Error::publishing(format!(
            "the results are not of the pull request {repository}#{number}"
        ))
        .because(format!("its head is {head}, and what was measured is {}", in_words(&commit)))
        .help("measure the pull request's own commits, or name it with --pr")
        .help("merges of a private repository can only be recognised with `contents: read`"))
    }

    fn find_measured(
        &self,
        client: &Client,
        context: &Context,
        compared: &[&str],
    ) -> Result<Option<Measured>> {
        let as_of = |head: &str| {
            let head = head.to_owned();
            if head == self.head { Measured::Head(head) } else { Measured::EarlierHead(head) }
        };
        let heads = [Some(self.head.as_str()), self.head_then.as_deref()];
        let heads: Vec<&str> = heads.into_iter().flatten().collect();
        if let Some(head) = heads.iter().find(|head| compared.contains(*head)) {
            return Ok(Some(as_of(head)));
        }
        // GITHUB_SHA of the event is the merge of the head that the event names.
        if let (Some(merge), Some(head)) = (&context.merge_commit, &self.head_then)
            && compared.contains(&merge.as_str())
        {
            return Ok(Some(as_of(head)));
        }
        if self.merge_commit.as_deref().is_some_and(|merge| compared.contains(&merge)) {
            return Ok(Some(Measured::Head(self.head.clone())));
        }
        let repository = &context.repository;
        for commit in compared.iter().filter(|commit| is_commit(commit)) {
            let what = format!("read the commit {commit}");
            let found: Commit = match client
                .get(&format!("/repos/{repository}/git/commits/{commit}"))
            {
                Ok(found) => found,
                // There is none, or it may not be read: then it is not known to be of the pull request.
                Err(failure) if matches!(failure.status(), Some(403 | 404 | 409 | 422)) => continue,
                Err(failure) => return Err(reading(failure, &what)),
            };
            let parents = found.parents.iter().map(|parent| parent.sha.as_str());
            let merged: Vec<&str> = parents.filter(|parent| heads.contains(parent)).collect();
            if let ([head], true) = (&merged[..], found.parents.len() > 1) {
                return Ok(Some(as_of(head)));
            }
        }
        let number = self.number;
        let commits: Vec<Commit> = client
            .list(&format!("/repos/{repository}/pulls/{number}/commits"))
            .map_err(|failure| reading(failure, &format!("list the commits of #{number}")))?;
        let earlier = commits.iter().find(|commit| compared.contains(&commit.sha.as_str()));
        Ok(earlier.map(|commit| as_of(&commit.sha)))
    }
}
