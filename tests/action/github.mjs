// GitHub, as far as it is needed: a stateful emulator, and before it a proxy that checks every request against GitHub's own
// description of its API.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createServer } from "node:net";
import { pathToFileURL } from "node:url";

const TOKENS = {
  owner_token: { login: "octo", id: 101, scopes: ["repo", "user"] },
  stranger_token: { login: "stranger", id: 102, scopes: ["repo", "user"] },
  bot_token: { login: "github-actions[bot]", id: 103, scopes: ["repo"] },
};

export class GitHub {
  static async start(tools) {
    const modules = join(tools, "node/node_modules");
    const github = new GitHub();
    const port = await freePort();
    github.direct = `http://127.0.0.1:${port}`;
    const { createEmulator } = await import(pathToFileURL(join(modules, "emulate/dist/api.js")));
    github.emulator = await createEmulator({ service: "github", port, seed: SEED });
    const proxyPort = await freePort();
    github.url = `http://127.0.0.1:${proxyPort}`;
    github.proxy = spawn(process.execPath, [
      join(modules, "@stoplight/prism-cli/dist/index.js"), "proxy", join(tools, "node/github.json"), github.direct,
      "--port", `${proxyPort}`, "--errors",
    ]);
    github.proxyLog = "";
    await new Promise((resolve, reject) => {
      github.proxy.stdout.setEncoding("utf8").on("data", (text) => {
        github.proxyLog += text;
        if (github.proxyLog.includes("is listening")) resolve();
      });
      github.proxy.on("exit", () => reject(new Error(`the proxy did not start: ${github.proxyLog}`)));
    });
    return github;
  }

  stop() {
    this.proxy?.kill();
    this.emulator?.close();
  }

  /** A request as it is, not by way of the proxy: the tests' own. */
  async ask(method, path, body, token = "owner_token") {
    const answer = await fetch(this.direct + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body && JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  /** Makes the emulator know a branch: its commits have the same ids there, because both compute them as git does. */
  async push(repository, owner, branch) {
    const token = `${owner === "octo" ? "owner" : owner}_token`;
    const repo = `/repos/${owner}/sample`;
    for (const commit of repository.git("rev-list", "--reverse", `refs/heads/${branch}`).trim().split("\n")) {
      await this.#giveCommit(repository, repo, commit, token);
    }
    const sha = repository.git("rev-parse", `refs/heads/${branch}`).trim();
    const ref = encodeURIComponent(branch);
    await this.ask("POST", `${repo}/git/refs`, { ref: `refs/heads/${branch}`, sha }, token).catch(() =>
      this.ask("PATCH", `${repo}/git/refs/heads/${ref}`, { sha, force: true }, token),
    );
    for (const pull of await this.ask("GET", "/repos/octo/sample/pulls?state=open")) {
      if (pull.head.ref === branch && pull.head.sha !== sha) throw new Error("the pull request did not follow its branch");
    }
  }

  async #giveCommit(repository, repo, commit, token) {
    const tree = await this.#giveTree(repository, repo, `${commit}^{tree}`, token);
    const [message, parents] = ["%B", "%P"].map((format) => repository.git("show", "--no-patch", `--format=${format}`, commit));
    const person = { name: "octo", email: "octo@example.org", date: "2026-01-01T00:00:00Z" };
    const made = await this.ask("POST", `${repo}/git/commits`, {
      message: `${message.trim()}\n`, tree, parents: parents.trim().split(" ").filter(Boolean), author: person, committer: person,
    }, token);
    if (made.sha !== commit) throw new Error(`the emulator made ${made.sha} of ${commit}`);
  }

  async #giveTree(repository, repo, tree, token) {
    const entries = [];
    for (const line of repository.git("ls-tree", tree).trim().split("\n")) {
      const [, mode, type, sha, path] = /^(\d+) (\w+) (\w+)\t(.*)$/.exec(line);
      if (type === "tree") await this.#giveTree(repository, repo, sha, token);
      else await this.ask("POST", `${repo}/git/blobs`, { content: repository.git("cat-file", "blob", sha), encoding: "utf-8" }, token);
      entries.push({ path, mode, type, sha });
    }
    return (await this.ask("POST", `${repo}/git/trees`, { tree: entries }, token)).sha;
  }

  async fork(login) {
    await this.ask("POST", "/repos/octo/sample/forks", {}, `${login}_token`);
  }

  openPull({ head, title, as = "owner" }) {
    return this.ask("POST", "/repos/octo/sample/pulls", { head, title, base: "main" }, as === "owner" ? "owner_token" : `${as}_token`);
  }

  pull(number) {
    return this.ask("GET", `/repos/octo/sample/pulls/${number}`);
  }

  reviews(number) {
    return this.ask("GET", `/repos/octo/sample/pulls/${number}/reviews`);
  }
}

const SEED = {
  tokens: TOKENS,
  github: {
    users: [
      { login: "octo", name: "octo", email: "octo@example.org" },
      { login: "stranger", name: "stranger", email: "stranger@example.org" },
      { login: "github-actions[bot]", name: "github-actions", email: "bot@example.org" },
    ],
    repos: [{ owner: "octo", name: "sample", auto_init: true, collaborators: ["github-actions[bot]"] }],
  },
};

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}
