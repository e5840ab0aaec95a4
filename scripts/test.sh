#!/usr/bin/env bash
# All tests; the ones about threads again under ThreadSanitizer; the example; the package with other traits.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=scripts/steps.sh
. scripts/steps.sh

# Suites in which several threads meet.
concurrent='(Lock|LazyCache|ResidencyWord|Reentrancy|Relief|SegmentFileConcurrency|PressureMonitor|EventLoop'
concurrent+='|SimulatedSource|[A-Za-z]*Concurren[A-Za-z]*|[A-Za-z]*Race[A-Za-z]*)Tests'

step "build" "$swift" build --build-tests
tests "tests" 1200 --skip-build
tests "tests under ThreadSanitizer" 1800 --scratch-path .build-tsan --sanitize=thread --filter "$concurrent"
step "example" scripts/example.sh
step "traits" scripts/traits.sh
finish
