//! What GitHub Actions tells: where the program runs, and which pull request the event is about.
//!
//! In: environment variables and the event's file, both made by GitHub. Out: a [`Context`]. Nothing here comes
//! from a results file, and nothing is asked over the network.

use serde::Deserialize;

use crate::report::one_line;
use crate::system::{Error, Result};

use super::names::{Repository, is_commit};

/// Where the program runs, and for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Where people look at things: `https://github.com`.
    pub server: String,
    /// Where programs ask: `https://api.github.com`, or `https://HOST/api/v3` of a GitHub Enterprise Server.
    pub api: String,
    /// The repository that is published to.
    pub repository: Repository,
    /// The pull request.
    pub target: Target,
    /// The workflow run that measured.
    pub run: Option<Run>,
    /// The merge of head and base that `actions/checkout` checks out for pull requests.
    pub merge_commit: Option<String>,
}

/// The pull request that the event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Its number, and its head when the event happened, if the event says it.
    Number {
        /// The number.
        number: u64,
        /// The commit at its head.
        head: Option<String>,
        /// Whether the user named it, so that nobody else can have chosen it.
        named: bool,
    },
    /// An open pull request with this head, to be looked for.
    Head(Head),
    /// None, and why.
    None(String),
}

/// The head of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The repository that the branch is in: the same one, or a fork.
    pub repository: Repository,
    /// The branch's name.
    pub branch: String,
    /// The commit.
    pub commit: String,
    /// Pull requests that the event lists. It lists none from forks.
    pub listed: Vec<u64>,
}

/// A run of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The run's number: later runs have greater ones.
    pub id: u64,
    /// The attempt, from 1.
    pub attempt: u64,
    /// The workflow's name.
    pub workflow: String,
}

impl Context {
    /// The address at which people see the run that measured.
    pub fn run_address(&self) -> Option<String> {
        let Run { id, attempt, .. } = self.run.as_ref()?;
        let Self { server, repository, .. } = self;
        Some(format!("{server}/{repository}/actions/runs/{id}/attempts/{attempt}"))
    }

    /// Reads the environment. `named` is what the user said with `--repo` and `--pr`.
    pub fn read(
        variable: &dyn Fn(&str) -> Option<String>,
        named: (Option<&Repository>, Option<u64>),
    ) -> Result<Self> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let of_actions = set("GITHUB_REPOSITORY").and_then(|name| name.parse::<Repository>().ok());
        let repository = named.0.cloned().or_else(|| of_actions.clone()).ok_or_else(|| {
            Error::usage("it is not known which repository to publish to")
                .because("GITHUB_REPOSITORY, which GitHub Actions sets, is not there")
                .help("say it: --repo OWNER/NAME --pr NUMBER")
        })?;
        let in_this_repository = of_actions.as_ref() == Some(&repository);
        let event = match set("GITHUB_EVENT_PATH") {
            Some(path) if in_this_repository => Some(read_event(&path)?),
            _ => None,
        };
        let name = set("GITHUB_EVENT_NAME").unwrap_or_default();
        let target = match (named.1, &event) {
            (Some(number), _) => Target::Number { number, head: None, named: true },
            (None, Some(event)) => event.target(&name, &repository),
            (None, None) => Target::None("no pull request was named".to_owned()),
        };
        let this_run = || {
            Some(Run {
                id: set("GITHUB_RUN_ID")?.parse().ok()?,
                attempt: set("GITHUB_RUN_ATTEMPT").and_then(|n| n.parse().ok()).unwrap_or(1),
                workflow: set("GITHUB_WORKFLOW").unwrap_or_default(),
            })
        };
        let measuring_run = event.as_ref().and_then(|event| event.workflow_run.as_ref());
        let run = match measuring_run {
            Some(run) if name == "workflow_run" => Some(Run {
                id: run.id,
                attempt: run.run_attempt.unwrap_or(1),
                workflow: run.name.clone().unwrap_or_default(),
            }),
            _ if in_this_repository => this_run(),
            _ => None,
        };
        Ok(Self {
            server: set("GITHUB_SERVER_URL").unwrap_or_else(|| "https://github.com".to_owned()),
            api: set("GITHUB_API_URL").unwrap_or_else(|| "https://api.github.com".to_owned()),
            repository,
            target,
            run,
            // In pull_request_target this is a commit of the base branch instead.
            merge_commit: set("GITHUB_SHA").filter(|sha| name == "pull_request" && is_commit(sha)),
        })
    }
}

