#!/bin/sh
# memory.oom.group: the kernel kills all of a cgroup, an innocent process too. With PressureKit nobody is.
# boot: plain
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
group=$(group together memory.max 64M memory.oom.group 1)
inside "$group" sleep 100000 &
innocent=$!
dies "$group" 2
wait "$innocent"
[ "$(field "$group/memory.events" oom_kill)" -ge 2 ] || failed "without PressureKit: only one was killed"
inside "$group" sleep 100000 &
innocent=$!
lives "$group" 2
kill -0 "$innocent" || failed "with PressureKit: the innocent process is gone"
kill "$innocent"
ok "$(field "$group/memory.events" oom_kill) killed without, none with"
