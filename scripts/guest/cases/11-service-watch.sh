#!/bin/sh
# MemoryPressureWatch= on, off and auto, under real pressure: the service is warned by way of MEMORY_PRESSURE_WATCH, and with
# `off` neither by that nor by stalls.
# boot: systemd
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
cat >"$work/pressed" <<'SCRIPT'
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
# More than MemoryHigh=, so that the kernel throttles whoever allocates: those are the stalls.
( hog 60 ) & ( hog 40 ) &
tries=0
while [ $tries -lt 25 ] && ! jq -e '.signals[] | select(.origin == "systemd" and .state == "verified")' "$1" >/dev/null 2>&1; do
    pressuresim doctor --json "$1" >/dev/null
    tries=$((tries + 1))
    # One that sees nothing is not to be asked so often.
    [ "$2" != off ] || [ $tries -lt 4 ] || break
done
kill 0
SCRIPT
state() { jq -r --arg origin "$1" '[.signals[] | select(.origin == $origin) | .state] | first // "none"' "$2"; }
for watch in on auto off; do
    systemd-run --quiet --unit="watch-$watch" --wait --property=MemoryHigh=64M --property=MemoryMax=512M --property=MemorySwapMax=0 \
        --property="MemoryPressureWatch=$watch" --property="StandardError=file:$work/complaint" \
        sh "$work/pressed" "$work/$watch" "$watch"
    [ -s "$work/$watch" ] || failed "$watch: the doctor said nothing: $(tail -n 1 "$work/complaint")"
    said="$said $watch $(state systemd "$work/$watch")/$(state psi "$work/$watch")"
done
[ "$(state systemd "$work/on")" = verified ] || failed "on:$said"
[ "$(state systemd "$work/auto")" = verified ] || failed "auto:$said"
[ "$(state systemd "$work/off")" = unavailable ] && [ "$(state psi "$work/off")" = unavailable ] || failed "off:$said"
ok "systemd/psi:$said"
