//! A GitHub that remembers what it is told, refuses what GitHub would refuse, and fails when a test wants it to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::schemas;

/// The account that a workflow's token belongs to.
pub const BOT: &str = "github-actions[bot]";

/// How the next requests of a kind fail.
#[derive(Clone)]
pub enum Failing {
    /// Nothing is done, and this is answered.
    Refused(ResponseTemplate),
    /// It is done, and this is answered.
    DoneBut(ResponseTemplate),
    /// It is done, and the answer comes so late.
    Late(Duration),
}

/// A review or comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    pub id: u64,
    pub pull_request: u64,
    /// None of an account that is gone.
    pub author: Option<String>,
    pub body: String,
    pub commit: Option<String>,
}

struct PullRequest {
    number: u64,
    /// None of a fork that is gone.
    repository: Option<String>,
    branch: String,
    head: String,
    merge_commit: Option<String>,
    commits: Vec<String>,
    open: bool,
}

#[derive(Default)]
struct State {
    /// The path before all routes: `/api/v3`.
    prefix: String,
    /// Who the token says it is; a workflow's may not ask.
    user: Option<String>,
    /// Who writes what is posted.
    writer: String,
    pull_requests: Vec<PullRequest>,
    parents: HashMap<String, Vec<String>>,
    reviews: Vec<Post>,
    comments: Vec<Post>,
    checks: Vec<Value>,
    failing: Vec<(String, String, Failing)>,
    /// `PUT /repos/...`, of requests that were understood.
    requests: Vec<String>,
    /// What GitHub would not have taken.
    wrong: Vec<String>,
    last_id: u64,
}

/// The server. When it is dropped, it fails the test if a request was none that GitHub takes.
pub struct Fake {
    server: MockServer,
    state: Arc<Mutex<State>>,
    _runtime: Runtime,
}

impl Fake {
    pub fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let state = Arc::new(Mutex::new(State { writer: BOT.to_owned(), ..State::default() }));
        let server = runtime.block_on(async {
            let server = MockServer::start().await;
            Mock::given(any()).respond_with(Answers(state.clone())).mount(&server).await;
            server
        });
        Self { server, state, _runtime: runtime }
    }

    pub fn address(&self) -> String {
        format!("{}{}", self.server.uri(), self.with(|state| state.prefix.clone()))
    }

    pub fn behind(&self, prefix: &str) {
        self.with(|state| state.prefix = prefix.to_owned());
    }

    fn with<T>(&self, action: impl FnOnce(&mut State) -> T) -> T {
        action(&mut self.state.lock().unwrap())
    }

    /// An open pull request from a branch of that repository.
    pub fn with_pull_request(&self, number: u64, repository: &str, branch: &str, head: &str) {
        self.with(|state| {
            state.pull_requests.push(PullRequest {
                number,
                repository: Some(repository.to_owned()),
                branch: branch.to_owned(),
                head: head.to_owned(),
                merge_commit: None,
                commits: vec![head.to_owned()],
                open: true,
            });
        });
    }

    fn change(&self, number: u64, action: impl FnOnce(&mut PullRequest)) {
        self.with(|state| {
            action(state.pull_requests.iter_mut().find(|one| one.number == number).unwrap());
        });
    }

    /// Another commit is pushed to the branch.
    pub fn move_head(&self, number: u64, head: &str) {
        self.change(number, |one| {
            one.head = head.to_owned();
            one.commits.push(head.to_owned());
        });
    }

    /// The branch is replaced by another one.
    pub fn force_head(&self, number: u64, head: &str) {
        self.change(number, |one| {
            one.head = head.to_owned();
            one.commits = vec![head.to_owned()];
        });
    }

    pub fn close(&self, number: u64) {
        self.change(number, |one| one.open = false);
    }

    pub fn delete_fork(&self, number: u64) {
        self.change(number, |one| one.repository = None);
    }

    pub fn merge_commit(&self, number: u64, commit: &str) {
        self.change(number, |one| one.merge_commit = Some(commit.to_owned()));
    }

    pub fn commit(&self, commit: &str, parents: &[&str]) {
        let parents = parents.iter().map(|parent| (*parent).to_owned()).collect();
        self.with(|state| _ = state.parents.insert(commit.to_owned(), parents));
    }

    /// The token is this user's, not a workflow's.
    pub fn log_in(&self, user: &str) {
        self.with(|state| {
            state.user = Some(user.to_owned());
            state.writer = user.to_owned();
        });
    }

    /// A token that may not ask who it is, of this account.
    pub fn write_as(&self, account: &str) {
        self.with(|state| state.writer = account.to_owned());
    }

    /// The next request with this method, and with this in its path, fails.
    pub fn fail(&self, method: &str, path: &str, failing: Failing) {
        self.with(|state| state.failing.push((method.to_owned(), path.to_owned(), failing)));
    }

    pub fn reviews(&self) -> Vec<Post> {
        self.with(|state| state.reviews.clone())
    }

    pub fn comments(&self) -> Vec<Post> {
        self.with(|state| state.comments.clone())
    }

    /// Checks as they were made, each with all its remarks.
    pub fn checks(&self) -> Vec<Value> {
        self.with(|state| state.checks.clone())
    }

    /// The only review there is.
    #[track_caller]
    pub fn review(&self) -> Post {
        let [only] = <[Post; 1]>::try_from(self.reviews()).unwrap();
        only
    }

    /// A review that somebody has written.
    pub fn write_review(&self, author: Option<&str>, body: &str) {
        self.with(|state| {
            state.last_id += 1;
            let author = author.map(str::to_owned);
            let (id, body) = (state.last_id, body.to_owned());
            state.reviews.push(Post { id, pull_request: 7, author, body, commit: None });
        });
    }

    pub fn delete_comments(&self) {
        self.with(|state| state.comments.clear());
    }

    /// Requests with this method so far.
    pub fn requests(&self, method: &str) -> Vec<String> {
        self.with(|state| {
            state.requests.iter().filter(|one| one.starts_with(method)).cloned().collect()
        })
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let wrong = self.with(|state| state.wrong.clone());
            assert!(wrong.is_empty(), "GitHub would not take this:\n{}", wrong.join("\n"));
        }
    }
}

