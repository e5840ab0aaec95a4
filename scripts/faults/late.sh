#!/usr/bin/env bash
# A disk that takes every write and fails later: ext4 on a sparse file on a tmpfs that is much smaller. A write ends in
# the page cache; the device says no when the page is written back. Thin volumes, quotas and NFS do the same.
# Passes with no read lost, every value right at the end, and the failure told.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
# shellcheck source=scripts/faults/disks.sh
. scripts/faults/disks.sh
enter "$@"

# thin SIZE: a disk of 2 GiB, with room for SIZE.
thin() {
    mkdir -p "$work/room"
    mount -t tmpfs -o "size=$1" tmpfs "$work/room" || return
    at_exit umount -l "$work/room"
    truncate -s 2G "$work/room/image" && disk "$work/room/image" "$work/disk" -m 0
}

# thick: takes it away again.
thick() {
    umount -l "$work/disk" && losetup -d "$device" && umount -l "$work/room"
}

# Where nothing limits the process the kernel writes back and lets go of pages when it likes. Here it likes to while the
# scenario waits: the spill file has no name, so it is found among the tool's descriptors.
unlimited() {
    local pid file status
    cat >"$work/late.yaml" <<YAML
name: A disk that fails late, without a limit
spill: {directory: $work/disk}
controllers:
  - name: shelf
    visible: true
    caches:
      - {name: kept, count: 400, size: 512KiB, content: {synthetic: {compressibility: 0}}, loader: none}
timeline:
  - access: {of: shelf/*}
  - warning: critical
  - wait: 4s
  - access: {of: shelf/*}
  - update: {of: shelf/*, count: 16}
  - warning: critical
  - wait: 4s
  - verify
expect:
  lost: == 0
  failed_accesses: == 0
  restores: ">= 100"
  spill_failures: ">= 1"
YAML
    echo "  150 MiB, no limit"
    timeout --kill-after=10 90 "$tool" run "$work/late.yaml" >"$work/said" 2>&1 &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        sync -f "$work/disk" 2>/dev/null
        # The tool is a child of timeout's.
        for file in /proc/"$(pgrep -P "$pid")"/fd/*; do
            [[ $(readlink "$file") == "$work/disk/"* ]] || continue
            dd if="$file" iflag=nocache count=0 status=none
        done 2>/dev/null
        sleep 0.2
    done
    wait "$pid"
    status=$?
    sed 's/^/    /' "$work/said"
    return "$status"
}

failed=0
thin 150M || skip "no file system can be mounted here"
survive "150 MiB, past the page cache" && reported || failed=1
thick
thin 150M || exit
survive "150 MiB, page cache" --page-cache && reported || failed=1
thick
thin 150M || exit
unlimited || failed=1
exit "$failed"
