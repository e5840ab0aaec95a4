#!/bin/sh
# memory.max of 64 MiB, and twice as much to hold: killed without PressureKit, to the end with it.
# boot: plain
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
group=$(group max memory.max 64M)
dies "$group" 2
lives "$group" 2
[ "$(library evictions)" -gt 0 ] || failed "nothing was evicted"
ok "killed without, $(library evictions) evictions and $(library restores) restores with"
