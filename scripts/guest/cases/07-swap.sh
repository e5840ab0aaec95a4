#!/bin/sh
# Swap on zram, and what is swapped out is not freed: the cgroup may swap 256 MiB. PressureKit still keeps below the limit, so
# that little is swapped; without it, what is over goes to swap, which is memory.
# boot: plain
# shellcheck source=scripts/guest/inside/helpers.sh
. /guest/inside/helpers.sh
modprobe zram 2>/dev/null || skipped "this kernel has no zram"
echo 512M >/sys/block/zram0/disksize && mkswap /dev/zram0 >/dev/null && swapon /dev/zram0 || failed "no swap on zram"
group=$(group swap memory.max 64M)
echo 256M >"$group/memory.swap.max"
without "$group" 2 || failed "without PressureKit: status $?, with swap enough for all"
pages() { field /proc/vmstat pswpout; }
without_pages=$(pages)
lives "$group" 2
with_swapped=$(($(pages) - without_pages))
swapoff /dev/zram0
[ "$without_pages" -gt 0 ] || failed "nothing was swapped without PressureKit"
[ "$with_swapped" -lt "$without_pages" ] || failed "with PressureKit $with_swapped pages were swapped, without it $without_pages"
[ "$(library evictions)" -gt 0 ] || failed "nothing was evicted: swap was taken for room"
ok "pages swapped: $without_pages without, $with_swapped with; evictions $(library evictions)"
