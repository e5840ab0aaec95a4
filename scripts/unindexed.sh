#!/usr/bin/env bash
# unindexed.sh [ARGUMENT…]: makes ready for `swift build --build-tests --disable-index-store ARGUMENT…`. The index for editors takes
# a quarter of the time of a build, and nobody reads it here but the package manager: it looks there for tests of XCTest, and
# fails where a file of tests is not in it. There are none of XCTest, so it finds files with nothing in them.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

if grep -rE --include='*.swift' '^ *(@testable )?import XCTest' Tests; then
    echo "unindexed: tests of XCTest would not be found, and so never run; write them with Swift Testing" >&2
    exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build=$("$swift" build --show-bin-path "$@")
# Under the names that the package manager looks for: the object files, with that of what it writes for a target with resources.
{
    find Tests -name '*.swift'
    printf '%sresource_bundle_accessor.swift\n' Tests/*/
} | sed -E "s|^Tests/([^/]*)/(.*/)?([^/]*)$|$build/\1.build/\3.o|" >"$work/units"
mapfile -t empty < <(seq -f "$work/%g.swift" "$(wc -l <"$work/units")")
touch "${empty[@]}"
"$(dirname "$(command -v "$swift")")/swiftc" -frontend -typecheck -module-name Nothing -index-store-path "$build/index/store" \
    -index-unit-output-path-filelist "$work/units" "${empty[@]}"
