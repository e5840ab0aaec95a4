#!/usr/bin/env bash
# run.sh [debug]: saves a state in one process, kills it, and restores it in another. As root the two are on machines of their
# own, as far as the network knows (namespaces), with the server on a third; otherwise all three are on this one.
set -euo pipefail
cd "$(dirname "$0")"
swift=${SWIFT:-swift}

configuration=${1:-release}
"$swift" build --configuration "$configuration"
travel=$("$swift" build --configuration "$configuration" --show-bin-path)/Travel
redis=$(command -v redis-server || command -v valkey-server) || { echo "travel: no redis-server" >&2; exit 2; }
place=$(mktemp -d "${TMPDIR:-/var/tmp}/travel.XXXXXX")
name=pk$$
started=()
machines=()
cleanup() {
    [ ${#started[@]} -eq 0 ] || kill -KILL "${started[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    for machine in ${machines[@]+"${machines[@]}"}; do ip netns del "$machine"; done
    rm -rf "$place"
}
trap cleanup EXIT

if [ "$(id -u)" = 0 ] && ip netns add "$name-server" 2>/dev/null; then
    machines=("$name-server")
    number=0
    for machine in one two; do
        number=$((number + 1))
        ip netns add "$name-$machine"
        machines+=("$name-$machine")
        ip link add "$name-$number" netns "$name-server" type veth peer name eth0 netns "$name-$machine"
        ip -n "$name-server" address add "10.77.$number.1/24" dev "$name-$number"
        ip -n "$name-server" link set "$name-$number" up
        ip -n "$name-$machine" address add "10.77.$number.2/24" dev eth0
        ip -n "$name-$machine" link set eth0 up
    done
    # The machine, and from there the server.
    # Both are run in the background, and are what is killed then.
    on() { exec ip netns exec "$name-$1" "${@:2}"; }
    address() { [ "$1" = one ] && echo 10.77.1.1 || echo 10.77.2.1; }
    echo "three machines: the server, one and two"
else
    on() { exec "${@:2}"; }
    address() { echo "$place/socket"; }
    echo "three processes on this machine: namespaces are root's"
fi

on server "$redis" --bind 0.0.0.0 --port 6379 --protected-mode no --unixsocket "$place/socket" --save "" --appendonly no \
    --dir "$place" >"$place/server" 2>&1 &
started+=($!)

# launch MACHINE ARGUMENT…: the program there, with its output in $place/MACHINE.
launch() {
    local machine=$1
    # Here, and not where it begins: nobody is to read what the last one has said.
    : >"$place/$machine"
    on "$machine" "$travel" "$(address "$machine")" "${@:2}" >"$place/$machine" 2>&1 &
    app=$!
    started+=("$app")
}

# await MACHINE TEXT: until its output has it, two minutes at most.
await() {
    local try
    for ((try = 0; try < 2400; try++)); do
        if grep -qs "$2" "$place/$1"; then
            sed "s/^/  $1: /" "$place/$1"
            return 0
        fi
        sleep 0.05
    done
    echo "travel: $1 never said \"$2\", but:" >&2
    cat "$place/$1" >&2
    return 1
}

# Restores on one, as soon as whoever was killed has the state no more: for its lease.
restore_once_free() {
    local try look
    for ((try = 0; try < 30; try++)); do
        launch one restore
        # Refused, it ends.
        for ((look = 0; look < 2400; look++)); do
            if ! kill -0 "$app" 2>/dev/null || grep -q "^64 of 64 pages" "$place/one"; then break; fi
            sleep 0.05
        done
        grep -q "^stateDirectoryInUse" "$place/one" || break
        sleep 0.5
    done
    await one "^64 of 64 pages"
}

kill_it() {
    kill -KILL "$app" 2>/dev/null || true
    wait "$app" 2>/dev/null || true
}

await server "eady to accept" >/dev/null
launch one save 7
await one "^saved"
kill_it
echo "killed with SIGKILL; on the other machine:"
launch two restore
await two "^64 of 64 pages"
grep -q "^the reader is on page 7" "$place/two"

echo "the state is two's now:"
reader=$app
launch one restore
await one "^stateDirectoryInUse"
wait "$app" && { echo "travel: two have restored it at once" >&2; exit 1; }
app=$reader
kill_it

echo "two was killed as well, and the state is one's within the lease:"
restore_once_free
kill_it

echo "killed in mid-save, it leaves what was saved before:"
sleep 4
launch two save 8 killed
wait "$app" 2>/dev/null || true
grep -q "^saved" "$place/two" && { echo "travel: it was to be killed" >&2; exit 1; }
restore_once_free
grep -q "^the reader is on page 7" "$place/one"
