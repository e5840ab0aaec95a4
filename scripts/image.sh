#!/usr/bin/env bash
# image.sh: the image of Examples/Deployment, built with podman, serves thumbnails below a memory limit that the pictures are
# three times as large as, as the image's user, spills to its volume, and ends in order when it is told to. Where the base
# images cannot be fetched, stand-ins are made of Debian's packages and this machine's toolchain. Needs root and some five
# minutes; what it cannot do, it says and succeeds.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

skip() { echo "skipped: $*"; exit 0; }
fail() { echo "image: $*" >&2; exit 1; }

[ "$(id -u)" -eq 0 ] || skip "a container with a memory limit needs root"
# shellcheck source=scripts/guest/make.sh
. scripts/guest/make.sh
need podman podman
# Another than podman's own, which leaves cgroups alone where version 1 and 2 are mounted side by side.
need runc runc
need curl curl

file=Examples/Deployment/Dockerfile
version=$(sed -n 's/^ARG SWIFT=//p' "$file")
tag=thumbnails:test-$$
name=thumbnails-$$
count=640
limit=256m
protocol=http
work=$(mktemp -d "${TMPDIR:-/var/tmp}/image.XXXXXX")
finish() {
    podman rm --force --volumes "$name" >/dev/null 2>&1 || true
    podman rmi --force "$tag" "${stand_ins[@]}" >/dev/null 2>&1 || true
    rm -rf --one-file-system "$work"
}
stand_ins=()
trap finish EXIT

building=()
# Debian with what the toolchain wants, under the names that the Dockerfile asks for.
make_stand_ins() {
    local toolchain
    need mmdebstrap mmdebstrap
    toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v "$swift")")")")
    # Nobody else is to take them for what they stand in for.
    stand_ins=("$1-noble" "$1-noble-slim")
    echo "image: the base images cannot be fetched; making stand-ins of Debian and the toolchain that is here"
    mmdebstrap --quiet --variant=minbase --include="$2" bookworm - "$(archive)" 2>"$work/mmdebstrap.log" |
        podman import --quiet --change "ENV PATH=$toolchain/bin:/usr/bin:/bin:/usr/sbin:/sbin" - "$1-noble" >/dev/null ||
        skip "no Debian 12 can be fetched"
    # The libraries that a program needs at run time, where the loader looks for them.
    mkdir -p "$work/slim/usr/lib/swift"
    cp -a "$toolchain/lib/swift/linux" "$work/slim/usr/lib/swift/"
    printf 'FROM %s-noble\nCOPY slim /\nRUN echo /usr/lib/swift/linux >/etc/ld.so.conf.d/swift.conf && ldconfig\n' "$1" |
        podman build --quiet --layers=false --isolation chroot --file - --tag "$1-noble-slim" "$work" >/dev/null
    building+=(--volume "$toolchain:$toolchain:ro")
    # Packages that this machine has fetched already: what cannot fetch images may not reach their origins either.
    if [ -d ~/.cache/org.swift.swiftpm ]; then
        cp -a ~/.cache/org.swift.swiftpm "$work/packages"
        building+=(--volume "$work/packages:$HOME/.cache/org.swift.swiftpm")
    fi
}

podman image exists "swift:$version-noble" || timeout 300 podman pull --quiet "swift:$version-noble" >/dev/null 2>&1 ||
    make_stand_ins "swift:$version" \
        ca-certificates,git,binutils,libc6-dev,libgcc-12-dev,libstdc++-12-dev,libcurl4,libxml2,libsqlite3-0,libncurses6,libedit2,libpython3.11,tzdata
podman build --layers=false --isolation chroot --network host "${building[@]}" --file "$file" --tag "$tag" .

# The image's own command, but for the number of pictures and the port, which is one that nobody has. With limits
# that any shell may set: a container's usual ones can be more than root has here.
run() {
    podman --runtime runc --cgroup-manager cgroupfs run --network host --memory "$limit" --memory-swap "$limit" \
        --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 \
        --volume "$work/pictures:/pictures" --volume "$work/spill:/spill" "$@"
}
install -d -m 777 "$work/pictures" "$work/spill"
run --rm "$tag" /pictures "$count" >/dev/null || fail "the container does not run"
run --detach --name "$name" "$tag" /pictures "$count" 0 >/dev/null
address=
for ((try = 0; try < 600; try++)); do
    address=$(podman logs "$name" 2>/dev/null | sed -n 's/^listening on //p')
    [ -z "$address" ] || break
    sleep 0.1
done
[ -n "$address" ] || fail "the server does not listen: $(podman logs "$name" 2>&1 | tail -n 3)"

process=$(podman inspect --format '{{.State.Pid}}' "$name")
user=$(awk '/^Uid:/ { print $2 }' "/proc/$process/status")
[ "$user" = 10001 ] || fail "the server runs as user $user"
# Twice, so that what was spilled comes back.
for ((id = 0; id < 2 * count; id++)); do echo "url=$protocol://$address/thumbnails/$((id % count))"; done >"$work/urls"
sed -i 'a output=/dev/null' "$work/urls"
curl --no-progress-meter --fail --parallel --parallel-max 16 --config "$work/urls" ||
    fail "a request failed; the kernel killed it: $(podman inspect --format '{{.State.OOMKilled}}' "$name")"
# Its file has no name; it is there as long as it is open.
spilled=$(find "/proc/$process/fd" -lname '/spill/*' -exec stat --dereference --format '%i %b' {} + |
    sort --unique | awk '{ n += $2 * 512 } END { print n + 0 }')
status=$(curl --silent --fail "$protocol://$address/status" | paste -sd, | sed 's/,/, /g')
[ "$spilled" -gt $((16 << 20)) ] || fail "$spilled bytes are on the volume: $status"
podman stop --time 20 "$name" >/dev/null 2>&1
ended=$(podman inspect --format '{{.State.ExitCode}} {{.State.OOMKilled}}' "$name")
[ "$ended" = "0 false" ] || fail "the server ended with $ended"
left=$(find "$work/spill" -type f | wc -l)
[ "$left" -eq 0 ] || fail "$left files are left on the volume"
echo "image: $((2 * count)) thumbnails served below $limit by user $user, $((spilled >> 20)) MiB on the volume; $status"
