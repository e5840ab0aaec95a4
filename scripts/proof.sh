#!/usr/bin/env bash
# What takes longer than `make test`: real memory limits and disks, a guest kernel, fuzzing, thousands of seeds, the traits,
# the examples, the pages in a browser, the C plugin. Most of it keeps one processor busy, so that two things are done at a time.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=scripts/steps.sh
. scripts/steps.sh

# Before anything else installs something: two at a time cannot.
scripts/traits.sh --names

fuzzing() { step "fuzzing" scripts/fuzz.sh 10; }
# At the lowest priority: it is judged by events, whenever they come.
guest() { step "a guest kernel" nice -n 19 scripts/guest.sh --short; }
others() {
    step "traits" scripts/traits.sh
    # As it was built before all this. The tests play the first 400, `make seeds` as many as there is time for.
    step "seeds to 5000" env PRESSUREKIT_SEEDS=401-5000 PRESSUREKIT_FIGURES=1 \
        PRESSUREKIT_COMMIT="$(git rev-parse --short HEAD 2>/dev/null || echo unknown)" \
        .build/debug/PressureKitPackageTests.xctest --testing-library swift-testing --filter noSeedBreaksAPromise
    # The longest of what the examples build, in a place of its own.
    step "build of the thumbnail server" "$swift" build --configuration release --package-path Examples/ThumbnailServer
}

step "build" build_tests
# A module that is optimized as a whole is compiled by one processor.
beside fuzzing
# The one that people use: what the tests have built is slow, and real limits are kept in real time.
step "build of the tool" scripts/tool.sh
together fuzzing
export PRESSURESIM=$PWD/.build/release/pressuresim
# Before the rest begins beside: what is shown there is shown on a machine that has time for it.
beside guest
step "real memory limits" scripts/real.sh
together guest
beside others
step "pages in a browser" optimized scripts/pages.sh
step "real faults" scripts/faults.sh
step "scenarios" scripts/scenarios.sh
step "scenarios in virtual time" .build/debug/PressureKitPackageTests.xctest --testing-library swift-testing --filter oneSeedIsOneLog
step "soak" scripts/soak.sh 0.5
step "C plugin" scripts/plugin.sh
step "Python wheel" scripts/wheel.sh --optional
step "examples" scripts/example.sh
step "linkage" scripts/linkage.sh
together others
finish
