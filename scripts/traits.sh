#!/usr/bin/env bash
# The library builds with each trait alone, with none, and with all, when the tests of what differs
# pass too. The default traits together are what every other build has.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
# A module that is compiled as a whole leaves its object file in the package's directory.
trap 'rm -f ./*.o' EXIT
# Only what is built here.
export PRESSUREKIT_ONLY_TESTS=PressureKitTests

# The manifest's own list; those of its dependencies are indented further.
list=$("$swift" package dump-package | awk '/^  "traits" : \[/{inside=1} /^  \]/{inside=0} inside')
traits=$(awk '/^      "name"/{gsub(/[",]/, ""); print $3}' <<<"$list" | grep -v '^default$' | sort)
[ -n "$traits" ] || { echo "traits: the manifest names none" >&2; exit 1; }

build() {
    echo "traits: $1"
    shift
    # As a whole, a module takes three fifths of the time.
    "$swift" build --scratch-path .build-traits --target PressureKitTesting --disable-index-store \
        -Xswiftc -whole-module-optimization --explicit-target-dependency-import-check error "$@"
}

# What no default trait needs.
if ! scripts/setup.sh zstd; then
    echo "traits: Zstd LEFT OUT, since libzstd's headers cannot be installed here"
    traits=$(grep -v '^Zstd$' <<<"$traits")
fi
if ! scripts/setup.sh redis; then
    echo "traits: Redis LEFT OUT, since hiredis's headers or a server cannot be installed here"
    traits=$(grep -v '^Redis$' <<<"$traits")
fi
build none --disable-default-traits
for trait in $traits; do build "$trait" --traits "$trait"; done
echo "traits: all of them, tested"
"$swift" test --scratch-path .build-traits --traits "$(paste -sd, <<<"$traits")" --no-parallel \
    --filter 'PressureKitTests\.(Codec|SegmentFile|SpillRecord|Reclaim|Sealing|State|Redis|Remote)'
