//! Every console block in README and docs is run, and prints what it says there.

use std::path::{Path, PathBuf};
use std::process::Command;

use snapbox::IntoData;

use crate::support::{Fixture, PROGRAM, git, warm_target};

/// A command, and what it prints.
#[derive(Debug)]
struct Block {
    file: PathBuf,
    command: String,
    output: String,
}

fn console_blocks() -> Vec<Block> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let documents =
        std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut blocks = Vec::new();
    for file in documents.chain([root.join("README.md"), root.join("ARCHITECTURE.md")]) {
        if file.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        for block in text.split("```console\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let (command, output) = block.split_once('\n').unwrap();
            let command = command.strip_prefix("$ ").expect("a block begins with its command");
            blocks.push(Block {
                file: file.clone(),
                command: command.to_owned(),
                output: output.to_owned(),
            });
        }
    }
    blocks
}

/// The repository that the examples are about: the demo's, with `main` before its change.
fn example() -> Fixture {
    let fixture = Fixture::named("example");
    let sample = cargo_bench_compare::session::demo::sample_files();
    for (revision, files) in [("main", &sample.before), ("topic", &sample.after)] {
        for (path, content) in files {
            fixture.write(path, content);
        }
        if revision == "topic" {
            fixture.git(&["switch", "--quiet", "--create", "topic"]);
        }
        fixture.commit(revision);
    }
    fixture.lock("sample");
    fixture
}

#[test]
fn every_console_block_prints_what_it_says() {
    let blocks = console_blocks();
    assert!(blocks.len() >= 5, "{blocks:?}");
    let example = example();
    // As a user has it after installing: a subcommand of cargo.
    let installed = Path::new(PROGRAM).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut compared = 0;
    for Block { file, command, output } in blocks {
        let words: Vec<&str> = match command.as_str() {
            // This very test, and what a test has no business to do.
            "tests/run" | "cargo install --path ." => continue,
            other => other.split(' ').collect(),
        };
        let mut process = match words[..] {
            ["cargo", "run", "--release", "--", ref arguments @ ..] => {
                let mut process = Command::new(PROGRAM);
                process.args(arguments);
                process
            }
            ["cargo", "bench-compare", ..] => {
                let mut process = Command::new("cargo");
                process.args(&words[1..]).env("CARGO_TARGET_DIR", warm_target());
                process
            }
            _ => panic!("{}: `{command}` is not known here", file.display()),
        };
        let run = process
            .current_dir(example.root())
            .env("CARGO_BENCH_COMPARE_CACHE", example.cache())
            .env("PATH", format!("{}:{path}", installed.display()))
            .env("CI", "true")
            .output()
            .unwrap();
        let printed = String::from_utf8([run.stderr, run.stdout].concat()).unwrap();
        assert!(run.status.success(), "{command}:\n{printed}");
        if words.contains(&"--output") {
            let page = std::fs::read_to_string(example.root().join("page.html")).unwrap();
            // Once in twenty times `reverse` has a star, too.
            assert!(page.contains(" regressed") && page.contains(" improved"), "{page}");
        } else if !words.contains(&"list") && !words.contains(&"doctor") {
            assert_shows_the_change(&printed);
        }
        let printed: String =
            printed.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        snapbox::Assert::new()
            .action(snapbox::assert::Action::Verify)
            .eq(printed, output.into_data());
        compared += 1;
    }
    assert!(compared >= 4);
    git(&example.root(), &["diff", "--exit-code"]);
}

/// Every comparison in the documentation is of the demo's two commits.
#[track_caller]
fn assert_shows_the_change(printed: &str) {
    let row = |benchmark: &str| {
        let found = printed.lines().find(|line| line.trim_start().starts_with(benchmark));
        found.unwrap_or_else(|| panic!("no row of {benchmark} in:\n{printed}"))
    };
    assert!(
        row("checksum ").contains("***") && row("checksum ").contains("regressed"),
        "{printed}"
    );
    assert!(row("find ").contains('*') && row("find ").contains("improved"), "{printed}");
    row("reverse ");
}

#[test]
fn the_readme_opens_with_the_two_commands_and_ci_runs_the_second() {
    let commands: Vec<String> = console_blocks()
        .into_iter()
        .filter(|block| block.file.ends_with("README.md"))
        .map(|block| block.command)
        .collect();
    assert_eq!(commands[..2], ["cargo run --release -- demo", "tests/run"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ci = std::fs::read_to_string(root.join(".ci/run")).unwrap();
    assert!(ci.trim_end().ends_with("exec tests/run"), "{ci}");
}
