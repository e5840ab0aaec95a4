#!/bin/sh
# memory.high of 64 MiB below a memory.max of 192 MiB, and twice 64 MiB to hold: without PressureKit it is throttled and gets
# no further, but is not killed; with it, it comes to its end.
# boot: plain
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
group=$(group high memory.high 64M memory.max 192M)
without "$group" 2 &
is_throttled() { [ "$(field "$group/memory.events" high)" -ge 50 ] && [ "$(cat "$group/memory.current")" -ge 67108864 ]; }
eventually 240 is_throttled || failed "without PressureKit: $(tr '\n' ' ' <"$group/memory.events")"
without_high=$(field "$group/memory.events" high)
[ -n "$(cat "$group/cgroup.procs")" ] || failed "without PressureKit: it is gone"
[ "$(field "$group/memory.events" oom_kill)" -eq 0 ] || failed "without PressureKit: killed"
! finished "$work/news" || failed "without PressureKit: it got through"
echo 1 >"$group/cgroup.kill"
wait
lives "$group" 2
with_high=$(($(field "$group/memory.events" high) - without_high))
[ "$(field "$group/memory.events" max)" -eq 0 ] || failed "memory.max was met"
ok "throttled $without_high times or more without, to the end with ($with_high times)"
