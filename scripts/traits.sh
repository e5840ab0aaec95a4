#!/usr/bin/env bash
# traits.sh [--names | --each]: the library builds with each trait without each other. With all, its tests are built and pass in
# test.sh, under ThreadSanitizer; with none the tool, the examples and the C plugin are built, with the default ones the tests.
# With --each it is built with each alone and with none too, and the tests of what depends on traits pass with all, with nothing
# optimized: for nights. With --names it only says which can be had here, and installs what they need.
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

# With the default ones, which `make check` builds, each trait is once in a set without each other: what one takes from another,
# or from none, is found. The default ones are what a trait of the list enables: only that of this name enables any.
default=$(awk '/^        "/{gsub(/[",]/, ""); print $1}' <<<"$list" | paste -sd,)
sets=("ServiceLifecycle,Zstd,Encryption" "Foundation,Zstd,Redis" "Metrics,Encryption,Redis")
for one in $traits; do
    for other in $traits; do
        [ "$one" != "$other" ] || continue
        printf '%s\n' "$default" "${sets[@]}" | grep -w "$one" | grep -qvw "$other" || {
            echo "traits: $one is in no set without $other; add one to scripts/traits.sh" >&2
            exit 1
        }
    done
done
if [ "${1:-}" = --each ]; then
    build none --disable-default-traits
    mapfile -t sets <<<"$traits"
fi
for set in "${sets[@]}"; do
    # Those that cannot be had here are left out.
    set=$(tr , '\n' <<<"$set" | grep -xF "$traits" | paste -sd,)
    build "$set" --traits "$set"
done
[ "${1:-}" = --each ] || exit 0
echo "traits: all of them, tested"
"$swift" test --scratch-path .build-traits --traits "$(paste -sd, <<<"$traits")" --no-parallel
