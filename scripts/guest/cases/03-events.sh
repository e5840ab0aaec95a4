#!/bin/sh
# memory.events and memory.events.local are rung: the doctor has both kernel files watched, and sees one ring, while a
# neighbour in the cgroup meets memory.high over and over.
# boot: plain
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
above=$(group above)
echo +memory >"$above/cgroup.subtree_control"
group=$(group above/events memory.high 48M)
inside "$group" sh -c '. /guest/inside/helpers.sh; hog 56' &
rings() {
    inside "$group" pressuresim doctor --json "$work/doctor" >/dev/null
    jq -e --arg state "$1" '.signals[] | select(.origin == "memory.events" and .state == $state
        and (.source | endswith("/events/memory.events.local")))' "$work/doctor" >/dev/null
}
rings verified || rings armed || failed "$(jq -c '.signals[] | select(.origin == "memory.events")' "$work/doctor" | tr '\n' ' ')"
eventually 20 rings verified || failed "armed, and never rung: $(jq -c '.signals[] | select(.origin == "memory.events")' "$work/doctor")"
counted=$(field "$group/memory.events.local" high)
[ "$(field "$above/memory.events.local" high)" -eq 0 ] || failed "the cgroup above has counted for itself"
[ "$(field "$above/memory.events" high)" -gt 0 ] || failed "the cgroup above has not counted for those below"
jq -e '.readings[] | select(.origin == "memory.events" and (.source | endswith("/above/memory.events.local"))) | .level == "normal"' \
    "$work/doctor" >/dev/null || failed "the cgroup above is loud, whose own limits were not met"
# The file of kernels before 5.2: the local one is hidden below an empty one.
: >"$work/empty"
mount --bind "$work/empty" "$group/memory.events.local"
eventually 20 sh -c '. /guest/inside/helpers.sh; inside "$0" pressuresim doctor --json "$1" >/dev/null
    jq -e ".signals[] | select(.origin == \"memory.events\" and .state == \"verified\" and (.source | endswith(\"/events/memory.events\")))" "$1" >/dev/null' \
    "$group" "$work/doctor" || failed "memory.events: $(jq -c '.signals[] | select(.origin == "memory.events")' "$work/doctor" | tr '\n' ' ')"
umount "$group/memory.events.local"
echo 1 >"$group/cgroup.kill"
ok "memory.events.local and memory.events, $counted times"
