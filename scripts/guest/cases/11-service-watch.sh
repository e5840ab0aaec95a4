#!/bin/sh
# MemoryPressureWatch= on, off and auto, under real pressure: the service is warned by way of MEMORY_PRESSURE_WATCH, and with
# `off` neither by that nor by stalls, but still by its limit.
# boot: systemd
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
# In the service: watches, and only then takes more than MemoryHigh=, so that the kernel has whoever allocates wait.
cat >"$work/pressed" <<'SCRIPT'
. /guest/inside/helpers.sh
pressuresim doctor --json "$1.doctor" >/dev/null
pressuresim watch --duration 20s --json "$1" >"$work/lines" &
watch=$!
eventually 100 test -s "$work/lines"
hog 72 &
wait $watch
SCRIPT
state() { jq -r --arg origin "$1" '[.signals[] | select(.origin == $origin) | .state] | first // "none"' "$work/$2.doctor"; }
level() { jq -r --arg origin "$1" '[.signals[] | select(.origin == $origin) | .level] | first // "none"' "$work/$2"; }
press() { # VALUE OF MemoryPressureWatch=
    systemd-run --quiet --unit="watch-$1" --wait --collect --property=MemoryHigh=64M --property=MemoryMax=512M \
        --property=MemorySwapMax=0 --property="MemoryPressureWatch=$1" --property="StandardError=file:$work/complaint" \
        sh "$work/pressed" "$work/$1"
    [ -s "$work/$1" ] || failed "$1: it saw nothing: $(tail -n 1 "$work/complaint")"
}
# A ring counts for two seconds: it may have been over just when the watching ended.
warned() { press "$1" && [ "$(level systemd "$1")" = warning ]; }
for watch in on auto; do
    eventually 4 warned "$watch" || failed "$watch: not warned, $(state systemd "$watch"), stalls $(level psi "$watch")"
done
press off
[ "$(state systemd off)" = unavailable ] && [ "$(state psi off)" = unavailable ] || failed "off: $(state systemd off), $(state psi off)"
[ "$(level systemd off)" = none ] && [ "$(level psi off)" = none ] || failed "off: warned by what was turned off"
[ "$(level cgroup off)" != normal ] || failed "off: not warned by its limit either"
ok "on and auto warned; off by its limit alone ($(level cgroup off))"
