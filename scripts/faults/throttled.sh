#!/usr/bin/env bash
# Slow disks below small limits: a loop device behind the blkio controller of cgroup v1, since few kernels have dm-delay.
# Passes with nobody killed and no read lost, and with no warning where a file is only written and read.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
# shellcheck source=scripts/faults/disks.sh
. scripts/faults/disks.sh
enter "$@"

blkio=$(awk '/ - cgroup / && $NF ~ /(^|,)blkio(,|$)/ { print $5; exit }' /proc/self/mountinfo)
[ -n "$blkio" ] || skip "there is no blkio controller of cgroup v1"
memory=$(awk '/ - cgroup / && $NF ~ /(^|,)memory(,|$)/ { print $5; exit }' /proc/self/mountinfo)
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

# streaming RATE: the level while others below the limit write and read a file of four times its size, on a disk of so many MB/s.
# Whoever takes memory waits for the disk meanwhile, for 30 to 97 % of the time (measured): no shortage.
streaming() {
    local limited=$memory/pressurekit-stream-$1 writer said
    mkdir "$limited" || return
    at_exit rmdir "$limited"
    echo $((128 << 20)) >"$limited/memory.limit_in_bytes" || return
    (
        echo "$BASHPID" >"$limited/cgroup.procs"
        while dd if=/dev/zero of="$work/disk/stream" bs=1M count=512 conv=notrunc && dd if="$work/disk/stream" of=/dev/null bs=1M; do :; done
    ) 2>/dev/null &
    writer=$!
    # The tool is watched by the limit that it is in.
    # shellcheck disable=SC2016
    said=$(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$limited" "$tool" watch --duration 15s --json -)
    # The loop ends with what it runs.
    pkill -P "$writer"
    wait "$writer"
    rm -f "$work/disk/stream"
    # It did fill the limit, or nothing was shown.
    [ "$(cat "$limited/memory.max_usage_in_bytes")" -ge $((124 << 20)) ] || { echo "  the stream has not filled the limit"; return 1; }
    grep -q '"decisions"' <<<"$said" || return
    ! grep '"cause"' <<<"$said" || return
    echo "  a stream to $1 MB/s: no warning in 15 s"
}

failed=0
if [ -n "$memory" ]; then
    streaming 40 || failed=1
    throttle 83886080
    streaming 80 || failed=1
    throttle 41943040
fi
# Loaded much faster than it can be written. Small values were what killed the smallest limit each time.
survive "40 MB/s, 128 MiB" --limit 128MiB --times 4 --rate 2GB/s || failed=1
throttle 10485760
survive "10 MB/s, 128 MiB" --limit 128MiB --times 2 --rate 2GB/s || failed=1
survive "10 MB/s, 64 MiB, values of 64 KiB" --limit 64MiB --times 3 --rate 2GB/s --value-size 64KiB || failed=1
exit "$failed"
