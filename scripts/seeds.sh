#!/usr/bin/env bash
# Whole runs of the manager, each from one seed: a night of them. Then the library with mistakes in it, one after the
# other, and how soon a seed finds each.
#
#   scripts/seeds.sh [FIRST-LAST] [SEEDS_A_MISTAKE]   1-10000 and 2000 by default; 0 leaves the mistakes out
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=scripts/steps.sh
. scripts/steps.sh

seeds=${1:-1-10000}
each=${2:-2000}
PRESSUREKIT_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
export PRESSUREKIT_COMMIT
export PRESSUREKIT_FIGURES=1
# What is under way, should it end the process: the script of that seed.
export PRESSUREKIT_SEED_MARK=$PWD/.build-seeds/last.txt

mkdir -p .build-seeds
only=(env PRESSUREKIT_ONLY_TESTS=SeedTests)
step "build" "${only[@]}" "$swift" build --build-tests --scratch-path .build-seeds
step "seeds $seeds" "${only[@]}" PRESSUREKIT_SEEDS="$seeds" "$swift" test --skip-build --no-parallel \
    --scratch-path .build-seeds --filter SeedTests
if [ "$each" -gt 0 ]; then
    step "mistakes" scripts/seeds/mutants.py tree .build-mutants
    step "build with mistakes" "${only[@]}" "$swift" build --build-tests --package-path .build-mutants
    step "find them" scripts/seeds/mutants.py run .build-mutants "$each"
fi
finish
