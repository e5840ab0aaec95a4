#!/usr/bin/env bash
# Every script parses, and shellcheck finds nothing, where it is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts=(scripts/*.sh scripts/faults/*.sh scripts/guest/*.sh scripts/guest/inside/* scripts/guest/cases/*.sh Examples/*/*.sh .ci/run)

for script in "${scripts[@]}"; do
    bash -n "$script"
    # What names no interpreter is sourced, not run.
    [ "$(head -c 2 "$script")" = '#!' ] || continue
    [ -x "$script" ] || { echo "$script is not executable" >&2; exit 1; }
done
if command -v shellcheck >/dev/null; then
    shellcheck --external-sources "${scripts[@]}"
else
    echo "shellcheck is not installed: ${#scripts[@]} scripts were only parsed"
fi
