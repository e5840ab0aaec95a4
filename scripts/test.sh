#!/usr/bin/env bash
# All tests; the ones about threads again under ThreadSanitizer, with all traits; seeds as scenarios, and what the
# documentation tells to do. Most of it keeps one processor busy, so that two things are done at a time. What takes longer is in
# proof.sh.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=scripts/steps.sh
. scripts/steps.sh

# Files in which one thread at a time is at work are empty for ThreadSanitizer, which would find nothing there, slowly, and so are
# some that fork or weigh processes: they ask for THREAD_SANITIZER. Of the other ones it leaves out these; the last two weigh a
# process, which it makes heavier.
alone='(aTreeIsSavedAsDeepAsItIsRead|aVoteIsNeverWithoutItsGrowth|everyPrefixAndEveryBit|whatIsClaimedIsReturned|smallBlocksYieldLittle)'

# Before anything else installs something: two at a time cannot.
all=$(scripts/traits.sh --names)

# In two steps, so that only the run is bounded tightly: a race can also be a wait without end.
# `Lock` has to be told. What it never runs is not built for it, the tool above all.
sanitized() {
    export PRESSUREKIT_ONLY_TESTS=PressureKitTests,FaultTests,PluginTests
    local tsan=(--scratch-path .build-tsan --sanitize=thread -Xswiftc -DTHREAD_SANITIZER --traits "$all")
    step "build for ThreadSanitizer" build_tests "${tsan[@]}"
    beside servers
    tests "tests under ThreadSanitizer" 2400 .build-tsan --skip "$alone|$remote"
    together servers
}

# Those of Redis servers, which wait for most of their time: for a lease to end, or a server that does not answer.
remote='PressureKitTests\.(Remote|Redis)'
servers() {
    tests "tests of servers under ThreadSanitizer" 2400 .build-tsan --filter "$remote" --skip "$alone"
}

step "build" build_tests
export PRESSURESIM=$PWD/.build/debug/pressuresim
beside sanitized
# What plays all scenarios three times is left to proof.sh, which has a tool that is quick.
tests "tests" 2400 .build --skip RealPressureTests --skip oneSeedIsOneLog
step "seeds as scenarios" scripts/seeds/scenarios.sh
step "getting started" scripts/getting-started.sh
together sanitized
finish
