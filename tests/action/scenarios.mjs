// The action and the example workflows, run from the checkout to the posted review, for the events that they are for.
//
// usage: node scenarios.mjs TOOLS [FILTER]

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { GitHub } from "./github.mjs";
import { Releases } from "./releases.mjs";
import { Repository } from "./repository.mjs";
import { Runner } from "./runner.mjs";

const root = new URL("../..", import.meta.url).pathname;
const [tools, filter = ""] = process.argv.slice(2);
const github = await GitHub.start(tools);
const repository = new Repository(root);
const runner = new Runner(root, tools, repository, github);

const scenarios = {
  async "a pull request of the repository itself"() {
    repository.branch("topic", "main", { library: 1250 });
    await github.push(repository, "octo", "topic");
    const pull = await github.openPull({ head: "topic", title: "Slower" });

    // The gate of the example trips, and the review is there in spite of that.
    const first = await runner.run("pull_request", "pull-request.yml", pullEvent(pull));
    assert.notEqual(first.status, 0, first.log);
    assert.match(first.log, /A benchmark regressed beyond the margin/);
    const [review, ...others] = await github.reviews(pull.number);
    assert.equal(others.length, 0);
    assert.equal(review.user.login, "github-actions[bot]");
    assert.equal(review.state, "COMMENTED");
    matchesSnapshot("review", review.body);

    // The next push changes the same review, and keeps what was in it.
    repository.branch("topic", "topic", { library: 1000 }, "Not slower any more");
    await github.push(repository, "octo", "topic");
    const again = await github.pull(pull.number);
    const second = await runner.run("pull_request", "pull-request.yml", pullEvent(again));
    assert.equal(second.status, 0, second.log);
    const [updated, ...more] = await github.reviews(pull.number);
    assert.equal(more.length, 0);
    assert.equal(updated.id, review.id);
    matchesSnapshot("review-after-another-push", updated.body);
  },

  async "a pull request from a fork"() {
    await github.fork("stranger");
    repository.branch("fix", "main", { library: 800 });
    await github.push(repository, "stranger", "fix");
    const pull = await github.openPull({ head: "stranger:fix", as: "stranger", title: "Faster" });

    const measured = await runner.run("pull_request", "fork-measure.yml", pullEvent(pull), { token: "read_token" });
    assert.equal(measured.status, 0, measured.log);
    assert.deepEqual(await github.reviews(pull.number), []);

    const event = {
      action: "completed",
      repository: pull.base.repo,
      workflow_run: {
        id: 1, run_attempt: 1, event: "pull_request", head_branch: "fix", head_sha: pull.head.sha,
        head_repository: pull.head.repo, pull_requests: [], name: "Benchmarks", conclusion: "success",
      },
    };
    const published = await runner.run("workflow_run", "fork-publish.yml", event);
    assert.equal(published.status, 0, published.log);
    const reviews = await github.reviews(pull.number);
    assert.equal(reviews.length, 1);
    matchesSnapshot("review-of-a-fork", reviews[0].body);

    // The same-repository workflow measures it, too, and says why it publishes nothing.
    const alone = await runner.run("pull_request", "pull-request.yml", pullEvent(pull), { token: "read_token" });
    assert.equal(alone.status, 0, alone.log);
    assert.match(alone.log, /comes from a fork/);
    assert.equal((await github.reviews(pull.number)).length, 1);
  },

  async "a comment of a maintainer"() {
    repository.branch("idea", "main", { library: 1100 });
    await github.push(repository, "octo", "idea");
    const pull = await github.openPull({ head: "idea", title: "An idea" });
    repository.git("push", "--quiet", "origin", `idea:refs/pull/${pull.number}/head`);
    const comment = (body, author_association = "MEMBER") => ({
      action: "created",
      repository: pull.base.repo,
      issue: { number: pull.number, pull_request: { url: pull.url } },
      comment: { body, author_association },
    });
    const run = (event) => runner.run("issue_comment", "on-demand.yml", event);

    // From somebody else it starts nothing.
    await run(comment("/bench", "NONE"));
    assert.deepEqual(await github.reviews(pull.number), []);

    // What is no regular expression of plain characters is refused, and never run.
    const trap = join(repository.directory, "trap");
    const hostile = await run(comment(`/bench $(touch\${IFS}${trap}) \`touch ${trap}\`; touch ${trap}`));
    assert.notEqual(hostile.status, 0, hostile.log);
    assert.ok(!existsSync(trap));

    const asked = await run(comment("/bench steady"));
    assert.equal(asked.status, 0, asked.log);
    const reviews = await github.reviews(pull.number);
    assert.equal(reviews.length, 1);
    assert.match(reviews[0].body, /steady/);
    assert.doesNotMatch(reviews[0].body, /`other`/);
  },

  async "shards"() {
    repository.branch("wide", "main", { library: 1250 });
    await github.push(repository, "octo", "wide");
    const pull = await github.openPull({ head: "wide", title: "Slower, on two machines" });
    const { status, log } = await runner.run("pull_request", "shards.yml", pullEvent(pull), {
      // As many as there are benchmarks; and one after the other, because all have this machine.
      change: (text) => text.replace("[1, 2, 3, 4]", "[1, 2]\n      max-parallel: 1").replace("/4", "/2"),
    });
    assert.equal(status, 0, log);
    const reviews = await github.reviews(pull.number);
    assert.equal(reviews.length, 1);
    matchesSnapshot("review-of-shards", reviews[0].body);
  },

  async "names that are traps"() {
    const trap = join(repository.directory, "trap");
    const name = `-x$(touch\${IFS}${trap.replaceAll("/", "\u2215")})\`id\``;
    repository.branch(name, "main", { library: 1000 });
    await github.push(repository, "octo", name);
    const pull = await github.openPull({ head: name, title: "`id` $(id) <b> @octo ::error::" });
    const { status, log } = await runner.run("pull_request", "pull-request.yml", pullEvent(pull));
    assert.equal(status, 0, log);
    const [review] = await github.reviews(pull.number);
    assert.doesNotMatch(review.body, /uid=|<b>|@octo/);
  },

  async "a released program, and one that was changed"() {
    const releases = await Releases.serve(runner.directory);
    try {
      const right = await releases.install(root, "1.0.0");
      assert.equal(right.status, 0, right.log);
      assert.match(right.log, /the released program/);
      const changed = await releases.install(root, "2.0.0");
      assert.equal(changed.status, 3, changed.log);
      assert.match(changed.log, /has not the checksum/);
      assert.ok(!changed.installed);
      // Not released, and not the version of the sources here either.
      const missing = await releases.install(root, "3.0.0");
      assert.equal(missing.status, 3, missing.log);
      assert.match(missing.log, /Version 3\.0\.0 is not released for this machine/);
    } finally {
      releases.close();
    }
  },

  async "a privileged event measures nothing"() {
    repository.branch("evil", "main", { library: 1000 });
    await github.push(repository, "octo", "evil");
    const pull = await github.openPull({ head: "evil", title: "Evil" });
    const { status, log } = await runner.run("pull_request_target", "pull-request.yml", pullEvent(pull), {
      change: (text) => text.replace("  pull_request:", "  pull_request_target:"),
    });
    assert.notEqual(status, 0, log);
    assert.match(log, /publish on workflow_run/);
  },
};

