#!/usr/bin/env bash
# Slow disks below small limits: a loop device behind the blkio controller of cgroup v1, since few kernels have dm-delay.
# Passes with nobody killed and no read lost.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
# shellcheck source=scripts/faults/disks.sh
. scripts/faults/disks.sh
enter "$@"

blkio=$(awk '/ - cgroup / && $NF ~ /(^|,)blkio(,|$)/ { print $5; exit }' /proc/self/mountinfo)
[ -n "$blkio" ] || skip "there is no blkio controller of cgroup v1"
truncate -s 1G "$work/image"
disk "$work/image" "$work/disk" -m 0 || skip "no file system can be mounted here"
number=$(cat "/sys/block/${device#/dev/}/dev") || exit
group=$blkio/pressurekit-slow-$$
mkdir "$group" || exit
at_exit rmdir "$group"
at_exit "echo $$ >'$blkio/cgroup.procs'"

# What the kernel writes back on its own belongs to the root, which is throttled too where it can be.
throttle() {
    local rate=$1 where
    for where in "$group" "$blkio"; do
        echo "$number $rate" >"$where/blkio.throttle.write_bps_device" || [ "$where" = "$blkio" ] || return
        echo "$number $rate" >"$where/blkio.throttle.read_bps_device"
    done 2>/dev/null
}
at_exit throttle 0
throttle 41943040 || skip "this kernel throttles nothing"
echo $$ >"$group/cgroup.procs" || exit

failed=0
# Loaded much faster than it can be written. Small values were what killed the smallest limit each time.
survive "40 MB/s, 128 MiB" --limit 128MiB --times 4 --rate 2GB/s || failed=1
throttle 10485760
survive "10 MB/s, 128 MiB" --limit 128MiB --times 2 --rate 2GB/s || failed=1
survive "10 MB/s, 64 MiB, values of 64 KiB" --limit 64MiB --times 3 --rate 2GB/s --value-size 64KiB || failed=1
exit "$failed"
