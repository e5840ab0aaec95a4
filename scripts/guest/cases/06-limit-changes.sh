#!/bin/sh
# A limit that changes while it runs: memory.high goes from 512 to 64 MiB once 96 MiB are held, and back.
# boot: plain
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
group=$(group changes memory.max 512M)
# memory.max below what is held has the kernel take it at once, or kill: without PressureKit it kills.
holds() { [ "$(cat "$group/memory.current")" -ge 100663296 ]; }
change() {
    eventually 400 holds || return
    echo "$1" >"$group/$2"
}
change 64M memory.max &
without "$group" 4
status=$?
wait
[ "$status" -eq 137 ] && [ "$(field "$group/memory.events" oom_kill)" -gt 0 ] || failed "without PressureKit: status $status"
echo 512M >"$group/memory.max"
change 64M memory.high &
lives "$group" 4
wait
[ "$(cat "$group/memory.high")" = 67108864 ] || failed "the limit was never changed"
[ "$(library evictions)" -gt 0 ] || failed "nothing was evicted"
ok "killed without; with, $(library evictions) evictions, first for $(library firstCause | cut -c 1-90)"
