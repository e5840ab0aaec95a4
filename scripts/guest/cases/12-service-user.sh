#!/bin/sh
# The same as nobody, with DynamicUser=: its own memory.pressure is its to watch, by systemd's leave.
# boot: systemd
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
systemd-run --quiet --unit=user --wait --pipe --property=DynamicUser=yes --property=MemoryMax=64M --property=MemoryPressureWatch=on \
    pressuresim doctor --json - >"$work/doctor" || failed "the doctor: status $?"
state=$(jq -r '[.signals[] | select(.origin == "systemd")][0] | "\(.state): \(.detail)"' "$work/doctor")
case $state in armed* | verified*) ok "$state" ;; *) failed "$state" ;; esac
