#!/usr/bin/env bash
# scenarios.sh [CHECKED [PLAYED]]: seeds as scenarios of the tool. The first are checked, 400 by default, and the first of these
# are played on a real disk, 10 by default. Takes what `make test` has built.
set -euo pipefail
cd "$(dirname "$0")/../.."
tool=${PRESSURESIM:-.build/release/pressuresim}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PRESSUREKIT_SEEDS="1-${1:-400}" PRESSUREKIT_SEED_SCENARIOS=$work .build/debug/PressureKitPackageTests.xctest \
    --testing-library swift-testing --filter everySeedIsOne >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$tool" check "$work"/seed-*.yaml >"$work/log" 2>&1 || { grep -v ': right: ' "$work/log"; exit 1; }
for seed in $(seq "${2:-10}"); do
    timeout 120 "$tool" run "$work/seed-$seed.yaml" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
done
echo "${1:-400} seeds are scenarios, ${2:-10} were played and lost nothing"
