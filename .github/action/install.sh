#!/usr/bin/env bash
# Installs the program: from the cache, else the released one if its checksum is right, else built from the sources
# beside this script.
# In: VERSION, DIRECTORY, REPOSITORY (may be empty).
set -euo pipefail

source_directory=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
suffix=
if [[ ${RUNNER_OS:-} == Windows ]]; then suffix=.exe; fi
program="$DIRECTORY/bin/cargo-bench-compare$suffix"

if [[ -x $program ]]; then
    echo "Taken from the cache"
    "$program" --version
    exit
fi

check_sum() {
    if command -v sha256sum >/dev/null; then sha256sum --check --status; else shasum -a 256 --check --status; fi
}

# Into a directory of its own, so that nothing half-done is taken for the program.
download() {
    local target name url download
    target=$(rustc -vV | sed -n 's/^host: //p')
    name="cargo-bench-compare-$VERSION-$target.tar.gz"
    url="$GITHUB_SERVER_URL/$REPOSITORY/releases/download/v$VERSION"
    download=$(mktemp -d)
    local curl=(curl --fail --silent --show-error --location --retry 3 --connect-timeout 20 --max-time 120)
    if "${curl[@]}" --output "$download/$name" "$url/$name" &&
        "${curl[@]}" --output "$download/$name.sha256" "$url/$name.sha256"; then
        if ! (cd "$download" && check_sum < "$name.sha256"); then
            echo "::error::$url/$name has not the checksum that was published with it"
            rm -rf "$download"
            exit 3
        fi
        mkdir -p "$DIRECTORY/bin"
        tar -xzf "$download/$name" -C "$DIRECTORY/bin"
        rm -rf "$download"
        return 0
    fi
    rm -rf "$download"
    return 1
}

if [[ -n $REPOSITORY ]] && download; then
    "$program" --version
    exit
fi

version_here=$(sed -n 's/^version = "\(.*\)"/\1/p' "$source_directory/Cargo.toml" | head -n 1)
if [[ $VERSION != "$version_here" ]]; then
    echo "::error::Version $VERSION is not released for this machine, and the sources here are version $version_here;" \
        "use the action of that version"
    exit 3
fi
echo "::group::Building cargo-bench-compare $VERSION from its sources"
# Outside the repository that is compared: its own configuration of cargo is not for this.
cd "$source_directory"
cargo install --locked --path . --root "$DIRECTORY" --no-track
echo "::endgroup::"
"$program" --version
