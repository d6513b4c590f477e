#!/usr/bin/env bash
# What is to be compared, and the commits for it fetched.
# In: REVISIONS (may be empty), WORKING_DIRECTORY and what the event says. Out: revisions.
set -euo pipefail
: "${BASE_SHA=}" "${BASE_NAME=}" "${HEAD_SHA=}" "${HEAD_NAME=}" "${PULL_REQUEST=}" "${BEFORE=}"

fail() {
    echo "::error::$1"
    exit 2
}

cd "$GITHUB_WORKSPACE/$WORKING_DIRECTORY"
git rev-parse --git-dir >/dev/null 2>&1 ||
    fail "There is no git repository here; run actions/checkout (with fetch-depth: 0) in a step before this one"

# A checkout has only one commit unless the workflow says otherwise.
fetch() {
    local options=(--no-tags --quiet)
    if [[ $(git rev-parse --is-shallow-repository) == true ]]; then options+=(--unshallow); fi
    git fetch "${options[@]}" origin "$@"
}

# Labels are what people read; a branch may have any name.
label() {
    local text=${1//[^A-Za-z0-9._\/-]/-}
    text=${text#refs/heads/}
    # Not to be taken for an option.
    while [[ $text == -* ]]; do text=${text#-}; done
    echo "${text:0:60}"
}

output() {
    echo "revisions=$1" >> "$GITHUB_OUTPUT"
    echo "Comparing $1"
    exit
}

two_commits() {
    local base
    base=$(git merge-base "$1" "$3") || fail "$1 and $3 have no history in common"
    local base_label head_label
    base_label=$(label "$2")
    head_label=$(label "$4")
    if [[ -z $base_label ]]; then base_label="base"; fi
    # A fork's branch may be called main, too.
    if [[ -z $head_label || $head_label == "$base_label" ]]; then head_label="head"; fi
    output "$base_label=$base $head_label=$3"
}

if [[ -n $REVISIONS ]]; then
    if [[ $(git rev-parse --is-shallow-repository) == true ]]; then fetch; fi
    if [[ $REVISIONS == *$'\n'* ]]; then fail "The input revisions has more than one line"; fi
    output "$REVISIONS"
fi

case $GITHUB_EVENT_NAME in
pull_request | merge_group)
    fetch "$BASE_SHA" "$HEAD_SHA" || fail "The commits of the pull request cannot be fetched"
    two_commits "$BASE_SHA" "$BASE_NAME" "$HEAD_SHA" "$HEAD_NAME"
    ;;
pull_request_target)
    fail "Measuring runs the code of the pull request, and an event pull_request_target has a token that may write:\
 measure on pull_request, and publish on workflow_run (docs/github.md)"
    ;;
issue_comment)
    # The merge that GitHub tries: its parents are the base and the head.
    if fetch "+refs/pull/$PULL_REQUEST/merge:refs/bench-compare/merge" 2>/dev/null; then
        base=$(git rev-parse refs/bench-compare/merge^1)
        head=$(git rev-parse refs/bench-compare/merge^2)
    else
        fetch "+refs/pull/$PULL_REQUEST/head:refs/bench-compare/head" "+refs/heads/$BASE_NAME:refs/bench-compare/base" ||
            fail "Pull request $PULL_REQUEST cannot be fetched"
        base=$(git rev-parse refs/bench-compare/base)
        head=$(git rev-parse refs/bench-compare/head)
    fi
    git update-ref -d refs/bench-compare/merge
    git update-ref -d refs/bench-compare/head
    git update-ref -d refs/bench-compare/base
    two_commits "$base" base "$head" "pull-request-$PULL_REQUEST"
    ;;
push)
    fetch || fail "The history cannot be fetched"
    if [[ $BEFORE =~ ^0*$ ]] || ! git rev-parse --quiet --verify "$BEFORE^{commit}" >/dev/null; then
        BEFORE=$(git rev-parse "$GITHUB_SHA^") || fail "$GITHUB_SHA is the first commit: there is nothing to compare with"
    fi
    output "before=$(git rev-parse "$BEFORE") $(label "$HEAD_NAME")=$GITHUB_SHA"
    ;;
*)
    fail "An event $GITHUB_EVENT_NAME does not say what to compare; set the input revisions, for example to v1.0.0..HEAD"
    ;;
esac