/// An answer in GitHub's form.
pub fn answer(status: u16, message: &str) -> ResponseTemplate {
    let url = "https://docs.github.com/rest";
    ResponseTemplate::new(status)
        .set_body_json(json!({"message": message, "documentation_url": url}))
}

struct Answers(Arc<Mutex<State>>);

impl Respond for Answers {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut state = self.0.lock().unwrap();
        let method = request.method.as_str();
        let path = request.url.path().to_owned();
        let Some(path) = path.strip_prefix(&state.prefix).map(str::to_owned) else {
            let wrong = format!("{method} {path} is not below {}", state.prefix);
            state.wrong.push(wrong);
            return answer(404, "Not Found");
        };
        if let Err(wrong) = check(method, &path, request) {
            state.wrong.push(wrong.clone());
            return answer(422, &wrong);
        }
        let line = match request.url.query() {
            Some(query) => format!("{method} {path}?{query}"),
            None => format!("{method} {path}"),
        };
        state.requests.push(line);
        let fails = |(of, part, _): &(String, String, Failing)| of == method && path.contains(part);
        let position = state.failing.iter().position(fails);
        let failing = position.map(|position| state.failing.remove(position).2);
        match failing {
            Some(Failing::Refused(answer)) => answer,
            Some(Failing::DoneBut(answer)) => {
                state.answer(method, &path, request);
                answer
            }
            Some(Failing::Late(time)) => state.answer(method, &path, request).set_delay(time),
            None => state.answer(method, &path, request),
        }
    }
}

fn check(method: &str, path: &str, request: &Request) -> Result<(), String> {
    let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
    if header("user-agent").is_none_or(|agent| !agent.starts_with("cargo-bench-compare/")) {
        return Err("requests must have a user agent".to_owned());
    }
    if header("accept") != Some("application/vnd.github+json") {
        return Err("the answer's form is not asked for".to_owned());
    }
    if header("x-github-api-version") != Some("2022-11-28") {
        return Err("the interface's version is not asked for".to_owned());
    }
    if request.headers.get_all("authorization").iter().count() > 1 {
        return Err("authorized more than once".to_owned());
    }
    let query: Vec<(String, String)> = request.url.query_pairs().into_owned().collect();
    let body = (!request.body.is_empty())
        .then(|| serde_json::from_slice(&request.body).map_err(|error| error.to_string()))
        .transpose()?;
    schemas::check(method, path, &query, body.as_ref())
}

