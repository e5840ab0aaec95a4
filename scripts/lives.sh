#!/usr/bin/env bash
# lives.sh [RUNS [SEED]]: whether a cache lives below small and large limits, whatever is read and whoever else takes memory
# and processor time. Draws cells at random, plays each once with PressureKit alone, and counts who was killed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
runs=${1:-200} RANDOM=${2:-1}
tool=${PRESSURESIM:-.build/release/pressuresim}
[ -x "$tool" ] || scripts/tool.sh || exit

pick() { shift $((RANDOM % $#)); printf '%s' "$1"; }

dead=0
for ((run = 1; run <= runs; run++)); do
    limit=$(pick 64 64 96 96 128 128 512)
    # A sixteenth of the limit at most.
    sizes=(4KiB 4KiB 32KiB 256KiB 1MiB 4MiB)
    [ "$limit" -ge 512 ] && sizes+=(16MiB)
    cell=(--limit "${limit}MiB" --value-size "$(pick "${sizes[@]}")" --zipf "$(pick 0.7 0.9 1.1)"
        --readers "$(pick 1 2 8 64)" --kind "$(pick static swing shared2 shared4)" --busy "$(pick 0 2)")
    if ! out=$("$tool" worth --quick --alone --seconds 3 "${cell[@]}" 2>&1); then
        dead=$((dead + 1))
        printf '%s\n%s\n' "not well: ${cell[*]}" "$(grep -E 'PressureKit|rror' <<<"$out" | tail -n +2)"
    fi
done
echo "$runs runs, $dead not well"
[ "$dead" -eq 0 ]
