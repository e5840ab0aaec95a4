#!/bin/sh
# A service of systemd's with MemoryMax=64M: killed without PressureKit (Result=oom-kill), to the end with it.
# boot: systemd
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
service() { # NAME MODE OPTION…
    name=$1 mode=$2
    shift 2
    rm -f "$work/news"
    # shellcheck disable=SC2046
    systemd-run --quiet --unit="$name" --wait --property=MemorySwapMax=0 --property="StandardOutput=file:$work/news" \
        --property="StandardError=file:$work/complaint" "$@" pressuresim $(survive "$mode" 2)
}
[ "$(systemctl --version | awk 'NR == 1 { print $2 }')" -ge 254 ] || failed "this is no systemd with MemoryPressureWatch="
service without without --property=MemoryMax=64M --property=RemainAfterExit=no
journal=$(systemctl show --property=Result --value without)
case $journal in oom-kill | signal) ;; *) failed "without PressureKit: $journal" ;; esac
systemctl reset-failed without
service with with --property=MemoryMax=64M || failed "with PressureKit: status $?, $(tail -n 1 "$work/complaint")"
finished "$work/news" || failed "with PressureKit: $(tail -n 1 "$work/news" | cut -c 1-300)"
evictions=$(library evictions)
# Throttled at MemoryHigh= where nothing gives way, and at the end where something does.
service high with --property=MemoryHigh=64M --property=MemoryMax=192M || failed "MemoryHigh=: status $?"
finished "$work/news" || failed "MemoryHigh=: $(tail -n 1 "$work/news" | cut -c 1-300)"
ok "$journal without; with, $evictions evictions below MemoryMax=, $(library evictions) below MemoryHigh="
