// A repository with a criterion benchmark, as a clone of one that stands for GitHub's.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const FULL_NAME = "octo/sample";

export class Repository {
  constructor(root) {
    this.directory = mkdtempSync(join(tmpdir(), "bench-compare-action-"));
    this.origin = join(this.directory, "origin.git");
    this.work = join(this.directory, "work");
    execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", this.origin]);
    // As GitHub does.
    execFileSync("git", ["-C", this.origin, "config", "uploadpack.allowAnySHA1InWant", "true"]);
    mkdirSync(this.work);
    // Not in the repository's own configuration, where act looks for the name of the repository.
    this.configuration = join(this.directory, "gitconfig");
    writeFileSync(this.configuration, `[url "${this.origin}"]\n\tinsteadOf = https://github.com/${FULL_NAME}\n`);
    this.git("init", "--quiet", "--initial-branch=main");
    this.git("remote", "add", "origin", `https://github.com/${FULL_NAME}`);
    this.write("Cargo.toml", MANIFEST);
    this.write(".gitignore", "/target\n");
    this.write("benches/timing.rs", BENCH);
    const lock = readFileSync(join(root, "tests/fixtures/Cargo.lock"), "utf8");
    this.write("Cargo.lock", lock.replace('"fixture"', '"sample"'));
    this.library(1000);
    this.commit("base");
    this.git("push", "--quiet", "origin", "main");
  }

  /** A commit on top of another, with the library as given, as a branch that is pushed and checked out. */
  branch(name, from, { library }, message = "head") {
    this.git("checkout", "--quiet", "-B", "current", from);
    this.library(library);
    this.commit(message);
    this.git("update-ref", `refs/heads/${name}`, "HEAD");
    this.git("push", "--quiet", "--force", "origin", `HEAD:refs/heads/${name}`);
  }

  library(nanoseconds) {
    this.write("src/lib.rs", `pub const TIME: u64 = ${nanoseconds};\n`);
  }

  write(path, text) {
    const file = join(this.work, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  commit(message) {
    this.git("add", "--all");
    this.git("commit", "--quiet", "--allow-empty", "--message", message);
  }

  git(...words) {
    return execFileSync("git", ["-C", this.work, ...words], { encoding: "utf8", env: { ...process.env, ...AUTHOR, GIT_CONFIG_GLOBAL: this.configuration } });
  }

  remove() {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const AUTHOR = {
  GIT_AUTHOR_NAME: "octo", GIT_AUTHOR_EMAIL: "octo@example.org", GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
  GIT_COMMITTER_NAME: "octo", GIT_COMMITTER_EMAIL: "octo@example.org", GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
};

// The dependency is the one that all fixtures of the tests share, so that it is compiled already.
const MANIFEST = `[package]
name = "sample"
version = "0.1.0"
edition = "2021"

[lib]
bench = false

[dev-dependencies]
criterion = { version = "0.8", default-features = false }

[profile.bench.package.sample]
opt-level = 0

[[bench]]
name = "timing"
harness = false
`;

// Times that are the same wherever and whenever they are measured.
const BENCH = `use criterion::{criterion_group, criterion_main, Criterion};
use std::time::Duration;

fn all(c: &mut Criterion) {
    for (id, time) in [("steady", sample::TIME), ("other", 500)] {
        c.bench_function(id, |b| {
            b.iter_custom(|n| {
                std::thread::sleep(Duration::from_micros(20 * n));
                Duration::from_nanos(n * time)
            })
        });
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
`;
