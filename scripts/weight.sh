#!/usr/bin/env bash
# What the library weighs: the time and the processors' time to build Examples/Minimal from nothing, without traits, and the size of its program, with
# the standard library linked dynamically and statically, as it is and stripped. Takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/weight.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Dependencies are fetched before, so that the network is not measured.
"$swift" package --package-path Examples/Minimal --scratch-path "$work/dynamic" resolve >/dev/null 2>&1
"$swift" package --package-path Examples/Minimal --scratch-path "$work/static" resolve >/dev/null 2>&1

size() { awk -v bytes="$(stat -c %s "$1")" 'BEGIN{printf "%.1f MiB", bytes / 1048576}'; }

# Of the bash builtin `time`: elapsed, and what all processors together did.
TIMEFORMAT='%R %U %S'

printf '| Minimal, release, no traits | build | on all processors | as linked | stripped |\n|---|---|---|---|---|\n'
for kind in dynamic static; do
    options=()
    [ $kind = dynamic ] || options=(--static-swift-stdlib)
    { time "$swift" build --package-path Examples/Minimal --scratch-path "$work/$kind" --configuration release \
        "${options[@]}" >"$work/log" 2>&1; } 2>"$work/time" || { tail -n 20 "$work/log" >&2; exit 1; }
    read -r elapsed user system <"$work/time"
    program=$work/$kind/release/Minimal
    "$program" >/dev/null
    strip -o "$work/stripped" "$program"
    "$work/stripped" >/dev/null
    printf '| standard library %s | %.0f s | %.0f s | %s | %s |\n' "$kind" "$elapsed" \
        "$(awk -v u="$user" -v s="$system" 'BEGIN{print u + s}')" \
        "$(size "$program")" "$(size "$work/stripped")"
done
