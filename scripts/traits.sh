#!/usr/bin/env bash
# traits.sh [--names]: the library builds with each trait alone, with none, and with all. With all, the tests pass of what
# depends on traits, but those of servers, which test.sh runs under ThreadSanitizer, with all traits too. Nothing is optimized.
# Everything else has the default ones. With --names it only says which can be had here, and installs what they need.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

# The manifest's own list; those of its dependencies are indented further.
list=$("$swift" package dump-package | awk '/^  "traits" : \[/{inside=1} /^  \]/{inside=0} inside')
traits=$(awk '/^      "name"/{gsub(/[",]/, ""); print $3}' <<<"$list" | grep -v '^default$' | sort)
[ -n "$traits" ] || { echo "traits: the manifest names none" >&2; exit 1; }

# What no default trait needs.
if ! scripts/setup.sh zstd >&2; then
    echo "traits: Zstd LEFT OUT, since libzstd's headers cannot be installed here" >&2
    traits=$(grep -v '^Zstd$' <<<"$traits")
fi
if ! scripts/setup.sh redis >&2; then
    echo "traits: Redis LEFT OUT, since hiredis's headers or a server cannot be installed here" >&2
    traits=$(grep -v '^Redis$' <<<"$traits")
fi
if [ "${1:-}" = --names ]; then
    paste -sd, <<<"$traits"
    exit
fi

# A module that is compiled as a whole leaves its object file in the package's directory.
trap 'rm -f ./*.o' EXIT
# Only what is built here: of the tests, those of what depends on traits, which is a quarter.
folders=(Codec Spill Restoration Remote Promises Support)
PRESSUREKIT_ONLY_TESTS=$(printf 'PressureKitTests/%s,' "${folders[@]}")
export PRESSUREKIT_ONLY_TESTS=${PRESSUREKIT_ONLY_TESTS%,}

build() {
    echo "traits: $1"
    shift
    # As a whole, a module takes three fifths of the time.
    "$swift" build --scratch-path .build-traits --target PressureKitTesting --disable-index-store \
        -Xswiftc -whole-module-optimization --explicit-target-dependency-import-check error "$@"
}

build none --disable-default-traits
for trait in $traits; do build "$trait" --traits "$trait"; done
echo "traits: all of them, tested"
"$swift" test --scratch-path .build-traits --traits "$(paste -sd, <<<"$traits")" --no-parallel \
    --skip 'PressureKitTests\.(Redis|Remote(Access|Cluster|Fault|Primary|Spill|StateTests))'