fn query(request: &Request, name: &str) -> Option<String> {
    let pairs = request.url.query_pairs();
    pairs.into_owned().find(|(key, _)| key == name).map(|(_, value)| value)
}

fn page(request: &Request, all: &[Value]) -> ResponseTemplate {
    let number = |name, default| query(request, name).map_or(default, |n| n.parse().unwrap());
    let (size, page): (usize, usize) = (number("per_page", 30), number("page", 1));
    let entries: Vec<&Value> = all.iter().skip((page - 1) * size).take(size).collect();
    ResponseTemplate::new(200).set_body_json(entries)
}

impl State {
    fn answer(&mut self, method: &str, path: &str, request: &Request) -> ResponseTemplate {
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let number = |text: &str| text.parse::<u64>().unwrap();
        let authorized = request.headers.contains_key("authorization");
        match (method, &parts[..]) {
            ("GET", ["user"]) => match &self.user {
                Some(login) => ResponseTemplate::new(200).set_body_json(json!({"login": login})),
                None if authorized => answer(403, "Resource not accessible by integration"),
                None => answer(401, "Requires authentication"),
            },
            (_, ["repos", "me", "project", rest @ ..]) => match (method, rest) {
                ("GET", ["pulls"]) => self.list_pull_requests(request),
                ("GET", ["git", "commits", sha]) => match self.parents.get(*sha) {
                    Some(parents) => ResponseTemplate::new(200).set_body_json(commit(sha, parents)),
                    None => answer(404, "Not Found"),
                },
                (_, ["pulls" | "issues", n, ..])
                    if *n != "comments"
                        && !self.pull_requests.iter().any(|one| one.number == number(n)) =>
                {
                    answer(404, "Not Found")
                }
                ("GET", ["pulls", n]) => {
                    let found =
                        self.pull_requests.iter().find(|one| one.number == number(n)).unwrap();
                    ResponseTemplate::new(200).set_body_json(found.json())
                }
                ("GET", ["pulls", n, "commits"]) => {
                    let found =
                        self.pull_requests.iter().find(|one| one.number == number(n)).unwrap();
                    let all: Vec<Value> =
                        found.commits.iter().map(|sha| commit(sha, &[])).collect();
                    page(request, &all)
                }
                ("GET", ["pulls", n, "reviews"]) => list(request, &self.reviews, number(n)),
                ("GET", ["issues", n, "comments"]) => list(request, &self.comments, number(n)),
                ("POST", ["pulls", n, "reviews"]) => self.create(true, number(n), request),
                ("POST", ["issues", n, "comments"]) => self.create(false, number(n), request),
                ("PUT", ["pulls", _, "reviews", id]) => {
                    replace(&mut self.reviews, number(id), &self.writer, request)
                }
                ("PATCH", ["issues", "comments", id]) => {
                    replace(&mut self.comments, number(id), &self.writer, request)
                }
                ("GET", ["commits", sha, "check-runs"]) => {
                    let name = query(request, "check_name");
                    let fits = |one: &&Value| {
                        one["head_sha"] == *sha
                            && name.as_ref().is_none_or(|name| one["name"] == *name)
                    };
                    let found: Vec<&Value> = self.checks.iter().filter(fits).collect();
                    let list = json!({"total_count": found.len(), "check_runs": found});
                    ResponseTemplate::new(200).set_body_json(list)
                }
                ("POST", ["check-runs"]) => {
                    self.last_id += 1;
                    let mut check: Value = serde_json::from_slice(&request.body).unwrap();
                    check["id"] = json!(self.last_id);
                    check["html_url"] =
                        json!(format!("https://github.com/me/project/runs/{}", self.last_id));
                    self.checks.push(check.clone());
                    ResponseTemplate::new(201).set_body_json(check)
                }
                ("PATCH", ["check-runs", id]) => {
                    let sent: Value = serde_json::from_slice(&request.body).unwrap();
                    let check = self.checks.iter_mut().find(|one| one["id"] == number(id)).unwrap();
                    let remarks = check["output"]["annotations"].as_array_mut().unwrap();
                    remarks
                        .extend(sent["output"]["annotations"].as_array().unwrap().iter().cloned());
                    ResponseTemplate::new(200).set_body_json(&*check)
                }
                _ => answer(404, "Not Found"),
            },
            _ => answer(404, "Not Found"),
        }
    }

