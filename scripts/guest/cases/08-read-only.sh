#!/bin/sh
# As in a container: a cgroup namespace, whose root is the cgroup itself, and the file system of cgroups read-only.
# boot: plain
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
group=$(group container memory.max 64M)
cat >"$work/contain" <<'SCRIPT'
# Read-only here alone: what is mounted is shared with everybody.
mount -t cgroup2 cgroup2 /sys/fs/cgroup && mount -o remount,bind,ro /sys/fs/cgroup && exec "$@"
SCRIPT
contained() { inside "$group" unshare --cgroup --mount sh "$work/contain" "$@"; }
contained sh -c '[ "$(cat /proc/self/cgroup)" = 0::/ ] && ! mkdir /sys/fs/cgroup/new 2>/dev/null' || failed "the namespace is not there"
contained pressuresim doctor --json "$work/doctor" >/dev/null || failed "the doctor: status $?"
[ "$(limit_seen)" = 67108864 ] || failed "the limit that binds: $(limit_seen)"
events=$(jq -r '.signals[] | select(.origin == "memory.events") | .state' "$work/doctor")
case $events in armed | verified) ;; *) failed "memory.events: $events" ;; esac
# shellcheck disable=SC2046
contained pressuresim $(survive without 2) >/dev/null 2>&1
[ "$(field "$group/memory.events" oom_kill)" -eq 1 ] || failed "without PressureKit: not killed"
# shellcheck disable=SC2046
contained pressuresim $(survive with 2) >"$work/news" 2>"$work/complaint" || failed "with PressureKit: status $?, $(tail -n 1 "$work/complaint")"
finished "$work/news" || failed "with PressureKit: $(tail -n 1 "$work/news")"
[ "$(field "$group/memory.events" oom_kill)" -eq 1 ] || failed "with PressureKit: the kernel killed"
psi=$(jq -r '[.signals[] | select(.origin == "psi")][0].state' "$work/doctor")
ok "memory.events $events, own stalls $psi; killed without, $(library evictions) evictions with"
