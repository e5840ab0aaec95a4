#!/bin/sh
# The limit of the parent binds: 64 MiB above, and none in the cgroup itself.
# boot: plain
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
parent=$(group parent memory.max 64M)
echo +memory >"$parent/cgroup.subtree_control"
group=$(group parent/child)
inside "$group" pressuresim doctor --json "$work/doctor" >/dev/null
[ "$(limit_seen)" = 67108864 ] || failed "the limit that binds: $(limit_seen)"
dies "$group" 2
lives "$group" 2
ok "killed without, $(library evictions) evictions with"
