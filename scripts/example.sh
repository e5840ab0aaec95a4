#!/usr/bin/env bash
# Builds Examples/Minimal, a package of its own that depends on this one by path, and holds what it prints against what
# the README shows. Numbers may differ.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

"$swift" build --package-path Examples/Minimal --configuration release
output=$(Examples/Minimal/.build/release/Minimal)
echo "$output"

# The block after the words "It prints", and the output, with every number as 0.
expected=$(awk '/^It prints/{found=1} found && /^```/{if (inside) exit; inside=1; next} inside' README.md)
[ -n "$expected" ] || { echo "example: README.md has no block after the words \"It prints\"" >&2; exit 1; }
numberless() { sed -E 's/[0-9]+(\.[0-9]+)?/0/g'; }
diff <(numberless <<<"$expected") <(numberless <<<"$output")
