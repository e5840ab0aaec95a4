#!/usr/bin/env bash
# Faults that need root: disks that are really full, read-only, slow, gone, somebody else's, or that fail late, and fifty
# processes that are killed.
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

# A disk of 8 MB/s: a loop device behind the blkio controller (cgroup v1), since few kernels have dm-delay. The library
# is in a memory limit too, where it waits for what it writes; without one the page cache would hide the disk.
slow_disk() {
    local blkio directory
    blkio=$(awk '/ - cgroup / && $NF ~ /(^|,)blkio(,|$)/ { print $5; exit }' /proc/self/mountinfo)
    [ -n "$blkio" ] || { echo "skipped: the slow disk; there is no blkio controller of cgroup v1"; return 0; }
    directory=$(mktemp -d)
    # As root from here on: mounts, limits, and takes both away again.
    "${as_root[@]}" bash -s "$directory" "$blkio/pressurekit-slow-$$" "$PRESSURESIM" <<'ROOT'
directory=$1 group=$2 tool=$3
cleanup() {
    umount -l "$directory/disk" 2>/dev/null
    rmdir "$group" 2>/dev/null
    rm -rf --one-file-system "$directory"
}
trap cleanup EXIT
mkdir "$directory/disk"
truncate -s 640M "$directory/image" && mkfs.ext4 -q "$directory/image" || exit
mount -o loop "$directory/image" "$directory/disk" || exit
device=$(losetup -n -O NAME -j "$directory/image" | head -n 1)
mkdir "$group" && number=$(cat "/sys/block/${device#/dev/}/dev") || exit
echo "$number 8388608" >"$group/blkio.throttle.write_bps_device" || { echo "skipped: the slow disk; this kernel throttles nothing"; exit 0; }
echo "$number 8388608" >"$group/blkio.throttle.read_bps_device"
cat >"$directory/slow.yaml" <<YAML
name: A disk of 8 MB/s
spill: {directory: $directory/disk}
memory: {cgroup_limit: 64MiB}
controllers:
  - name: shelf
    visible: true
    caches:
      - {name: kept, count: 96, size: 512KiB, content: {synthetic: {compressibility: 0}}, loader: none}
timeline:
  - warning: critical
  - access: {of: shelf/*}
  - update: {of: shelf/*, count: 16}
  - warning: critical
  - access: {of: shelf/*}
expect:
  lost: == 0
  failed_accesses: == 0
  restores: ">= 96"
  # 48 MiB out and back, twice: an unthrottled disk takes a second.
  duration: ">= 12s"
YAML
echo $$ >"$group/cgroup.procs" || exit
timeout 240 "$tool" run "$directory/slow.yaml"
status=$?
echo $$ >"$(dirname "$group")/cgroup.procs"
[ "$status" -ne 3 ] || { echo "skipped: the slow disk; no memory limit can be set here"; exit 0; }
exit "$status"
ROOT
}

step "real disks" run 300 RealDiskTests "${as_root[@]}" env PRESSUREKIT_REAL_FAULTS=1
export PRESSURESIM=${PRESSURESIM:-$PWD/.build/release/pressuresim}
[ -x "$PRESSURESIM" ] || step "the tool" scripts/tool.sh
step "a slow disk" slow_disk
step "a disk that fails late" scripts/faults/late.sh
step "slow disks below small limits" scripts/faults/throttled.sh
step "a disk on the network that goes away" scripts/faults/gone.sh
step "fifty kills" run 300 aProcessThatIsKilled env PRESSUREKIT_KILLS=50
finish