fn read_event(path: &str) -> Result<Event> {
    let text = fs_err::read_to_string(path)
        .map_err(|error| Error::usage("cannot read the workflow's event").because(error))?;
    serde_json::from_str(&text).map_err(|error| {
        Error::usage(format!("{path}: not the event of a workflow"))
            .because(error)
            .help("GITHUB_EVENT_PATH names it; or say --repo OWNER/NAME --pr NUMBER")
    })
}

/// The parts of the events that matter here.
#[derive(Debug, Deserialize)]
struct Event {
    pull_request: Option<PullRequest>,
    workflow_run: Option<WorkflowRun>,
    issue: Option<Issue>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    after: Option<String>,
}

#[derive(Debug, Deserialize)]
struct PullRequest {
    number: u64,
    head: Option<PullRequestHead>,
}

#[derive(Debug, Deserialize)]
struct PullRequestHead {
    sha: String,
}

#[derive(Debug, Deserialize)]
struct WorkflowRun {
    id: u64,
    run_attempt: Option<u64>,
    name: Option<String>,
    event: String,
    head_sha: String,
    head_branch: Option<String>,
    head_repository: Option<HeadRepository>,
    #[serde(default)]
    pull_requests: Vec<PullRequest>,
}

#[derive(Debug, Deserialize)]
struct HeadRepository {
    full_name: String,
}

#[derive(Debug, Deserialize)]
struct Issue {
    number: u64,
    pull_request: Option<serde::de::IgnoredAny>,
}

impl Event {
    fn target(&self, name: &str, repository: &Repository) -> Target {
        let target = match name {
            "pull_request" | "pull_request_target" => self.of_pull_request(),
            "issue_comment" => self.of_comment(),
            "workflow_run" => self.of_workflow_run(),
            "push" => self.of_push(repository),
            "" => Err("the event has no name".to_owned()),
            other => Err(format!("the event `{}` is about no pull request", one_line(other))),
        };
        target.unwrap_or_else(Target::None)
    }

    fn of_pull_request(&self) -> Result<Target, String> {
        let pull_request = self.pull_request.as_ref().ok_or("the event has no pull request")?;
        let head = pull_request.head.as_ref().map(|head| commit(&head.sha)).transpose()?;
        Ok(Target::Number { number: pull_request.number, head, named: false })
    }

    fn of_comment(&self) -> Result<Target, String> {
        let issue = self.issue.as_ref().ok_or("the event has no issue")?;
        if issue.pull_request.is_none() {
            return Err(format!("#{} is an issue, no pull request", issue.number));
        }
        // The event does not say what the head was.
        Ok(Target::Number { number: issue.number, head: None, named: false })
    }

    fn of_workflow_run(&self) -> Result<Target, String> {
        let run = self.workflow_run.as_ref().ok_or("the event has no workflow run")?;
        // The head of the others is what the workflow itself was taken from.
        let by_head = ["pull_request", "pull_request_target", "push", "workflow_dispatch"];
        if !by_head.contains(&run.event.as_str()) {
            let event = one_line(&run.event);
            return Err(format!("the measuring run's event `{event}` is about no pull request"));
        }
        let (Some(repository), Some(branch)) = (&run.head_repository, &run.head_branch) else {
            return Err("the branch or fork that was measured is gone".to_owned());
        };
        Ok(Target::Head(Head {
            repository: repository.full_name.parse()?,
            branch: branch.clone(),
            commit: commit(&run.head_sha)?,
            listed: run.pull_requests.iter().map(|listed| listed.number).collect(),
        }))
    }

    fn of_push(&self, repository: &Repository) -> Result<Target, String> {
        let reference = self.reference.as_deref().unwrap_or_default();
        let branch = reference.strip_prefix("refs/heads/").ok_or("a tag was pushed, no branch")?;
        Ok(Target::Head(Head {
            repository: repository.clone(),
            branch: branch.to_owned(),
            commit: commit(self.after.as_deref().unwrap_or_default())?,
            listed: Vec::new(),
        }))
    }
}

