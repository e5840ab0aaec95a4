#!/usr/bin/env bash
# run.sh [--short]: serves thumbnails of pictures that are, decoded, several times as large as a memory limit of 256 MiB:
# from a dictionary, from an LRU cache with the bound that serves it best, and from a PressureKit cache. Prints how they fare
# under load. Needs root, a cgroup memory controller that may be written to, and wrk (which it installs where there is apt);
# without one of them it says so and succeeds.
set -euo pipefail
cd "$(dirname "$0")"
swift=${SWIFT:-swift}

limit=$((256 << 20))
count=1024
seconds=15
connections=16
protocol=http
# What p99 may be, in milliseconds: a miss decodes a picture or reads it back, and one core may be somebody else's.
slowest=1000
# Bounds of the LRU in MiB, of which the fastest that survives is taken; a first look at each takes `glance` seconds.
bounds=(232 216 200 184 168)
glance=5
if [ "${1:-}" = --short ]; then
    count=640
    seconds=5
    bounds=(184)
fi

"$swift" build --configuration release
server=$PWD/.build/release/ThumbnailServer

skip() { echo "skipped: $*"; exit 0; }

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || skip "a memory limit needs root, and there is no sudo"
    sudo -n true 2>/dev/null || skip "a memory limit needs root, and sudo asks for a password"
    as_root=(sudo -n)
fi
# shellcheck source=scripts/need.sh
. ../../scripts/need.sh
why=$(need wrk wrk) || skip "$why"

# The cgroup that the limited ones are made below: of version 1 if it has the memory controller, else of version 2.
parent=$(awk '/ - cgroup / && $NF ~ /(^|,)memory(,|$)/ {print $5; exit}' /proc/self/mountinfo)
version=1
if [ -n "$parent" ]; then
    own=$(sed -nE 's/^[0-9]+:([^:]*,)?memory(,[^:]*)?://p' /proc/self/cgroup)
    if [ -d "$parent$own" ]; then parent=${parent%/}$own; fi
else
    version=2
    parent=$(awk '/ - cgroup2 / {print $5; exit}' /proc/self/mountinfo)
    [ -n "$parent" ] || skip "no cgroup file system is mounted"
    grep -qw memory "$parent/cgroup.controllers" || skip "the cgroup file system has no memory controller"
    "${as_root[@]}" sh -c "echo +memory >'$parent/cgroup.subtree_control'" 2>/dev/null || true
fi
group=${parent%/}/thumbnails-$$
"${as_root[@]}" mkdir "$group" 2>/dev/null || skip "no cgroup can be made below $parent"

work=$(mktemp -d "${TMPDIR:-/var/tmp}/thumbnails.XXXXXX")
finish() {
    # Only the server can be in the cgroup.
    local process
    while read -r process; do
        "${as_root[@]}" kill -KILL "$process" 2>/dev/null || true
    done < <(cat "$group/cgroup.procs" 2>/dev/null)
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        "${as_root[@]}" rmdir "$group" 2>/dev/null && break
        sleep 0.1
    done
    rm -rf "$work"
}
trap finish EXIT

set_limit() { printf '%s' "$2" | "${as_root[@]}" tee "$group/$1" >/dev/null; }
if [ $version = 1 ]; then
    set_limit memory.limit_in_bytes "$limit" || skip "the limit cannot be set"
    # Without swap, if that is accounted for.
    if [ -e "$group/memory.memsw.limit_in_bytes" ]; then set_limit memory.memsw.limit_in_bytes "$limit"; fi
else
    set_limit memory.max "$limit" || skip "the limit cannot be set"
    if [ -e "$group/memory.swap.max" ]; then set_limit memory.swap.max 0; fi
fi
oom_kills() {
    if [ $version = 1 ]; then sed -n 's/^oom_kill //p' "$group/memory.oom_control"
    else sed -n 's/^oom_kill //p' "$group/memory.events"; fi
}

pictures=$PWD/.build/pictures
"$server" "$pictures" $count

