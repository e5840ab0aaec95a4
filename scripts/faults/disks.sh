# shellcheck shell=bash
# To be sourced by the cases on real disks: becomes root, makes disks that go wrong, and takes everything away at the end.

# For `survive`, whose cgroups and devices are root's. Built for release by whoever calls, so that nothing of root's is
# left in the build directory.
tool=${PRESSURESIM:-$PWD/.build/release/pressuresim}

skip() { echo "skipped: $*"; exit 0; }

# What is to be undone, last first. Nothing here may hang: a disk that is gone is let go of, not waited for.
undo=()
at_exit() { undo=("$*" "${undo[@]}"); }
leave() {
    local command
    for command in "${undo[@]}"; do eval "$command" 2>/dev/null; done
}

# enter ARGUMENTS…: goes on as root in a directory of its own, `work`, or says why not and succeeds.
enter() {
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || skip "faults of real disks need root, and there is no sudo"
        sudo -n true 2>/dev/null || skip "faults of real disks need root, and sudo asks for a password"
        exec sudo -n env PRESSURESIM="$tool" "$0" "$@"
    fi
    command -v mkfs.ext4 >/dev/null || skip "there is no mkfs.ext4"
    [ -x "$tool" ] || { echo "build the tool first: scripts/tool.sh" >&2; exit 1; }
    trap leave EXIT
    trap 'exit 1' INT TERM HUP
    work=$(mktemp -d)
    at_exit rm -rf --one-file-system "$work"
}

# disk FILE DIRECTORY OPTION…: makes an ext4 in a file, with mkfs's options, and mounts it; `device` is its loop device.
disk() {
    local file=$1 directory=$2
    shift 2
    mkdir -p "$directory"
    # All of it now: what is put off is written in mid-run.
    mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$@" "$file" || return
    # Past the page cache of the file below, or a disk that is gone could still be read. Not every file can do that.
    device=$(losetup --direct-io=on --show -f "$file" 2>/dev/null) || device=$(losetup --show -f "$file") || return
    at_exit losetup -d "$device"
    mount "$device" "$directory" || return
    at_exit umount -l "$directory"
}

# survive WHAT OPTION…: holds more than a limit allows, with the spill directory on the disk. Passes where the process
# lives and every value is right at the end; what it said is in $work/said.
survive() {
    local what=$1 status start=$SECONDS
    shift
    echo "  $what"
    timeout --kill-after=10 "${patience:-90}" "$tool" survive --with --spill-directory "$work/disk" "$@" >"$work/said" 2>&1
    status=$?
    sed '1,3d; s/^/    /' "$work/said"
    [ "$status" -ne 3 ] || { cat "$work/said"; skip "no memory limit can be set here"; }
    [ "$status" -ne 124 ] && [ "$status" -ne 137 ] || echo "    not finished after ${patience:-90} s"
    echo "    took $((SECONDS - start)) s in all"
    return "$status"
}

# reported: that values could not be spilled was told.
reported() { grep -Eq '[0-9] spills? failed' "$work/said" || { echo "    that the disk failed was not reported"; return 1; }; }
