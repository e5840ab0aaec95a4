#!/bin/sh
# MemoryPressureWatch= on, off and auto, under real pressure: the service is warned by way of MEMORY_PRESSURE_WATCH, and with
# `off` neither by that nor by stalls, which nobody else is told either; its limits are still watched.
# boot: systemd
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
# A service, and once there is somebody to be warned, a neighbour in it that takes more than MemoryHigh=.
begin() { # VALUE OF MemoryPressureWatch=, MIB OF THE NEIGHBOUR
    rm -f "$work/own/socket"
    # shellcheck disable=SC2086
    systemd-run --quiet --unit="watch-$1" --property=MemoryHigh=128M --property=MemoryMax=512M --property=MemorySwapMax=0 \
        --property="MemoryPressureWatch=$1" --property="StandardError=truncate:$work/complaint" --property=StandardOutput=null $lasting
    eventually 100 listens || failed "$1: no process to ask: $(tail -n 1 "$work/complaint")"
    group=$root$(systemctl show --property=ControlGroup --value "watch-$1")
    inside "$group" sh -c '. /guest/inside/helpers.sh; hog "$0"' "$2" &
}
cause() { pressuresim status "$work/own/socket" --json - | jq -r '.status.cause'; }
for watch in on auto; do
    begin "$watch" 160
    eventually 100 is verified systemd || failed "$watch: not warned: $(state systemd), stalls $(state psi "/watch-$watch.service/memory.pressure"), $(tr '\n' ' ' <"$group/memory.events")"
    echo 1 >"$group/cgroup.kill"
done
# Less here, since above MemoryHigh= nobody would answer: it has to make room for its neighbour.
begin off 90
is unavailable systemd || failed "off: $(state systemd)"
is unavailable psi || failed "off: stalls $(state psi)"
is_warned() { cause | grep -qE 'cgroup|memory\.events'; }
eventually 100 is_warned || failed "off: not warned by its limit either: $(cause), $(tr '\n' ' ' <"$group/memory.events")"
why=$(cause)
echo 1 >"$group/cgroup.kill"
ok "warned with on and auto; with off by its limit: $(echo "$why" | cut -c 1-80)"
