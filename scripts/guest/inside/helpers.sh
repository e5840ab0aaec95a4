# shellcheck shell=sh
# shellcheck disable=SC2034 # What is set here is used in the cases.
# To be sourced by a case: cgroups, the process with PressureKit and the one without, and what is said at the end.
root=/sys/fs/cgroup
work=$(mktemp -d /run/case.XXXXXX)
# Not a cgroup: the child of `survive` moves itself into the one it is given, and here it is in the right one already.
mkdir "$work/none" && : >"$work/none/cgroup.procs" && chmod -R a+rwX "$work"
# A socket is made only where nobody else may write.
mkdir -m 700 "$work/own"
# Whoever is left in a cgroup of the case's ends with it.
: >"$work/groups"
each=
trap 'while read -r each; do echo 1 >"$each/cgroup.kill"; done <"$work/groups"' EXIT

ok() { echo "ok${1:+: $1}"; exit 0; }
failed() { echo "failed: $*"; exit 1; }
skipped() { echo "skipped: $*"; exit 0; }

# group NAME [FILE VALUE]…: a new cgroup, without swap unless that is said otherwise.
group() {
    group=$root/$1
    mkdir -p "$group" && echo "$group" >>"$work/groups"
    shift
    [ ! -f "$group/memory.swap.max" ] || echo 0 >"$group/memory.swap.max"
    while [ $# -gt 0 ]; do
        echo "$2" >"$group/$1"
        shift 2
    done
    echo "$group"
}

# inside GROUP COMMAND…: becomes the command, in the cgroup from its first instruction.
inside() { sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$@"; }

# survive with|without TIMES [OPTION…]: holds TIMES as much as 64 MiB; what it tells goes to $work/news.
survive() {
    mode=$1 times=$2
    shift 2
    echo "survive --child $mode --group $work/none --group-version 2 --limit 64MiB --times $times --rate 2GB/s $*"
}
with() { # GROUP TIMES: with PressureKit, to the end
    # shellcheck disable=SC2046
    inside "$1" pressuresim $(survive with "$2") >"$work/news" 2>"$work/complaint"
}
without() { # GROUP TIMES: the same values in a dictionary
    # shellcheck disable=SC2046
    inside "$1" pressuresim $(survive without "$2") >"$work/news" 2>"$work/complaint"
}

# To be asked while it runs, which takes it four minutes: a process with PressureKit, whose socket is there when
# it can be.
lasting="env PRESSUREKIT_CONTROL=$work/own/socket pressuresim $(survive with 4 --rate 1MB/s)"
listens() { [ -S "$work/own/socket" ]; }
# state ORIGIN [END OF ITS FILE'S NAME]: how that signal stands there.
state() {
    pressuresim status "$work/own/socket" --json - | jq -r --arg origin "$1" --arg file "${2:-}" \
        '[.status.signals[] | select(.origin == $origin and (.source | endswith($file))) | .state] | first // "none"'
}
is() { [ "$(state "$2" "${3:-}")" = "$1" ]; }

# field FILE NAME: the number in a line `name 1234`.
field() { awk -v name="$2" '$1 == name { print $2 }' "$1"; }

# finished FILE: all values were loaded and right, by the last line of what it told.
finished() {
    tail -n 1 "$1" | jq -e '.isFinal and .tally.lost == 0 and .tally.verifiedAtEnd == .tally.loaded' >/dev/null
}
# limit_seen: the least limit of a cgroup that the doctor saw, whatever the machine has.
limit_seen() { jq '[.readings[] | select(.origin == "cgroup") | .limit_bytes] | min' "$work/doctor"; }
library() { tail -n 1 "$work/news" | jq -r ".library.$1"; }

# lives GROUP TIMES: with PressureKit it comes to its end, and nobody is killed.
lives() {
    before=$(field "$1/memory.events" oom_kill)
    with "$1" "$2"
    status=$?
    [ "$status" -eq 0 ] || failed "with PressureKit: status $status, $(tail -n 1 "$work/complaint" | cut -c 1-200)"
    finished "$work/news" || failed "with PressureKit: $(tail -n 1 "$work/news" | cut -c 1-300)"
    [ "$(field "$1/memory.events" oom_kill)" = "$before" ] || failed "with PressureKit: the kernel killed in its cgroup"
}

# dies GROUP TIMES: without PressureKit the kernel kills it.
dies() {
    before=$(field "$1/memory.events" oom_kill)
    without "$1" "$2"
    status=$?
    [ "$status" -eq 137 ] || failed "without PressureKit: status $status"
    [ "$(field "$1/memory.events" oom_kill)" -gt "$before" ] || failed "without PressureKit: not killed by the kernel"
}

# eventually COUNT COMMAND…: tries so often, half a second apart.
eventually() {
    tries=$1
    shift
    while ! "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.5
    done
}

# hog MIB: takes so much and keeps it.
hog() { { head -c "$1M" /dev/zero; sleep 100000; } | tail -c "$1M" >/dev/null; }