function pullEvent(pull) {
  return { action: "synchronize", number: pull.number, pull_request: pull, repository: pull.base.repo };
}

/** What differs from run to run and machine to machine is masked. */
function matchesSnapshot(name, text) {
  const masked = text
    .replaceAll(runner.directory, "RUNNER")
    .replace(/RUNNER\/act\/[0-9a-f]+/g, "RUNNER")
    .replace(/[0-9a-f]{40}/g, "COMMIT")
    .replace(/\b[0-9a-f]{9}\b/g, "COMMIT")
    .replace(/rustc [^\n|<]*/g, "RUSTC")
    .replace(/^(machine +).*/gm, "$1MACHINE")
    .replace(/^(time +).* for measuring, .*/gm, "$1TIME")
    .replace(/^warning +.*\n/gm, "")
    .replace(/"run":\[\d+,1\]/g, '"run":[RUN,1]')
    .replace(/runs\/\d+/g, "runs/RUN");
  const file = join(root, "tests/action/snapshots", `${name}.md`);
  if (process.env.SNAPSHOTS === "overwrite") {
    mkdirSync(join(root, "tests/action/snapshots"), { recursive: true });
    return writeFileSync(file, masked);
  }
  assert.equal(masked, readFileSync(file, "utf8"), `${name} differs; SNAPSHOTS=overwrite changes it`);
}

let failed = 0;
try {
  await github.push(repository, "octo", "main");
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (!name.includes(filter)) continue;
    rmSync(runner.artifacts, { recursive: true, force: true });
    try {
      await scenario();
      console.log(`ok      ${name}`);
    } catch (error) {
      failed += 1;
      const log = runner.log?.split("\n").slice(-200).join("\n");
      console.log(`FAILED  ${name}\n${error.stack}\nThe end of what the runner said last:\n${log}`);
    }
  }
} finally {
  github.stop();
  repository.remove();
  runner.remove();
}
process.exit(failed === 0 ? 0 : 1);
