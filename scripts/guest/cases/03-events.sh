#!/bin/sh
# memory.events.local is notified, and memory.events where there is no other: a manager has the file watched, and the kernel notifies
# when a neighbour in the cgroup reads more files than its memory.max allows.
# boot: plain
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
above=$(group above)
echo +memory >"$above/cgroup.subtree_control"
group=$(group above/events memory.max 128M)
notified() { # FILE
    # shellcheck disable=SC2086
    inside "$group" $lasting >/dev/null 2>"$work/complaint" &
    eventually 100 listens || failed "no process to ask: $(tail -n 1 "$work/complaint")"
    eventually 20 is armed memory.events "$1" || failed "$1 is $(state memory.events "$1")"
    inside "$group" sh -c 'while :; do cat /guest/pressuresim /guest/lib/*; done >/dev/null' &
    eventually 100 is verified memory.events "$1" || failed "$1 was not notified: $(tr '\n' ' ' <"$group/memory.events")"
}
notified /events/memory.events.local
count=$(field "$group/memory.events.local" max)
[ "$(field "$above/memory.events.local" max)" -eq 0 ] || failed "the cgroup above has counted for itself"
[ "$(field "$above/memory.events" max)" -gt 0 ] || failed "the cgroup above has not counted for those below"
is armed memory.events /above/memory.events.local || failed "the cgroup above: $(state memory.events /above/memory.events.local)"
echo 1 >"$group/cgroup.kill"
wait
rm -f "$work/own/socket"
# As on kernels before 5.2, which have no local file.
: >"$work/empty"
mount --bind "$work/empty" "$group/memory.events.local"
notified /events/memory.events
[ "$(field "$group/memory.events" oom_kill)" -eq 0 ] || failed "the kernel killed somebody"
ok "both, after $count and $(($(field "$group/memory.events" max) - count)) times at the limit"
