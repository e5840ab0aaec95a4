# shellcheck shell=bash
# To be sourced: runs named steps one after the other, goes on after a failure, and counts.

swift=${SWIFT:-swift}
passed=0
failed=0
failures=()

# What the step under way says, and what those that failed complained of: the last lines of a long log tell it again.
saying=$(mktemp -d)
complaints=$saying/complaints
touch "$complaints"
# Where the last word is kept, for who runs several scripts; not that of those which a step runs.
verdict=${VERDICT:-}
unset VERDICT
# complain NAME STATUS [BROKEN]: the lines that say what is wrong, then the last ones, which is where a process was when it was ended.
complain() {
    # Not a pipe, whose end a process that a step leaves behind would put off; so the last lines may be on their way.
    sleep 0.5
    local lines
    # Tests that are run without the package manager colour what they say, pipe or not.
    sed -i 's/\x1b\[[0-9;]*m//g' "$said"
    lines=$({ grep -E '^✘|^↳|error:|ThreadSanitizer|Fatal|^ +#[0-9] |^[a-z]+: ' "$said" | grep -Ev '^(warning|remark): |^↳ T(esting|arget) ' | tail -n 30
        # A run that ended by its tests has said it all.
        [ "${3:-0}" -gt 0 ] || { echo … && tail -n 8 "$said"; }; } | cut -c 1-600)
    printf '\n%s: status %d\n%s\n' "$1" "$2" "$lines" >>"$complaints"
}

# took NAME BEGUN: how long a step took, if that is worth a line.
took() {
    local seconds=$((SECONDS - $2))
    [ "$seconds" -lt 10 ] || printf '— %s: %d s\n' "$1" "$seconds"
}

# step NAME COMMAND…: one step that passes or fails.
step() {
    local name=$1 said begun=$SECONDS
    shift
    said=$(mktemp -p "$saying")
    printf '\n— %s\n' "$name"
    local status=0
    "$@" </dev/null > >(tee "$said") 2>&1 || status=$?
    took "$name" "$begun"
    if [ "$status" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        failures+=("$name")
        complain "$name" "$status"
    fi
}

# tests NAME SECONDS FOLDER ARGUMENTS…: the tests that `build_tests` has put into a folder of builds, bounded in time, each counted
# as one. One test at a time: the time limit of a test that waits for the others to let it run would say nothing about the test.
# Not by way of `swift test`, which opens the database of the build even if it builds nothing: two at a time cannot.
tests() {
    local name=$1 seconds=$2 folder=$3 said results status=0 count=0 broken=0 begun=$SECONDS
    shift 3
    said=$(mktemp -p "$saying")
    results=$(mktemp)
    printf '\n— %s\n' "$name"
    # The first race ends the run, and not by its tests. Of the standard library one is known, and is none.
    # What the Makefile sets for builds is not for tests: an order of hashing that they depend on should show.
    TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1 suppressions=scripts/thread-sanitizer.txt} timeout "$seconds" env -u SWIFT_DETERMINISTIC_HASHING \
        "$folder/debug/PressureKitPackageTests.xctest" --testing-library swift-testing --no-parallel --xunit-output "$results" "$@" \
        </dev/null > >(tee "$said") 2>&1 || status=$?
    took "$name" "$begun"
    count=$(grep -c '<testcase ' "$results" || true)
    broken=$(awk '/<testcase /{new=1} /<failure/{n+=new; new=0} END{print n+0}' "$results")
    rm -f "$results"
    # A run that found nothing to run, or that ended otherwise than by its tests, has failed as a whole.
    local told=$broken
    if [ "$count" -eq 0 ] || { [ "$status" -ne 0 ] && [ "$broken" -eq 0 ]; }; then
        count=$((count + 1))
        broken=1
    fi
    passed=$((passed + count - broken))
    failed=$((failed + broken))
    [ "$broken" -eq 0 ] || {
        failures+=("$name: $broken of $count")
        complain "$name" "$status" "$told"
    }
}

# optimized COMMAND…: with what is tested optimized; see Package.swift. Half the time of all is saved by it, and with
# ThreadSanitizer it finds more: what runs faster meets more often.
optimized() { PRESSUREKIT_OPTIMIZED=1 "$@"; }

# build_tests ARGUMENTS…: all there is to be tested, which all scripts build in this one way: without the index for editors.
build_tests() { scripts/unindexed.sh "$@" && optimized "$swift" build --build-tests --disable-index-store "$@"; }

# beside FUNCTION: runs a function of steps in the background; `together` waits for it,
# and reads its counts from a file.
lanes=$(mktemp -d)
# shellcheck disable=SC2030,SC2031
beside() {
    (
        passed=0 failed=0 failures=()
        "$1"
        printf '%d %d\n' "$passed" "$failed" >"$lanes/$1.counts"
        [ "$failed" -eq 0 ] || printf '%s\n' "${failures[@]}" >"$lanes/$1.failures"
    ) >"$lanes/$1.log" 2>&1 </dev/null &
}

# together FUNCTION: waits for a function that was started beside, shows what it said, and counts its steps.
# shellcheck disable=SC2031
together() {
    local more=(0 1) failure
    wait
    cat "$lanes/$1.log"
    # One that did not come to its end has failed.
    [ ! -f "$lanes/$1.counts" ] || read -ra more <"$lanes/$1.counts"
    passed=$((passed + more[0]))
    failed=$((failed + more[1]))
    [ ! -f "$lanes/$1.failures" ] || while read -r failure; do failures+=("$failure"); done <"$lanes/$1.failures"
}

# The last word: what failed, and the count. Its status is that of the script.
finish() {
    local failure
    {
        cat "$complaints"
        printf '\n'
        for failure in "${failures[@]}"; do printf 'failed: %s\n' "$failure"; done
        printf '%d passed, %d failed\n' "$passed" "$failed"
    } >"$saying/verdict"
    cat "$saying/verdict"
    [ -z "$verdict" ] || cat "$saying/verdict" >>"$verdict"
    rm -rf "$saying" "$lanes"
    [ "$failed" -eq 0 ]
}
