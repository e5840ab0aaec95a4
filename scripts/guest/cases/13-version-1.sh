#!/bin/sh
# cgroups of version 1: memory.limit_in_bytes of 64 MiB.
# boot: v1
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
group=$root/memory/one
mkdir "$group" && echo 64M >"$group/memory.limit_in_bytes" || failed "no cgroup of version 1"
inside "$group" pressuresim doctor --json "$work/doctor" >/dev/null || failed "the doctor: status $?"
[ "$(limit_seen)" = 67108864 ] || failed "the limit that binds: $(limit_seen)"
kills() { field "$group/memory.oom_control" oom_kill; }
without "$group" 2
[ "$(kills)" -eq 1 ] || failed "without PressureKit: not killed"
with "$group" 2 || failed "with PressureKit: status $?"
finished "$work/news" || failed "with PressureKit: $(tail -n 1 "$work/news" | cut -c 1-300)"
[ "$(kills)" -eq 1 ] || failed "with PressureKit: killed"
ok "killed without, $(library evictions) evictions with"
