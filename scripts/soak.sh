#!/usr/bin/env bash
# The library in a real memory limit for a long time, with stress-ng beside it: nothing may be lost, killed or grow.
# `pressuresim soak --help` says what is done and judged. Where it cannot be, says why and succeeds.
#
#   scripts/soak.sh [MINUTES]   ten by default; half a one shows that it works
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=scripts/steps.sh
. scripts/steps.sh

skip() { echo "skipped: $*"; exit 0; }

seconds=$(awk -v minutes="${1:-${MINUTES:-10}}" 'BEGIN { print int(minutes * 60) }')
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || skip "the soak needs root, and there is no sudo"
    sudo -n true 2>/dev/null || [ -t 0 ] || skip "the soak needs root, and sudo asks for a password"
    as_root=(sudo)
    [ -t 0 ] || as_root+=(-n)
fi
grep -qE ' - cgroup2? ' /proc/self/mountinfo || skip "no cgroup file system is mounted"

# One worker that takes 48 of the 256 MiB, holds them for a second and gives them back: short enough to leave the
# machine to others.
options=(--duration "${seconds}s" --rate 100)
if command -v stress-ng >/dev/null; then
    options+=(--beside "stress-ng --vm 1 --vm-bytes 48M --vm-method write64 --vm-hang 1 --quiet")
else
    echo "soak: stress-ng is not installed, so nothing runs beside it"
fi

soak() {
    local status=0
    "${as_root[@]}" nice -n 5 .build/release/pressuresim soak "${options[@]}" || status=$?
    # The environment refused, and has said why.
    [ "$status" -ne 3 ] || skip "no soak here"
    return "$status"
}
step "build for the soak" scripts/tool.sh
step "soak for $seconds s" soak
finish
