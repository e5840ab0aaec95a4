#!/usr/bin/env bash
# Cases on a kernel of our own: cgroup version 2, the OOM killer and systemd, under qemu's software emulation. Judged by
# events and counts, never by times: emulated processors are 20 to 50 times slower. Where it cannot be, says why and succeeds.
#
#   scripts/guest.sh              all cases (scripts/guest/cases)
#   scripts/guest.sh NAME…        some of them
#   scripts/guest.sh --short      one boot, five cases, four minutes at most
#
# GUEST_CPUS=n gives the guest other than two processors, GUEST_DIRECTORY another cache than .build-guest.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=scripts/steps.sh
. scripts/steps.sh

skip() { echo "skipped: $*"; exit 0; }

cache=${GUEST_DIRECTORY:-.build-guest}
mkdir -p "$cache" && cache=$(cd "$cache" && pwd) || exit
# shellcheck source=scripts/need.sh
. scripts/need.sh
# shellcheck source=scripts/guest/make.sh
. scripts/guest/make.sh
# shellcheck source=scripts/guest/boot.sh
. scripts/guest/boot.sh

seconds=2400
names=("$@")
if [ "${1:-}" = --short ]; then
    seconds=240
    names=(max high events stalls read-only)
elif [ $# -eq 0 ]; then
    for file in scripts/guest/cases/*.sh; do names+=("$(case_name "$file")"); done
fi
for name in "${names[@]}"; do
    [ -n "$(case_file "$name")" ] || { echo "guest: no case is called $name; see scripts/guest/cases" >&2; exit 2; }
done

make_guest || exit
tool=${PRESSURESIM:-.build/release/pressuresim}
# A guest would go on by itself.
trap 'rm -f "$cache/tool.$$.ext4"; [ -z "${guest:-}" ] || kill "$guest" 2>/dev/null' EXIT
[ -x "$tool" ] || scripts/tool.sh || exit
make_tool_disk "$tool" || exit

# One boot for all cases that want the same machine.
for boot in plain v1 tmpfs systemd; do
    wanted=()
    for name in "${names[@]}"; do [ "$(case_boot "$name")" != "$boot" ] || wanted+=("$name"); done
    [ ${#wanted[@]} -eq 0 ] || run_cases "$boot" "$seconds" "${wanted[@]}"
done
finish
