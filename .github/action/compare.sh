#!/usr/bin/env bash
# Makes the comparison, and gives on how it ended: what was measured is to be published however that was.
# In: PROGRAM, RESULTS (files that are there already, by name or pattern; or empty), REVISIONS, ARGUMENTS, MARGIN, GATE, TIME_LIMIT,
# WORKING_DIRECTORY. Out: results, exit-code.
set -euo pipefail

if [[ -n $RESULTS ]]; then
    files=()
    while IFS= read -r file; do files+=("$file"); done < <(compgen -G "$RESULTS" || true)
    case ${#files[@]} in
    0)
        echo "::error::There is no results file $RESULTS"
        exit 2
        ;;
    1) results=${files[0]} ;;
    *)
        results="$RUNNER_TEMP/bench-compare-results.json"
        "$PROGRAM" bench-compare merge --save "$results" "${files[@]}"
        ;;
    esac
    printf 'results=%s\nexit-code=0\n' "$results" >> "$GITHUB_OUTPUT"
    exit
fi

words() {
    # xargs knows quotes, and runs nothing of what it reads.
    if [[ $1 =~ [^[:space:]] ]]; then xargs -n 1 printf '%s\n' <<< "$1"; fi
}

command=("$PROGRAM" bench-compare)
while IFS= read -r word; do command+=("$word"); done < <(words "$REVISIONS")
while IFS= read -r word; do command+=("$word"); done < <(words "$ARGUMENTS")
if [[ -n $MARGIN ]]; then command+=("--margin=$MARGIN"); fi
if [[ -n $GATE ]]; then command+=("--gate=$GATE"); fi
if [[ -n $TIME_LIMIT ]]; then command+=("--time-limit=$TIME_LIMIT"); fi
results="$RUNNER_TEMP/bench-compare-results.json"
rm -f "$results"
command+=("--save=$results")

cd "$GITHUB_WORKSPACE/$WORKING_DIRECTORY"
# What programs print that are being compared must not be taken for commands to the runner.
stop=$(od -An -N 16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$stop"
code=0
"${command[@]}" || code=$?
printf '\n::%s::\n' "$stop"

echo "exit-code=$code" >> "$GITHUB_OUTPUT"
if [[ -f $results ]]; then
    echo "results=$results" >> "$GITHUB_OUTPUT"
else
    # Nothing came of it; there is nothing to publish that could end with this code later.
    exit "$code"
fi
