// Makes the emulator do two things as GitHub does: the text of a review can be changed after it was submitted, and a pull
// request follows its branch.
//
// usage: node mend-emulator.mjs DIRECTORY

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MENDS = [
  {
    after: 'app.put("/repos/:owner/:repo/pulls/:pull_number/reviews/:review_id", async',
    what: /\n *if \(existing\.state !== "PENDING"\) \{\n *throw new ApiError\(422, "Validation failed"\);\n *\}/,
    by: "",
  },
  {
    after: "function syncBranchFromRef(gh, repo, fullRef, sha) {",
    what: /(const name = fullRef\.slice\("refs\/heads\/"\.length\);)/,
    by: `$1
  for (const pull of gh.pullRequests.all()) {
    if (pull.head_repo_id === repo.id && pull.head_ref === name) gh.pullRequests.update(pull.id, { head_sha: sha });
  }`,
  },
];

const [directory] = process.argv.slice(2);
const done = new Set();
for (const name of readdirSync(directory).filter((name) => name.endsWith(".js"))) {
  let text = readFileSync(join(directory, name), "utf8");
  for (const mend of MENDS) {
    const at = text.indexOf(mend.after);
    if (at < 0) continue;
    const mended = text.slice(at).replace(mend.what, mend.by);
    if (mended === text.slice(at)) continue;
    text = text.slice(0, at) + mended;
    done.add(mend);
  }
  writeFileSync(join(directory, name), text);
}
if (done.size !== MENDS.length) throw new Error("the emulator is another one than expected");
