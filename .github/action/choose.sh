#!/usr/bin/env bash
# Which version of the program is to be installed, where, and what a cached one is called.
# In: VERSION (may be empty). Out: version, directory, key.
set -euo pipefail

source_directory=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

hash_of() {
    if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -c 1-16
}

if [[ -z $VERSION ]]; then
    VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' "$source_directory/Cargo.toml" | head -n 1)
fi
if [[ ! $VERSION =~ ^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$ ]]; then
    echo "::error::The input version is not a version of cargo-bench-compare, such as 1.2.3"
    exit 2
fi
if ! command -v cargo >/dev/null; then
    echo "::error::There is no cargo here; install Rust in a step before this one"
    exit 2
fi

# A program that was built from these sources serves as long as they stay as they are.
sources=$(cd "$source_directory" && find Cargo.toml Cargo.lock build.rs src -type f | LC_ALL=C sort | xargs cat | hash_of)
{
    echo "version=$VERSION"
    echo "directory=$RUNNER_TEMP/cargo-bench-compare"
    echo "key=cargo-bench-compare-$VERSION-$RUNNER_OS-$RUNNER_ARCH-$sources"
} >> "$GITHUB_OUTPUT"
