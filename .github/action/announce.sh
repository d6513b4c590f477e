#!/usr/bin/env bash
# Says on the pull request that the benchmarks were started.
# In: PROGRAM, MODE, KEY, AUTHOR, GITHUB_TOKEN.
set -euo pipefail

command=("$PROGRAM" bench-compare publish --announce "--mode=$MODE")
if [[ -n $KEY ]]; then command+=("--key=$KEY"); fi
if [[ -n $AUTHOR ]]; then command+=("--author=$AUTHOR"); fi
"${command[@]}"
