#!/usr/bin/env bash
# All tests; the ones about threads again under ThreadSanitizer; the examples; the package with other traits. Most of it
# keeps one processor busy, so that two things are done at a time.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=scripts/steps.sh
. scripts/steps.sh

# Suites in which one thread works alone, at length; ThreadSanitizer would find nothing there, slowly.
alone='(Allocator|FrameHeader|Codec|Parser|MemoryInfo|Planner|PollRhythm|Threshold|Classifier|Walk|Wish'
alone+='|Ledger|ResidencyWord|Schedule|Readme|Article|ByteCount|FileSystem|SegmentFileTests|SegmentFileFault|Writeback'
alone+='|Control(Command|Answer|Listener|Server)|Interface|SpillDirectory|KeyTable|EveryCall|EveryBit|StateFault'
alone+='|StateDamage|MemoryFault|RealDisk|Corpus|Soak|OrderContest|UseRecord|PolicySimulation|FullCache|NamedList'
alone+='|StallEvaluator|Fragmentation|RankSort|aTreeIsSavedAsDeepAsItIsRead'
# They end processes, or make some that start threads after fork(2).
# The last four weigh a process, which the sanitizer makes heavier.
alone+='|Descriptor|BoardFile|BoardModel|NeighboursTests|ShortageShares|RefusedFence|ProcessLimit|ProcessEvent|RestingManager|ScratchMemory|whatIsClaimedIsReturned'
alone+='|smallBlocksYieldLittle)'

# In two steps, so that only the run is bounded tightly: a race can also be a wait without end.
# `Lock` has to be told.
tsan=(--scratch-path .build-tsan --sanitize=thread -Xswiftc -DTHREAD_SANITIZER)
# What it never runs is not built for it, the tool above all.
sanitized() {
    export PRESSUREKIT_ONLY_TESTS=PressureKitTests,FaultTests,PluginTests
    step "build for ThreadSanitizer" "$swift" build --build-tests "${tsan[@]}"
}
others() {
    export PRESSUREKIT_ONLY_TESTS=PressureKitTests,FaultTests,PluginTests
    tests "tests under ThreadSanitizer" 2400 --skip-build "${tsan[@]}" --skip "$alone"
    step "traits" scripts/traits.sh
    # As it was built before all this: the package manager lets one at a time at a build. The tests play the first 400.
    step "seeds to 10000" env PRESSUREKIT_SEEDS=401-10000 PRESSUREKIT_FIGURES=1 \
        PRESSUREKIT_COMMIT="$(git rev-parse --short HEAD 2>/dev/null || echo unknown)" \
        .build/debug/PressureKitPackageTests.xctest --testing-library swift-testing --filter noSeedBreaksAPromise
}

# Before anything else installs something: two at a time cannot.
scripts/setup.sh zstd || echo "tests: without libzstd's headers"
scripts/setup.sh redis || echo "tests: without hiredis's headers, or without a server"
step "build" "$swift" build --build-tests
# Optimized, the tool is built a module at a time, each by one processor.
beside sanitized
step "build of the tool" "$swift" build --configuration release --product pressuresim
together sanitized
# Before the rest begins beside: what is shown there is shown on a machine that has time for it.
step "real memory limits" scripts/real.sh
step "a guest kernel" scripts/guest.sh --short
beside others
# Optimized, the tool plays whole scenarios in less than half the time; the steps below play them unoptimized.
[ ! -x .build/release/pressuresim ] || export PRESSURESIM=$PWD/.build/release/pressuresim
# Those below real limits have run above.
tests "tests" 2400 --skip-build --skip RealPressureTests
unset PRESSURESIM
step "pages in a browser" scripts/pages.sh
step "real faults" scripts/faults.sh
step "soak" scripts/soak.sh 0.5
step "fuzzing" scripts/fuzz.sh 20
step "scenarios" scripts/scenarios.sh
step "seeds as scenarios" scripts/seeds/scenarios.sh
step "examples" scripts/example.sh
step "getting started" scripts/getting-started.sh
step "C plugin" scripts/plugin.sh
step "Python wheel" scripts/wheel.sh --optional
together others
finish
