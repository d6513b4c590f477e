// Cuts GitHub's description of its REST API (13 MB) to the operations that are used here, so that the proxy in front of
// the emulator starts at once.
//
// usage: node describe-github.mjs FULL.json CUT.json

import { readFileSync, writeFileSync } from "node:fs";

const PATHS = [
  "/user",
  "/repos/{owner}/{repo}",
  "/repos/{owner}/{repo}/pulls",
  "/repos/{owner}/{repo}/pulls/{pull_number}",
  "/repos/{owner}/{repo}/pulls/{pull_number}/reviews",
  "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}",
  "/repos/{owner}/{repo}/issues/{issue_number}/comments",
  "/repos/{owner}/{repo}/issues/comments/{comment_id}",
  "/repos/{owner}/{repo}/commits/{commit_sha}/pulls",
  "/repos/{owner}/{repo}/commits/{ref}",
  "/repos/{owner}/{repo}/check-runs",
  "/repos/{owner}/{repo}/check-runs/{check_run_id}",
];

const [from, to] = process.argv.slice(2);
const full = JSON.parse(readFileSync(from, "utf8"));
const cut = { openapi: full.openapi, info: full.info, paths: {}, components: {} };

/** Takes over what a part of the description refers to, and what that refers to. */
function takeReferences(part) {
  if (Array.isArray(part)) return part.forEach(takeReferences);
  if (part === null || typeof part !== "object") return;
  for (const [key, value] of Object.entries(part)) {
    if (key === "examples" || key === "example") delete part[key];
    else if (key === "$ref" && typeof value === "string") take(value);
    else takeReferences(value);
  }
}

function take(reference) {
  const [, , kind, name] = reference.split("/");
  cut.components[kind] ??= {};
  if (name in cut.components[kind]) return;
  const part = full.components[kind][name];
  cut.components[kind][name] = part;
  takeReferences(part);
}

for (const path of PATHS) {
  if (!(path in full.paths)) throw new Error(`GitHub's description has no ${path}`);
  cut.paths[path] = full.paths[path];
  takeReferences(cut.paths[path]);
}
// Answers are the emulator's, and it leaves out much of what GitHub says: only requests are to be checked.
for (const operations of Object.values(cut.paths)) {
  for (const operation of Object.values(operations)) {
    if (operation.responses) {
      operation.responses = { default: { description: "whatever the emulator answers" } };
    }
  }
}
writeFileSync(to, JSON.stringify(cut));
