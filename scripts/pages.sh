#!/usr/bin/env bash
# The pages that the tool writes, in a headless Chromium: on a phone and on a desk, in light and in dark, by keyboard,
# without scripts, on paper. Where there is no browser and none can be installed, says why and succeeds.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=scripts/steps.sh
. scripts/steps.sh
# shellcheck source=scripts/need.sh
. scripts/need.sh

skip() { echo "skipped: the pages in a browser; $*"; exit 0; }

# The first browser that is here, or $CHROMIUM.
browser() {
    local name
    for name in ${CHROMIUM:+"$CHROMIUM"} chromium chromium-browser google-chrome; do
        command -v "$name" && return 0
    done
    return 1
}

command -v python3 >/dev/null || skip "there is no python3 to drive one"
if ! browser >/dev/null; then
    why=$(need chromium chromium) || skip "$why"
fi
chromium=$(browser)

# Where the pages and what they look like are left, to be looked at.
out=$PWD/.build/pages
rm -rf "$out"
mkdir -p "$out"

# Pages made of records that never took place, which hold everything that can be in one.
made_up() {
    PRESSUREKIT_PAGES=$out "$swift" test --skip-build --filter writesItsPagesForTheBrowser &&
        compgen -G "$out/*.html" >/dev/null
}

# Pages of real runs: what the commands write.
real() {
    local tool=.build/debug/pressuresim
    "$tool" run Scenarios/flashcards.yaml --html "$out/real-run.html" >/dev/null &&
        "$tool" run Scenarios/flood.yaml --virtual --html "$out/real-virtual.html" >/dev/null &&
        "$tool" run Scenarios/neighbours.yaml --virtual --html "$out/real-processes.html" >/dev/null &&
        "$tool" compare Scenarios/flashcards.yaml --html "$out/real-compare.html" >/dev/null &&
        "$tool" bench --tiny --append "$out/history.jsonl" >/dev/null &&
        "$tool" bench --tiny --append "$out/history.jsonl" --commit second --html "$out/real-bench.html" >/dev/null
}

look() { timeout 600 python3 Tests/Pages/check.py "$chromium" "$out" "$out"/*.html; }
self_test() { timeout 300 python3 Tests/Pages/check.py "$chromium" --self-test "$out/run-usual.html"; }

step "build for pages" build_tests
step "pages of records" made_up
step "pages of real runs" real
step "the checks find what is broken" self_test
step "pages in a browser" look
echo "pages and screenshots: $out"
finish
