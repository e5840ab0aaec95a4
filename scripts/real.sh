#!/usr/bin/env bash
# The tests that need a real memory limit and the real OOM killer: root, and a cgroup memory controller that may be
# written to. Where there is none of that, says why and succeeds.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=scripts/steps.sh
. scripts/steps.sh
# shellcheck source=scripts/need.sh
. scripts/need.sh

skip() { echo "skipped: $*"; exit 0; }

# Everything below runs as root; without a terminal nobody could type a password.
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || skip "the real-pressure tests need root, and there is no sudo"
    sudo -n true 2>/dev/null || [ -t 0 ] || skip "the real-pressure tests need root, and sudo asks for a password"
    as_root=(sudo)
    [ -t 0 ] || as_root+=(-n)
fi
grep -qE ' - cgroup2? ' /proc/self/mountinfo || skip "no cgroup file system is mounted"

why=$(need stress-ng stress-ng) || echo "skipped: the tests beside stress-ng; $why"

tool=${PRESSURESIM:-$PWD/.build/release/pressuresim}
[ -n "${PRESSURESIM:-}" ] || step "build for real pressure" scripts/tool.sh

# As root, the tests must not leave files of root's in the build directory: they are run as they were built.
tests=$(find .build/debug/ -maxdepth 1 -name '*.xctest' | head -n 1)
[ -n "$tests" ] || { echo "real: build the tests first, with swift build --build-tests" >&2; exit 1; }
step "real pressure" timeout 600 "${as_root[@]}" env "PRESSURESIM=$tool" "$tests" --testing-library swift-testing \
    --filter RealPressureTests --no-parallel
finish
