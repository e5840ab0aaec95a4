#!/usr/bin/env bash
# A disk on the network that goes away while values are spilled to it: ext4 on a loop device on nbdfuse on nbdkit, whose
# error filter fails every request while a file exists. That file is made when three quarters of the values have been
# loaded. The kernels that this is built on have neither an NFS client (CONFIG_NETWORK_FILESYSTEMS) nor nbd nor modules,
# so nfs-kernel-server, nfs-ganesha and nbd-client are of no use; a write here too ends in the page cache, and fails
# with EIO at its write-back.
#
# Passes where it comes back (after seven eighths): every value is right at the end. Where it does not: every value is
# right, but for those without a loader that were there before and had left memory, whose reads throw the error that
# names their cache. In both, the process lives and the failure is told.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
# shellcheck source=scripts/faults/disks.sh
. scripts/faults/disks.sh
# shellcheck source=scripts/need.sh
. scripts/need.sh
enter "$@"

[ -c /dev/fuse ] || skip "there is no FUSE here"
for program in nbdkit nbdfuse fusermount3; do
    why=$(need "$program" nbdkit libnbd-bin fuse3) || skip "$why"
done

# serve: a new disk at $work/disk, on a server that runs until `unserve`.
serve() {
    rm -f "$work/gone" "$work/socket" "$work/pid" "$work/fuse.pid"
    mkdir -p "$work/export"
    truncate -s 0 "$work/image" && truncate -s 1G "$work/image" || return
    nbdkit --unix "$work/socket" --pidfile "$work/pid" --filter=error file "$work/image" \
        error=EIO error-rate=100% error-file="$work/gone" || return
    at_exit "kill $(cat "$work/pid")"
    # It tells of every request that fails, which is what is wanted here.
    nbdfuse --pidfile "$work/fuse.pid" "$work/export/disk" --unix "$work/socket" 2>/dev/null &
    bridge=$!
    at_exit "kill $bridge"
    at_exit umount -l "$work/export"
    for _ in {1..1200}; do
        [ -s "$work/fuse.pid" ] && break
        sleep 0.05
    done
    # A journal that cannot be written turns a disk that has come back into a read-only one.
    disk "$work/export/disk" "$work/disk" -m 0 -O ^has_journal
}

unserve() {
    rm -f "$work/gone"
    umount "$work/disk" || umount -l "$work/disk"
    losetup -d "$device"
    umount -l "$work/export"
    wait "$bridge"
    kill "$(cat "$work/pid")"
}

failed=0
serve || skip "no disk can be served here"
survive "comes back" --times 2 --rate 100MB/s --outage "$work/gone" && reported || failed=1
unserve
serve || exit
survive "never comes back" --times 2 --rate 100MB/s --outage "$work/gone" --outage-for-ever && reported || failed=1
unserve
exit "$failed"
