#!/bin/sh
# /var/tmp in memory: refused as a place to spill to, with a word about what to set; given a disk, it lives.
# boot: tmpfs
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
group=$(group tmpfs memory.max 64M)
pressuresim doctor --json "$work/doctor" >/dev/null
refusal=$(jq -r '.spill_refusal // empty' "$work/doctor")
case $refusal in *tmpfs*) ;; *) failed "not refused: $(jq -c '[.spill_directory, .spill_refusal]' "$work/doctor")" ;; esac
# What is written there would be the cgroup's memory: it says so and does not begin.
with "$group" 2
status=$?
[ "$status" -ne 0 ] && [ "$status" -ne 137 ] && grep -q tmpfs "$work/complaint" || failed "with /var/tmp in memory: status $status"
mkdir -p /var/spill
TMPDIR=/var/spill
export TMPDIR
lives "$group" 2
ok "refused; with TMPDIR on a disk, $(library evictions) evictions"