    fn list_pull_requests(&self, request: &Request) -> ResponseTemplate {
        let head = query(request, "head");
        let open_only = query(request, "state").is_none_or(|state| state == "open");
        let fits = |one: &&PullRequest| {
            let owner = one.repository.as_deref().and_then(|name| name.split('/').next());
            let label = format!("{}:{}", owner.unwrap_or_default(), one.branch);
            (one.open || !open_only) && head.as_ref().is_none_or(|head| *head == label)
        };
        let all: Vec<Value> =
            self.pull_requests.iter().filter(fits).map(PullRequest::json).collect();
        page(request, &all)
    }

    fn create(&mut self, review: bool, pull_request: u64, request: &Request) -> ResponseTemplate {
        let sent: Value = serde_json::from_slice(&request.body).unwrap();
        let body = sent["body"].as_str().unwrap_or_default().to_owned();
        if let Some(refused) = too_long(&body) {
            return refused;
        }
        let found = self.pull_requests.iter().find(|one| one.number == pull_request).unwrap();
        let commit = sent["commit_id"].as_str().map(str::to_owned);
        if commit.as_ref().is_some_and(|commit| !found.commits.contains(commit)) {
            return answer(422, "Commit is not part of the pull request");
        }
        if review && sent["event"] != "COMMENT" {
            // It would wait for somebody to submit it.
            self.wrong.push(format!("a review that nobody sees: {sent}"));
        }
        self.last_id += 1;
        let (id, author) = (self.last_id, Some(self.writer.clone()));
        let post = Post { id, pull_request, author, body, commit };
        let answer =
            ResponseTemplate::new(if review { 200 } else { 201 }).set_body_json(post.json());
        if review {
            self.reviews.push(post);
        } else {
            self.comments.push(post);
        }
        answer
    }
}

fn list(request: &Request, posts: &[Post], pull_request: u64) -> ResponseTemplate {
    let of_it = posts.iter().filter(|post| post.pull_request == pull_request);
    page(request, &of_it.map(Post::json).collect::<Vec<_>>())
}

fn replace(posts: &mut [Post], id: u64, writer: &str, request: &Request) -> ResponseTemplate {
    let Some(post) = posts.iter_mut().find(|post| post.id == id) else {
        return answer(404, "Not Found");
    };
    if post.author.as_deref() != Some(writer) {
        return answer(403, "Must be the author");
    }
    let sent: Value = serde_json::from_slice(&request.body).unwrap();
    let body = sent["body"].as_str().unwrap();
    if let Some(refused) = too_long(body) {
        return refused;
    }
    post.body = body.to_owned();
    ResponseTemplate::new(200).set_body_json(post.json())
}

fn too_long(body: &str) -> Option<ResponseTemplate> {
    (body.chars().count() > 65_536)
        .then(|| answer(422, "body is too long (maximum is 65536 characters)"))
}

fn commit(sha: &str, parents: &[String]) -> Value {
    let parents: Vec<Value> = parents.iter().map(|sha| json!({"sha": sha})).collect();
    json!({"sha": sha, "parents": parents})
}

impl PullRequest {
    fn json(&self) -> Value {
        json!({
            "number": self.number, "state": if self.open { "open" } else { "closed" },
            "title": "`</code> @everyone", "merge_commit_sha": self.merge_commit,
            "head": {
                "sha": self.head, "ref": self.branch,
                "repo": self.repository.as_ref().map(|name| json!({"full_name": name})),
            },
            "base": {"sha": "0".repeat(40), "ref": "main", "repo": {"full_name": "me/project"}},
        })
    }
}

impl Post {
    fn json(&self) -> Value {
        // Texts come back with the line ends of forms.
        let body = self.body.replace('\n', "\r\n");
        let url =
            format!("https://github.com/me/project/pull/{}#post-{}", self.pull_request, self.id);
        json!({
            "id": self.id, "user": self.author.as_ref().map(|login| json!({"login": login})),
            "body": body, "html_url": url, "commit_id": self.commit, "state": "COMMENTED",
        })
    }
}
