#!/usr/bin/env bash
# remote.sh [--tls]: the numbers of the article "Beyond one machine". Starts a Redis server here, and prints how fast values go there
# and come back, beside what redis-benchmark does with the same bytes, and what that is worth to a process without a disk. With
# --tls both go over encrypted connections, and the last part is left out.
# PRESSURESIM names a tool that was built with the trait Redis; WORTH=no leaves the last part out, which takes root.
set -euo pipefail
cd "$(dirname "$0")/.."
encrypted=${1:-}
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
listening=(--port "$port")
address=$loopback:$port
tls=()
options=()
if [ "$encrypted" = --tls ]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -keyout "$work/key" -out "$work/crt" \
        -subj /CN=redis -days 2 -addext "subjectAltName=DNS:redis" 2>/dev/null
    listening=(--port 0 --tls-port "$port" --tls-cert-file "$work/crt" --tls-key-file "$work/key"
        --tls-ca-cert-file "$work/crt" --tls-auth-clients no)
    address=rediss://$address
    tls=(--tls --cacert "$work/crt")
    options=(--cacert "$work/crt" --sni redis)
fi
"$server" "${listening[@]}" --bind "$loopback" --save "" --appendonly no --dir "$work" --loglevel warning >"$work/log" &
pid=$!
trap 'kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 1200); do
    "$cli" -h "$loopback" -p "$port" "${tls[@]}" ping >/dev/null 2>&1 && break
    sleep 0.05
done

# Keys that are there for the first time, as values that are spilled are; quick: the middle of three.
measure() { # bytes requests pipeline clients
    for _ in 1 2 3; do
        "$cli" -h "$loopback" -p "$port" "${tls[@]}" flushall >/dev/null
        "$benchmark" -h "$loopback" -p "$port" "${tls[@]}" -t set -d "$1" -n "$2" -P "$3" -c "$4" -r 100000000 --csv | tail -n 1 | cut -d '"' -f 4
    done | sort -g | sed -n 2p
}
large=$(measure 65536 8192 16 50)
small=$(measure 4194304 200 4 4)
for round in 1 2 3; do
    "$cli" -h "$loopback" -p "$port" "${tls[@]}" flushall >/dev/null
    "$tool" remote "$address" "${options[@]}" --measure >"$work/$round.json"
done
# How long half of the answers take at most, in milliseconds, one after the other.
get() { # bytes
    "$cli" -h "$loopback" -p "$port" "${tls[@]}" flushall >/dev/null
    "$benchmark" -h "$loopback" -p "$port" "${tls[@]}" -t set -d "$1" -n 1 -c 1 --csv >/dev/null
    for _ in 1 2 3; do
        "$benchmark" -h "$loopback" -p "$port" "${tls[@]}" -t get -n 20000 -c 1 --csv | tail -n 1 | cut -d '"' -f 10
    done | sort -g | sed -n 2p
}
deflated=$(python3 -c 'import json, sys; print(int(json.load(open(sys.argv[1]))["restore"]["deflated_bytes"]))' "$work/1.json")
python3 - "$large" "$small" "$(get 65536)" "$(get "$deflated")" "$work"/[123].json <<'EOF'
import json, statistics, sys
large, small, get, get_deflated = (float(word) * scale for word, scale in zip(sys.argv[1:], (65536, 4194304, 1000, 1000)))
figures = [json.load(open(name)) for name in sys.argv[5:]]
rounds = [figure["rows"] for figure in figures]
print(f"redis-benchmark: SET of 64 KiB, pipelined, {large / 1e6:.0f} MB/s; of 4 MiB {small / 1e6:.0f} MB/s; GET of 64 KiB {get:.0f} µs")
for index, row in enumerate(rounds[0]):
    middle = lambda key: statistics.median(rows[index][key] for rows in rounds)
    speed, restore = middle("bytes_per_second"), middle("restore_microseconds")
    size, limit = row["value_bytes"], large if row["value_bytes"] >= 65536 else small
    kind = "with a loader" if row["is_reloadable"] else "read back and compared"
    came = f", restored in {restore:.0f} µs, {restore / get:.2f} of the GET" if size >= 65536 else f", restored in {restore:.0f} µs"
    print(f"{size // 1024} KiB, {kind}: {speed / 1e6:.0f} MB/s, {speed / limit:.2f} of the SET{came}")
deflated, restore, inflate = (
    statistics.median(figure["restore"][key] for figure in figures)
    for key in ("deflated_bytes", "restore_microseconds", "inflate_microseconds"))
limit = get_deflated + inflate
print(f"64 KiB of prose, deflated to {deflated / 1024:.0f} KiB: restored in {restore:.0f} µs, {restore / limit:.2f} of GET"
      f" and inflate ({get_deflated:.0f} + {inflate:.0f} µs)")
beside, alone = (
    statistics.median(figure["relief"][key] for figure in figures)
    for key in ("bytes_per_second", "bytes_per_second_without_server"))
print(f"to the disk, with a server as well: {beside / 1e6:.0f} MB/s, {beside / alone:.2f} of without")
EOF
[ "${WORTH:-yes}" = no ] || [ "$encrypted" = --tls ] || "$tool" worth --limit 256MiB --load-time 20ms --remote "$address"
