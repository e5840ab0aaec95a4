#!/usr/bin/env bash
# remote.sh: the numbers of the article "Beyond one machine". Starts a Redis server here, and prints how fast values go there and
# come back, beside what redis-benchmark does with the same bytes, and what that is worth to a process without a disk.
# PRESSURESIM names a tool that was built with the trait Redis; WORTH=no leaves the last part out, which takes root.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh redis
tool=${PRESSURESIM:-}
if [ -z "$tool" ]; then
    "${SWIFT:-swift}" build --configuration release --product pressuresim --traits Redis --scratch-path .build-redis
    tool=.build-redis/release/pressuresim
fi

work=$(mktemp -d)
loopback=127.1
port=$(python3 -c 'import socket, sys; s = socket.socket(); s.bind((sys.argv[1], 0)); print(s.getsockname()[1])' "$loopback")
server=$(command -v redis-server valkey-server | head -n 1)
cli=${server%server}cli benchmark=${server%server}benchmark
"$server" --port "$port" --bind "$loopback" --save "" --appendonly no --dir "$work" --loglevel warning >"$work/log" &
pid=$!
trap 'kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 100); do
    "$cli" -h "$loopback" -p "$port" ping >/dev/null 2>&1 && break
    sleep 0.05
done

# Keys that are there for the first time, as values that are spilled are; quick: the middle of three.
measure() { # bytes requests pipeline clients
    for _ in 1 2 3; do
        "$cli" -h "$loopback" -p "$port" flushall >/dev/null
        "$benchmark" -h "$loopback" -p "$port" -t set -d "$1" -n "$2" -P "$3" -c "$4" -r 100000000 --csv | tail -n 1 | cut -d '"' -f 4
    done | sort -g | sed -n 2p
}
large=$(measure 65536 8192 16 50)
small=$(measure 4194304 200 4 4)
"$cli" -h "$loopback" -p "$port" flushall >/dev/null
"$benchmark" -h "$loopback" -p "$port" -t set -d 65536 -n 1 -c 1 --csv >/dev/null
get=$("$benchmark" -h "$loopback" -p "$port" -t get -n 20000 -c 1 --csv | tail -n 1 | cut -d '"' -f 10)
"$cli" -h "$loopback" -p "$port" flushall >/dev/null

for round in 1 2 3; do "$tool" remote "$loopback:$port" --measure >"$work/$round.json"; done
python3 - "$large" "$small" "$get" "$work"/[123].json <<'EOF'
import json, statistics, sys
large, small, get = float(sys.argv[1]) * 65536, float(sys.argv[2]) * 4194304, float(sys.argv[3]) * 1000
rounds = [json.load(open(name))["rows"] for name in sys.argv[4:]]
print(f"redis-benchmark: SET of 64 KiB, pipelined, {large / 1e6:.0f} MB/s; of 4 MiB {small / 1e6:.0f} MB/s; GET of 64 KiB {get:.0f} µs")
for index, row in enumerate(rounds[0]):
    middle = lambda key: statistics.median(rows[index][key] for rows in rounds)
    speed, restore = middle("bytes_per_second"), middle("restore_microseconds")
    size, limit = row["value_bytes"], large if row["value_bytes"] >= 65536 else small
    kind = "with a loader" if row["is_reloadable"] else "read back and compared"
    came = f", restored in {restore:.0f} µs, {restore / get:.2f} of the GET" if size >= 65536 else f", restored in {restore:.0f} µs"
    print(f"{size // 1024} KiB, {kind}: {speed / 1e6:.0f} MB/s, {speed / limit:.2f} of the SET{came}")
EOF
[ "${WORTH:-yes}" = no ] || "$tool" worth --limit 256MiB --load-time 20ms --remote "$loopback:$port"
