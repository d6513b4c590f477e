//! A review or a comment: the own one is found and updated, else there is a new one. Never two.

use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::system::Result;

use super::body::{Section, add, compose, has_key, has_run};
use super::client::Client;
use super::event::{Context, Run};
use super::failure::{Attempt, Failure};
use super::names::{Key, is_commit};
use super::pull_request::PullRequest;

/// What is posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A review, which is updated by the next push.
    Review,
    /// A comment, which is updated by the next push.
    Comment,
    /// A review of its own for every run.
    New,
    /// Not at all: only the job's summary and the step's outputs are written.
    None,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// There is a new review or comment.
    Posted {
        /// At this address.
        address: String,
        /// By this user, if that is another one than was looked for: then it will not be found again.
        by_other: Option<String>,
    },
    /// The one at this address was updated.
    Updated(String),
    /// The one at this address says it all already.
    Unchanged(String),
    /// It was shown what would be sent.
    Shown,
}

/// The reviews or comments of one pull request.
pub struct Posts<'a> {
    /// Who is asked.
    pub client: &'a Client<'a>,
    /// Where.
    pub context: &'a Context,
    /// Of which pull request.
    pub pull_request: &'a PullRequest,
    /// Of which kind.
    pub mode: Mode,
    /// Which of them is the own one.
    pub key: &'a Key,
    /// Who wrote it: nobody else's is touched, whatever it looks like. None if there can be none.
    pub author: Option<&'a str>,
}

#[derive(Deserialize)]
struct Post {
    id: u64,
    /// None if the account is gone.
    user: Option<User>,
    body: Option<String>,
    html_url: String,
}

#[derive(Deserialize)]
struct User {
    login: String,
}

impl Posts<'_> {
    /// Puts a table into the own review or comment, or makes one.
    pub fn publish(&self, section: Section) -> Result<Done> {
        self.try_publish(section).map_err(|failure| {
            let Context { repository, .. } = self.context;
            let what =
                format!("post the {} on {repository}#{}", self.noun(), self.pull_request.number);
            failure.explain(Attempt {
                what: &what,
                permission: "pull-requests: write",
                fork: self.pull_request.fork,
            })
        })
    }

    fn noun(&self) -> &'static str {
        if self.mode == Mode::Comment { "comment" } else { "review" }
    }

    fn route(&self) -> String {
        let Context { repository, .. } = self.context;
        let number = self.pull_request.number;
        match self.mode {
            Mode::Comment => format!("/repos/{repository}/issues/{number}/comments"),
            Mode::Review | Mode::New | Mode::None => {
                format!("/repos/{repository}/pulls/{number}/reviews")
            }
        }
    }

    fn try_publish(&self, section: Section) -> Result<Done, Failure> {
        let own = self.own()?;
        let run: Option<&Run> = self.context.run.as_ref();
        let to_update = match self.mode {
            Mode::New => own.iter().rev().find(|post| has_run(post.text(), run)),
            Mode::Review | Mode::Comment | Mode::None => own.last(),
        };
        if let Some(post) = to_update
            && let Some(done) = self.update(post, section.clone())?
        {
            return Ok(done);
        }
        let known: Vec<u64> = own.iter().map(|post| post.id).collect();
        self.create(section, &known)
    }

    /// All own ones, the oldest first.
    fn own(&self) -> Result<Vec<Post>, Failure> {
        let Some(author) = self.author else { return Ok(Vec::new()) };
        let mut all: Vec<Post> = self.client.list(&self.route())?;
        all.retain(|post| {
            let by_us =
                post.user.as_ref().is_some_and(|user| user.login.eq_ignore_ascii_case(author));
            by_us && has_key(post.text(), self.key)
        });
        all.sort_by_key(|post| post.id);
        Ok(all)
    }

    /// None if it has been deleted meanwhile.
    fn update(&self, post: &Post, section: Section) -> Result<Option<Done>, Failure> {
        let text = add(self.key, post.text(), section);
        let address = post.html_url.clone();
        if text.trim() == post.text().replace("\r\n", "\n").trim() {
            return Ok(Some(Done::Unchanged(address)));
        }
        let Context { repository, .. } = self.context;
        let (method, route) = match self.mode {
            Mode::Comment => {
                (Method::PATCH, format!("/repos/{repository}/issues/comments/{}", post.id))
            }
            Mode::Review | Mode::New | Mode::None => {
                (Method::PUT, format!("{}/{}", self.route(), post.id))
            }
        };
        match self.client.replace(&method, &route, &json!({"body": text})) {
            Ok(_) if self.client.only_shows() => Ok(Some(Done::Shown)),
            Ok(_) => Ok(Some(Done::Updated(address))),
            Err(failure) if failure.status() == Some(404) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    fn create(&self, section: Section, known: &[u64]) -> Result<Done, Failure> {
        let mut body = json!({"body": compose(self.key, section.clone())});
        if self.mode != Mode::Comment {
            body["event"] = json!("COMMENT");
            // Of a commit that is no longer in the pull request, GitHub takes no review.
            if is_commit(section.commit()) && section.commit() == self.pull_request.head {
                body["commit_id"] = json!(section.commit());
            }
        }
        match self.client.create(&self.route(), &body) {
            Ok(_) if self.client.only_shows() => Ok(Done::Shown),
            Ok(answer) => Ok(self.posted(&answer)),
            Err(failure) if failure.is_unclear() => self.look_for(section, known, failure),
            Err(failure) => Err(failure),
        }
    }

    fn posted(&self, answer: &Value) -> Done {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let is_other =
            |login: &String| self.author.is_some_and(|author| !author.eq_ignore_ascii_case(login));
        Done::Posted {
            address: text(&answer["html_url"]).unwrap_or_default(),
            by_other: text(&answer["user"]["login"]).filter(is_other),
        }
    }

    /// Whether it was posted although no good answer came. It is not posted once more, because even what cannot
    /// be found now may appear later.
    fn look_for(&self, section: Section, known: &[u64], failure: Failure) -> Result<Done, Failure> {
        let mut number = 0;
        while let Some(paused) = self.client.pause(number) {
            paused?;
            number += 1;
            let own = self.own()?;
            let new = own.into_iter().rev().find(|post| !known.contains(&post.id));
            if let Some(post) = new {
                let done = self.update(&post, section)?;
                return match done {
                    Some(Done::Unchanged(address)) => Ok(Done::Posted { address, by_other: None }),
                    Some(done) => Ok(done),
                    None => Err(failure),
                };
            }
        }
        Err(failure)
    }
}

impl Post {
    fn text(&self) -> &str {
        self.body.as_deref().unwrap_or_default()
    }
}
