#!/usr/bin/env bash
# The examples, each a package of its own that depends on this one by path: Minimal prints what the README shows (numbers may
# differ); HTTPCache loads each page once, or ends with a failure; Notebook passes its tests and survives SIGKILL; Travel
# restores on one machine what was saved on another; ThumbnailServer fares under a limit as its README says, for a few seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

echo "example: Minimal"
# Of the library that the tool was built with: Minimal asks for no traits either.
SWIFTPM_BUILD_DIR=$PWD/.build "$swift" build --package-path Examples/Minimal --configuration release
output=$(.build/release/Minimal)
echo "$output"

# The block after the words "It prints", and the output, with every number as 0.
expected=$(awk '/^It prints/{found=1} found && /^```/{if (inside) exit; inside=1; next} inside' README.md)
[ -n "$expected" ] || { echo "example: README.md has no block after the words \"It prints\"" >&2; exit 1; }
numberless() { sed -E 's/[0-9]+(\.[0-9]+)?/0/g'; }
diff <(numberless <<<"$expected") <(numberless <<<"$output")

# The three that are not optimized: built in one place, the library is built once for the two without traits.
export SWIFTPM_BUILD_DIR=$PWD/Examples/.build
echo "example: HTTPCache"
"$swift" run --package-path Examples/HTTPCache

echo "example: Notebook"
"$swift" test --package-path Examples/Notebook
# As the tests have built it.
Examples/Notebook/run.sh debug

echo "example: Travel"
if scripts/setup.sh redis; then
    Examples/Travel/run.sh debug
else
    echo "example: Travel LEFT OUT, since hiredis's headers or a server cannot be installed here"
fi

unset SWIFTPM_BUILD_DIR
echo "example: ThumbnailServer"
Examples/ThumbnailServer/run.sh --short
