// GitHub's runner: act, with the steps on this machine itself.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PINS = {
  "actions/cache": "0057852bfaa89a56745cba8c7296529d2fc39830",
  "actions/upload-artifact": "b7c566a772e6b6bfb58ed0dc250532a479d7789f",
  "actions/download-artifact": "37930b1c2abaa49bbe596cd826c3c89aef350131",
};

export class Runner {
  constructor(root, tools, repository, github) {
    Object.assign(this, { root, tools, repository, github });
    this.directory = mkdtempSync(join(tmpdir(), "bench-compare-runner-"));
    this.artifacts = join(this.directory, "artifacts");
    // What a release of the action consists of, without what lies around beside it.
    this.action = join(this.directory, "action");
    mkdirSync(this.action);
    const files = ["action.yml", ".github/action", "Cargo.toml", "Cargo.lock", "build.rs", "src"];
    execFileSync("cp", ["-r", "--parents", ...files, this.action], { cwd: root });
  }

  /** Runs one of the example workflows for an event. Gives its exit code and log. The emulator goes on meanwhile. */
  async run(event, workflow, payload, { token = "bot_token", change = (text) => text } = {}) {
    const eventFile = join(this.directory, "event.json");
    writeFileSync(eventFile, JSON.stringify(payload));
    const workflowFile = join(this.directory, workflow);
    writeFileSync(workflowFile, change(readFileSync(join(this.root, "docs/workflows", workflow), "utf8")));
    this.runs = (this.runs ?? 0) + 1;
    const environment = {
      GITHUB_RUN_ID: `${this.runs}`,
      GITHUB_API_URL: this.github.url,
      GIT_CONFIG_GLOBAL: this.repository.configuration,
      CARGO_TARGET_DIR: join(this.root, "target/tmp/criterion/target"),
      TEST_PROGRAM: join(this.root, "target/debug/cargo-bench-compare"),
      TEST_ARTIFACTS: this.artifacts,
    };
    const stubs = Object.entries(PINS).map(
      ([name, hash]) => `${name}@${hash}=${join(this.root, "tests/action/stubs", name.split("/")[1])}`,
    );
    const act = spawn(join(this.tools, "python/bin/act"), [
      event, "--workflows", workflowFile, "--eventpath", eventFile, "--platform", "ubuntu-latest=-self-hosted",
      "--no-cache-server", "--secret", `GITHUB_TOKEN=${token}`, "--action-cache-path", join(this.directory, "act"),
      ...Object.entries(environment).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
      ...[`owner/cargo-bench-compare@v1=${this.action}`, ...stubs].flatMap((stub) => ["--local-repository", stub]),
    ], { cwd: this.repository.work, timeout: 600_000 });
    let log = "";
    for (const stream of [act.stdout, act.stderr]) stream.setEncoding("utf8").on("data", (text) => (log += text));
    const [status] = await once(act, "close");
    this.log = log;
    return { status, log };
  }

  remove() {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
