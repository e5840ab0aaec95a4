#!/usr/bin/env bash
# Faults that need root: disks that are really full, read-only or somebody else's, and fifty processes that are killed.
# Where nobody may mount a file system, says why and succeeds.
#
# With --long also what takes an hour: every error number at every call, five hundred seeds of the model, a thousand
# kills. That needs no root.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=scripts/steps.sh
. scripts/steps.sh

skip() { echo "skipped: $*"; exit 0; }

# As in real.sh: run as built, so that no file of root's is left in the build directory.
tests=$(find .build/debug/ -maxdepth 1 -name '*.xctest' | head -n 1)
[ -n "$tests" ] || { echo "faults: build the tests first, with swift build --build-tests" >&2; exit 1; }
run() {
    local seconds=$1 filter=$2
    shift 2
    timeout "$seconds" "$@" "$tests" --testing-library swift-testing --filter "$filter" --no-parallel
}

if [ "${1:-}" = --long ]; then
    step "every error number at every call" run 3600 'EveryCallFails|StateFault' env PRESSUREKIT_FAULTS=all PRESSUREKIT_FIGURES=1
    step "five hundred seeds" run 3600 ModelStress env PRESSUREKIT_SEEDS=1-500 PRESSUREKIT_FIGURES=1
    step "a thousand kills" run 3600 aProcessThatIsKilled env PRESSUREKIT_KILLS=1000 PRESSUREKIT_FIGURES=1
    finish
    exit
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || skip "faults of real disks need root, and there is no sudo"
    sudo -n true 2>/dev/null || [ -t 0 ] || skip "faults of real disks need root, and sudo asks for a password"
    as_root=(sudo)
    [ -t 0 ] || as_root+=(-n)
fi
command -v mkfs.ext4 >/dev/null || skip "there is no mkfs.ext4"
# What the tests do first: a container may have root and no loop device.
image=$(mktemp) && mount=$(mktemp -d)
truncate -s 8M "$image" && "${as_root[@]}" mkfs.ext4 -q "$image" && "${as_root[@]}" mount -o loop "$image" "$mount" 2>/dev/null
mounted=$?
[ "$mounted" -eq 0 ] && "${as_root[@]}" umount "$mount"
rm -rf "$image" "$mount"
[ "$mounted" -eq 0 ] || skip "no file system can be mounted here"

step "real disks" run 300 RealDiskTests "${as_root[@]}" env PRESSUREKIT_REAL_FAULTS=1
step "fifty kills" run 300 aProcessThatIsKilled env PRESSUREKIT_KILLS=50
finish