# run NAME SECONDS OPTION…: one run. Sets `answer` to a row of the table, and `outcome`, `requests`, `p99`, `errors`, `status`.
run() {
    local name=$1 seconds=$2 address='' kills began ended try
    shift 2
    kills=$(oom_kills)
    : >"$work/out"
    "${as_root[@]}" sh -c "echo \$\$ >'$group/cgroup.procs'; exec \"\$@\"" sh "$server" "$@" "$pictures" $count 0 \
        >"$work/out" 2>"$work/err" &
    local app=$!
    for ((try = 0; try < 1200; try++)); do
        address=$(sed -n 's/^listening on //p' "$work/out")
        if [ -n "$address" ] || ! kill -0 "$app" 2>/dev/null; then break; fi
        sleep 0.05
    done
    [ -n "$address" ] || { cat "$work/err" >&2; return 1; }
    COUNT=$count wrk --threads 2 --connections "$connections" --duration "${seconds}s" --latency --script random.lua \
        "$protocol://$address" >"$work/wrk" &
    local load=$!
    began=$(date +%s%N)
    # Until the load ends, or the server does.
    while kill -0 "$load" 2>/dev/null && kill -0 "$app" 2>/dev/null; do sleep 0.02; done
    ended=$(date +%s%N)
    status=''
    if kill -0 "$app" 2>/dev/null; then
        wait "$load"
        status=$(exec 3<>"/dev/tcp/${address/://}"
            printf 'GET /status HTTP/1.0\r\nHost: server\r\nConnection: close\r\n\r\n' >&3
            tr -d '\r' <&3 | sed '1,/^$/d' | paste -sd, | sed 's/,$//; s/,/, /g')
        "${as_root[@]}" kill -TERM "$(cat "$group/cgroup.procs")"
        outcome="alive, ended in order"
        wait "$app" || outcome="ended with status $?"
    else
        wait "$app" 2>/dev/null || true
        # There is nobody left to ask; wrk says then what it has.
        kill -INT "$load" 2>/dev/null || true
        wait "$load" 2>/dev/null || true
        outcome="ended by itself"
        if [ "$(oom_kills)" -gt "$kills" ]; then
            outcome="OOM-killed after $(((ended - began) / 1000000)) ms"
        fi
    fi
    requests=$(awk '/requests in/{print $1}' "$work/wrk")
    p50=$(awk '$1=="50%"{print $2}' "$work/wrk")
    p99=$(awk '$1=="99%"{print $2}' "$work/wrk")
    errors=$(awk '/Socket errors/{gsub(/,/, ""); n+=$4+$6+$8+$10} /Non-2xx/{n+=$NF} END{print n+0}' "$work/wrk")
    printf -v answer '| %-18s | %-26s | %8s | %9s | %9s | %6s |' "$name" "$outcome" "$requests" "$p50" "$p99" "$errors"
}

# In milliseconds, rounded up.
milliseconds() { awk -v t="$1" 'BEGIN{n=t+0; if (t ~ /us$/) n/=1000; else if (t ~ /[0-9]s$/) n*=1000; printf "%d", n+1}'; }

run "a dictionary" "$seconds" --plain
rows=$answer
plain=$outcome

# Too high a bound is found out under load only; of several that survive, not always the highest is the fastest.
best='' most=-1
if [ ${#bounds[@]} -eq 1 ]; then best=${bounds[0]}; else
    for bound in "${bounds[@]}"; do
        run "LRU of $bound MiB" "$glance" --lru "$bound"
        echo "$answer"
        if [[ $outcome = alive* ]] && [ "$requests" -gt "$most" ]; then best=$bound most=$requests; fi
    done
fi
if [ -n "$best" ]; then
    run "LRU of $best MiB" "$seconds" --lru "$best"
    rows+=$'\n'$answer
    bounded=0; [[ $outcome != alive* ]] || bounded=$requests
fi

run "PressureKit" "$seconds"
rows+=$'\n'$answer

echo "$count pictures of 0.25 to 2.25 MiB, decoded, under a limit of $((limit >> 20)) MiB without swap; $connections connections for $seconds s"
echo "| pictures in        | the server                 | requests |       p50 |       p99 | errors |"
echo "|--------------------|----------------------------|----------|-----------|-----------|--------|"
echo "$rows"
echo "PressureKit's cache at the end: $status"
ratio=
if [ "${bounded:-0}" -gt 0 ]; then
    ratio=$((100 * requests / bounded))
    printf "requests over the LRU's: %d.%02d\n" $((ratio / 100)) $((ratio % 100))
fi

fail() { echo "thumbnails: $*" >&2; cat "$work/err" >&2; exit 1; }
[[ $plain = OOM-killed* ]] || fail "the dictionary was to outgrow the limit; it $plain"
[[ $outcome = alive* ]] || fail "the server with PressureKit $outcome"
[ "$errors" -eq 0 ] || fail "$errors requests failed"
[ "$(milliseconds "$p99")" -le $slowest ] || fail "p99 is $p99, which is more than $slowest ms"
if [ ${#bounds[@]} -gt 1 ] && [ -n "$ratio" ]; then
    [ "$ratio" -ge 100 ] || fail "the LRU answered $bounded requests, PressureKit $requests"
fi
