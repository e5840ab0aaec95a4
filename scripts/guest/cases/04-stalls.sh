#!/bin/sh
# Pressure stall information: a trigger of root's, with a window below 2 s where the kernel takes one; none, or one of 2 s, of
# nobody's. What the doctor says is what a shell is let do.
# boot: plain
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
group=$(group stalls memory.high 512M)
chown 65534 "$group/memory.pressure"
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all"
detail() { jq -r '.signals[] | select(.origin == "psi" and (.source | endswith("/stalls/memory.pressure"))) | "\(.state): \(.detail)"' "$work/doctor"; }
# shellcheck disable=SC2086 # Several words, or none.
may() { inside "$group" $1 sh -c 'printf "some 100000 %s\0" "$1" 1<>"$0/memory.pressure"' "$group" "$2" 2>/dev/null; }
inside "$group" pressuresim doctor --json "$work/doctor" >/dev/null || failed "the doctor, as root: status $?"
root=$(detail)
rm -f "$work/doctor"
may "" 1000000 || failed "the kernel refuses root a window of 1 s"
case $root in *"in 1.0 s"*) ;; *) failed "root: $root" ;; esac
# shellcheck disable=SC2086
inside "$group" $nobody pressuresim doctor --json "$work/doctor" >/dev/null 2>"$work/complaint" ||
    failed "the doctor, as nobody: status $?, $(tail -n 1 "$work/complaint")"
other=$(detail)
! may "$nobody" 1000000 || failed "the kernel takes a window of 1 s from nobody"
if may "$nobody" 2000000; then
    case $other in *"in 2.0 s"*) ;; *) failed "nobody might have a trigger: $other" ;; esac
else
    case $other in available*"no trigger"*) ;; *) failed "nobody: $other" ;; esac
fi
ok "root: ${root%% (*}; nobody: ${other%% (*}"
