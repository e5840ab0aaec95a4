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
[ $? -eq 137 ] || failed "without PressureKit: the innocent process was not killed"
inside "$group" sleep 100000 &
innocent=$!
lives "$group" 2
kill -0 "$innocent" || failed "with PressureKit: the innocent process is gone"
kill "$innocent"
ok "both killed without, nobody with ($(library evictions) evictions)"
