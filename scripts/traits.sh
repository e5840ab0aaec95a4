#!/usr/bin/env bash
# The library builds with no trait, with each one alone, and with all.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

# The manifest's own list; those of its dependencies are indented further.
traits=$("$swift" package dump-package |
    awk '/^  "traits" : \[/{inside=1} /^  \]/{inside=0} inside && /^      "name"/{gsub(/[",]/, ""); print $3}' |
    grep -v '^default$')
[ -n "$traits" ] || { echo "traits: the manifest names none" >&2; exit 1; }

# build NAME OPTIONS…: each in a place of its own, so that the next run has nothing to do.
build() {
    local name=$1
    shift
    echo "traits: $name"
    "$swift" build --scratch-path ".build-traits/$name" --target PressureKitTesting \
        --explicit-target-dependency-import-check error "$@"
}

build none --disable-default-traits
for trait in $traits; do build "$trait" --traits "$trait"; done
build all --enable-all-traits
