#!/bin/sh
# The unit of Examples/Deployment as it is, but for the program and, the second time, smaller limits.
# boot: systemd
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
cp /guest/thumbnails.service /etc/systemd/system/
systemd-analyze verify --recursive-errors=no /etc/systemd/system/thumbnails.service 2>"$work/verify"
! grep -i -E 'unknown|failed to parse|invalid' "$work/verify" || failed "systemd-analyze: $(head -n 1 "$work/verify")"
drop=/etc/systemd/system/thumbnails.service.d
mkdir -p "$drop"
limits='MemoryHigh=64M
MemoryMax=128M'
start() { # COMMAND [LINES]: with another program, to its end
    printf '[Unit]\nWants=\nAfter=\n[Service]\nType=oneshot\nRestart=no\nExecStart=\nExecStart=%s\nStandardOutput=file:%s\nStandardError=file:%s\nReadWritePaths=%s\n%s\n' \
        "$1" "$work/out" "$work/complaint" "$work" "$2" >"$drop/case.conf"
    : >"$work/out"
    systemctl daemon-reload
    systemctl start thumbnails
}
start "/usr/local/bin/pressuresim doctor --json -" || failed "the doctor: $(systemctl show --property=Result --value thumbnails)"
cp "$work/out" "$work/doctor"
[ "$(limit_seen)" = 805306368 ] || failed "the limit that binds: $(limit_seen)"
spill=$(jq -r .spill_directory "$work/out")
[ "$spill" = /var/cache/thumbnails ] || failed "spills to $spill: $(jq -r .spill_refusal "$work/out")"
states=$(jq -r '[.signals[] | select(.origin == "memory.events" or .origin == "systemd" or .origin == "psi")
    | "\(.origin) \(.state)"] | unique | join(", ")' "$work/out")
case $states in *"systemd armed"* | *"systemd verified"*) ;; *) failed "$states" ;; esac
chmod a+rx /run "$work"
start "/usr/local/bin/pressuresim $(survive with 2)" "$limits" ||
    failed "below its limits: $(systemctl show --property=Result --value thumbnails), $(tail -n 1 "$work/complaint")"
finished "$work/out" || failed "below its limits: $(tail -n 1 "$work/out" | cut -c 1-300)"
ok "$states; $(tail -n 1 "$work/out" | jq .library.evictions) evictions below its limits"
