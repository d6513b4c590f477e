#!/usr/bin/env bash
# Publishes the results, and ends as the comparison did.
# In: PROGRAM, RESULTS, MODE, CHECK, KEY, AUTHOR, GITHUB_TOKEN, IS_FORK, EXIT_CODE. Out: report, summary, regressed, improved.
set -euo pipefail

if [[ $IS_FORK == true && $MODE != none ]]; then
    echo "::notice::This pull request comes from a fork, so this job may not write to it: the results are in the job's" \
        "summary and in its artifact. docs/github.md shows how to publish them on workflow_run"
    MODE=none
fi
command=("$PROGRAM" bench-compare publish "$RESULTS" "--mode=$MODE")
if [[ $CHECK == true && $MODE != none ]]; then command+=(--check); fi
if [[ -n $KEY ]]; then command+=("--key=$KEY"); fi
if [[ -n $AUTHOR ]]; then command+=("--author=$AUTHOR"); fi
code=0
"${command[@]}" || code=$?
if [[ $EXIT_CODE != 0 ]]; then code=$EXIT_CODE; fi
if [[ $EXIT_CODE == 1 ]]; then echo "::error::A benchmark regressed beyond the margin"; fi
exit "$code"