/// A branch that was deleted has a head of zeros.
fn commit(id: &str) -> Result<String, String> {
    if is_commit(id) && id.bytes().any(|byte| byte != b'0') {
        return Ok(id.to_owned());
    }
    Err("the event's head is no commit".to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::{Value, json};

    use super::*;

    const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

    /// The context of an event with this content.
    fn context(name: &str, event: &Value, more: &[(&str, &str)]) -> Context {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), event.to_string()).unwrap();
        let path = file.path().to_str().unwrap().to_owned();
        let mut variables: HashMap<&str, &str> = HashMap::from([
            ("GITHUB_EVENT_NAME", name),
            ("GITHUB_EVENT_PATH", path.as_str()),
            ("GITHUB_REPOSITORY", "me/project"),
            ("GITHUB_SHA", "ffffffffffffffffffffffffffffffffffffffff"),
            ("GITHUB_RUN_ID", "77"),
            ("GITHUB_RUN_ATTEMPT", "2"),
            ("GITHUB_WORKFLOW", "Benchmarks"),
        ]);
        variables.extend(more.iter().copied());
        let variable = |name: &str| variables.get(name).map(|value| (*value).to_owned());
        Context::read(&variable, (None, None)).unwrap()
    }

    fn workflow_run(event: &str, repository: &str) -> Value {
        json!({"workflow_run": {
            "id": 5, "run_attempt": 3, "name": "Measure", "event": event, "head_sha": SHA,
            "head_branch": "topic & more", "head_repository": {"full_name": repository},
            "pull_requests": [],
        }})
    }

    fn none(context: Context) -> String {
        match context.target {
            Target::None(why) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_pull_requests_own_event_says_number_and_head() {
        let event = json!({"pull_request": {"number": 4, "head": {"sha": SHA}}});
        for name in ["pull_request", "pull_request_target"] {
            let context = context(name, &event, &[]);
            let head = Some(SHA.to_owned());
            assert_eq!(context.target, Target::Number { number: 4, head, named: false });
            assert_eq!(context.merge_commit.is_some(), name == "pull_request");
            assert_eq!(
                context.run_address().unwrap(),
                "https://github.com/me/project/actions/runs/77/attempts/2"
            );
        }
    }

    #[test]
    fn a_workflow_run_says_the_head_and_is_the_run_that_measured() {
        let event = workflow_run("pull_request", "fork/project");
        let context = context("workflow_run", &event, &[("GITHUB_SERVER_URL", "https://ghe")]);
        let Target::Head(head) = &context.target else { panic!("{:?}", context.target) };
        assert_eq!(head.repository.to_string(), "fork/project");
        assert_eq!((head.branch.as_str(), head.commit.as_str()), ("topic & more", SHA));
        assert_eq!(
            context.run_address().unwrap(),
            "https://ghe/me/project/actions/runs/5/attempts/3"
        );
        assert_eq!(context.run.unwrap().workflow, "Measure");
        assert_eq!(context.merge_commit, None);
    }

    #[test]
    fn what_is_about_no_pull_request_says_so() {
        let issue = json!({"issue": {"number": 3}});
        assert_eq!(none(context("issue_comment", &issue, &[])), "#3 is an issue, no pull request");
        let run = workflow_run("schedule", "me/project");
        assert!(none(context("workflow_run", &run, &[])).contains("`schedule`"));
        let tag = json!({"ref": "refs/tags/v1", "after": SHA});
        assert_eq!(none(context("push", &tag, &[])), "a tag was pushed, no branch");
        let deleted = json!({"ref": "refs/heads/gone", "after": "0".repeat(40)});
        assert_eq!(none(context("push", &deleted, &[])), "the event's head is no commit");
        assert!(none(context("schedule", &json!({}), &[])).contains("`schedule`"));
        let mut gone = workflow_run("pull_request", "fork/project");
        gone["workflow_run"]["head_repository"] = Value::Null;
        assert!(none(context("workflow_run", &gone, &[])).contains("is gone"));
        let hostile = workflow_run("pull_request", "../../user");
        assert!(none(context("workflow_run", &hostile, &[])).contains("no name of a repository"));
    }

    #[test]
    fn comments_and_pushes_lead_to_pull_requests() {
        let comment = json!({"issue": {"number": 8, "pull_request": {"url": "x"}}});
        assert_eq!(
            context("issue_comment", &comment, &[]).target,
            Target::Number { number: 8, head: None, named: false }
        );
        let push = json!({"ref": "refs/heads/a/b", "after": SHA});
        let Target::Head(head) = context("push", &push, &[]).target else { panic!() };
        assert_eq!((head.branch.as_str(), head.repository.owner()), ("a/b", "me"));
    }

    #[test]
    fn what_the_user_names_counts_more_than_the_event() {
        let variable = |name: &str| match name {
            "GITHUB_REPOSITORY" => Some("me/project".to_owned()),
            "GITHUB_RUN_ID" => Some("77".to_owned()),
            // It must not even be looked at.
            "GITHUB_EVENT_PATH" => Some("/missing".to_owned()),
            _ => None,
        };
        let other = "you/other".parse().unwrap();
        let context = Context::read(&variable, (Some(&other), Some(9))).unwrap();
        assert_eq!(context.target, Target::Number { number: 9, head: None, named: true });
        assert_eq!((context.repository, context.run), (other, None));
        let nothing = Context::read(&|_| None, (None, Some(9))).unwrap_err();
        assert!(nothing.to_string().contains("--repo OWNER/NAME"), "{nothing}");
    }
}
