// Releases of the program, as they are downloaded: one that is right, and one whose checksum is another one's.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

export class Releases {
  /** Version 1.0.0 is as it should be; 2.0.0 was changed after its checksum was made. */
  static async serve(directory) {
    const releases = new Releases();
    releases.directory = join(directory, "releases");
    mkdirSync(releases.directory, { recursive: true });
    const target = execFileSync("rustc", ["-vV"], { encoding: "utf8" }).match(/^host: (.*)$/m)[1];
    const program = join(releases.directory, "cargo-bench-compare");
    writeFileSync(program, "#!/bin/sh\necho the released program\n", { mode: 0o755 });
    const files = {};
    for (const version of ["1.0.0", "2.0.0"]) {
      const name = `cargo-bench-compare-${version}-${target}.tar.gz`;
      const archive = join(releases.directory, name);
      execFileSync("tar", ["-czf", archive, "-C", releases.directory, "cargo-bench-compare"]);
      const content = readFileSync(archive);
      const sum = createHash("sha256").update(content).digest("hex");
      const path = `/octo/cargo-bench-compare/releases/download/v${version}/${name}`;
      files[path] = version === "2.0.0" ? Buffer.concat([content, Buffer.from("more")]) : content;
      files[`${path}.sha256`] = `${sum}  ${name}\n`;
    }
    releases.server = createServer((request, response) => {
      response.statusCode = request.url in files ? 200 : 404;
      response.end(files[request.url]);
    }).listen(0, "127.0.0.1");
    await once(releases.server, "listening");
    releases.url = `http://127.0.0.1:${releases.server.address().port}`;
    return releases;
  }

  /** What the action's script does to install a version. Gives its exit code, its output, and what was installed. */
  async install(root, version) {
    const to = join(this.directory, `to-${version}`);
    const script = spawn(join(root, ".github/action/install.sh"), {
      env: { ...process.env, GITHUB_SERVER_URL: this.url, REPOSITORY: "octo/cargo-bench-compare", VERSION: version, DIRECTORY: to },
    });
    let log = "";
    for (const stream of [script.stdout, script.stderr]) stream.setEncoding("utf8").on("data", (text) => (log += text));
    const [status] = await once(script, "close");
    return { status, log, installed: existsSync(join(to, "bin/cargo-bench-compare")) };
  }

  close() {
    this.server.close();
  }
}
