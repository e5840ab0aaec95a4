#!/bin/sh
# memory.events.local is rung, and memory.events where there is no other: the doctor has the file watched, and sees it ring,
# while a neighbour in the cgroup reads more files than its memory.max allows.
# boot: plain
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
above=$(group above)
echo +memory >"$above/cgroup.subtree_control"
group=$(group above/events memory.max 64M)
inside "$group" sh -c 'while :; do cat /guest/pressuresim /guest/lib/*; done >/dev/null' &
state() { jq -r --arg file "$1" '.signals[] | select(.origin == "memory.events" and (.source | endswith($file))) | .state' "$work/doctor"; }
# rings FILE: the kernel has rung on it, and its counters have grown.
rings() {
    inside "$group" pressuresim doctor --json "$work/doctor" >/dev/null
    [ "$(state "$1")" = verified ]
}
eventually 20 rings /events/memory.events.local || failed "memory.events.local: $(state /events/memory.events.local)"
local_count=$(field "$group/memory.events.local" max)
[ "$(field "$above/memory.events.local" max)" -eq 0 ] || failed "the cgroup above has counted for itself"
[ "$(field "$above/memory.events" max)" -gt 0 ] || failed "the cgroup above has not counted for those below"
[ "$(state /above/memory.events.local)" = armed ] || failed "the cgroup above: $(state /above/memory.events.local)"
# As on kernels before 5.2, which have no local file.
: >"$work/empty"
mount --bind "$work/empty" "$group/memory.events.local"
eventually 20 rings /events/memory.events || failed "memory.events: $(state /events/memory.events)"
umount "$group/memory.events.local"
[ "$(field "$group/memory.events" oom_kill)" -eq 0 ] || failed "somebody was killed"
echo 1 >"$group/cgroup.kill"
ok "both, after $local_count and $(field "$group/memory.events" max) times at the limit"
