//! Publishing, to a GitHub that is played by [`fake`].

mod checks;
mod failures;
mod fake;
mod hostile;
mod publishing;
mod schemas;
mod which;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cargo_bench_compare::github::{Mode, Patience, Settings, publish};
use cargo_bench_compare::system::Error;
use cargo_bench_compare::system::{Observer, Progress};
use serde_json::{Value, json};

use crate::output::handmade::one_regression;
use fake::Fake;

/// Commits of the pull request that most tests are about.
const HEAD: &str = "1111111111111111111111111111111111111111";
const NEXT_HEAD: &str = "2222222222222222222222222222222222222222";
const MERGE: &str = "3333333333333333333333333333333333333333";
const BASE: &str = "4444444444444444444444444444444444444444";

/// What a workflow's step has around it: its environment, and the results that it publishes.
struct Step {
    fake: Fake,
    directory: tempfile::TempDir,
    variables: HashMap<String, String>,
    settings: Settings,
    /// What was told to the user: `Posted https://...`.
    told: RefCell<Vec<String>>,
    /// What a dry run showed.
    shown: RefCell<String>,
}

impl Step {
    /// A step for the event of pull request 7, whose head was measured, with a workflow's token.
    fn new() -> Self {
        Self::with(&one_regression())
    }

    fn with(results: &Value) -> Self {
        let fake = Fake::new();
        fake.with_pull_request(7, "me/project", "topic", HEAD);
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings {
            file: Some(directory.path().join("results.json")),
            output: None,
            repository: None,
            pull_request: None,
            mode: Mode::Review,
            key: None,
            check: false,
            author: None,
            dry_run: false,
            patience: Patience {
                answer: Duration::from_secs(20),
                pauses: vec![Duration::from_millis(20); 3],
            },
        };
        let told = RefCell::default();
        let mut step = Self {
            fake,
            directory,
            variables: HashMap::new(),
            settings,
            told,
            shown: RefCell::default(),
        };
        for (name, value) in [
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_REPOSITORY", "me/project"),
            ("GITHUB_SERVER_URL", "https://github.com"),
            ("GITHUB_WORKFLOW", "Benchmarks"),
            ("GITHUB_TOKEN", "secret"),
            ("GITHUB_SHA", MERGE),
        ] {
            step.variables.insert(name.to_owned(), value.to_owned());
        }
        step.set("GITHUB_API_URL", &step.fake.address());
        step.set("GITHUB_STEP_SUMMARY", &step.path("summary").display().to_string());
        step.set("GITHUB_OUTPUT", &step.path("outputs").display().to_string());
        step.run(100);
        step.event("pull_request", &json!({"pull_request": {"number": 7, "head": {"sha": HEAD}}}));
        let mut results = results.clone();
        results["revisions"][0]["commit"] = json!(BASE);
        results["revisions"][1]["commit"] = json!(HEAD);
        step.results(&results);
        step
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn set(&mut self, variable: &str, value: &str) {
        self.variables.insert(variable.to_owned(), value.to_owned());
    }

    fn event(&mut self, name: &str, content: &Value) {
        let file = self.path("event.json");
        std::fs::write(&file, content.to_string()).unwrap();
        self.set("GITHUB_EVENT_PATH", &file.display().to_string());
        self.set("GITHUB_EVENT_NAME", name);
    }

    /// The number of the workflow's run.
    fn run(&mut self, id: u64) {
        self.set("GITHUB_RUN_ID", &id.to_string());
        self.set("GITHUB_RUN_ATTEMPT", "1");
    }

    fn results(&self, results: &Value) {
        std::fs::write(self.path("results.json"), results.to_string()).unwrap();
    }

    /// What was measured is this commit.
    fn measured(&self, commit: &str) {
        let text = std::fs::read_to_string(self.path("results.json")).unwrap();
        let mut results: Value = serde_json::from_str(&text).unwrap();
        results["revisions"][1]["commit"] = json!(commit);
        self.results(&results);
    }

    fn publish(&self) -> Result<(), Error> {
        let variable = |name: &str| self.variables.get(name).cloned();
        let show = |text: &str| self.shown.borrow_mut().push_str(text);
        publish(&self.settings, &variable, &Told(&self.told), &show)
    }

    /// The next push to the branch: another head, another run.
    fn push(&mut self, head: &str, run: u64) {
        self.fake.move_head(7, head);
        self.event("pull_request", &json!({"pull_request": {"number": 7, "head": {"sha": head}}}));
        self.run(run);
        self.measured(head);
    }

    fn told(&self) -> String {
        self.told.borrow().join("\n")
    }

    /// The value of an output of the step.
    fn output(&self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.path("outputs")).unwrap_or_default();
        let mut lines = text.lines();
        let mut found = None;
        while let Some(line) = lines.next() {
            let (output, end) = line.split_once("<<").expect("an output begins");
            let value: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
            if output == name {
                found = Some(value.join("\n"));
            }
        }
        found
    }

    fn summary(&self) -> String {
        std::fs::read_to_string(self.path("summary")).unwrap_or_default()
    }
}

struct Told<'a>(&'a RefCell<Vec<String>>);

impl Observer for Told<'_> {
    fn status(&self, verb: &str, text: &str) {
        self.0.borrow_mut().push(format!("{verb} {text}"));
    }
    fn show(&self, text: &str) {
        self.0.borrow_mut().push(text.to_owned());
    }
    fn warn(&self, text: &str) {
        self.0.borrow_mut().push(format!("warning: {text}"));
    }
    fn progress(&self, _: &Progress) {}
}

/// The program itself, in an environment that has nothing of the machine's own GitHub.
fn program(directory: &Path, variables: &HashMap<String, String>) -> std::process::Command {
    let mut command = std::process::Command::new(crate::support::PROGRAM);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().to_ascii_uppercase();
        if text.starts_with("GITHUB_") || text.ends_with("_PROXY") || text == "GH_TOKEN" {
            command.env_remove(name);
        }
    }
    command.current_dir(directory).envs(variables);
    command
}
