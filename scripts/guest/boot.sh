# shellcheck shell=bash
# shellcheck disable=SC2154 # The cache is named by who sources this.
# To be sourced: what a case is called, which machine it wants, and a boot of that machine. Expects $cache, and steps.sh.

case_name() { basename "$1" .sh | sed 's/^[0-9]*-//'; }
case_file() { find scripts/guest/cases -name "[0-9]*-$1.sh"; }
# Each case says in a line `# boot: …` what it runs on: `plain` has no init system, `v1` cgroups of version 1, `tmpfs` /var/tmp
# in memory.
case_boot() { sed -n 's/^# boot: //p' "$(case_file "$1")"; }

# run_cases BOOT SECONDS NAME…: boots once, runs the cases there, and counts each as a step.
run_cases() {
    local boot=$1 seconds=$2 name status=0 begun=$SECONDS line
    shift 2
    local console=$cache/$boot.console results=$cache/$boot.results
    : >"$results"
    printf '\n— a guest: %s\n' "$boot"
    local options="console=ttyS0 quiet panic=-1 psi=1 swapaccount=1 guest.boot=$boot"
    options+=" guest.cases=$(IFS=, && echo "$*")"
    # The second serial line carries the results, so that the kernel cannot write into them.
    timeout "$seconds" qemu-system-x86_64 -accel tcg,thread=multi -cpu Haswell-noTSX -smp "${GUEST_CPUS:-2}" -m 1536 -snapshot \
        -nographic -no-reboot -monitor none -serial "file:$console" -serial "file:$results" \
        -kernel "$cache/vmlinuz" -initrd "$cache/ramdisk" -append "$options" \
        -drive "file=$cache/root.ext4,format=raw,if=virtio,cache=unsafe" \
        -drive "file=$cache/tool.$$.ext4,format=raw,if=virtio,cache=unsafe" \
        </dev/null >"$cache/$boot.qemu" 2>&1 &
    guest=$!
    tail -n +1 -f --pid="$guest" "$results" 2>/dev/null | sed -u -e 's/\r//' -e 's/^@ //'
    wait "$guest" || status=$?
    guest=
    took "guest $boot" "$begun"
    # One that was not heard of has failed, or the guest has as a whole; unless there was no time.
    for name in "$@"; do
        line=$(tr -d '\r' <"$results" | grep -E "^@ $name: " | tail -n 1)
        case $line in
            *": ok"* | *": skipped"*) passed=$((passed + 1)) ;;
            "")
                # timeout's own status. How fast the machine is says nothing about the library.
                if [ "$status" -eq 124 ]; then
                    echo "$name: skipped: not reached in $seconds s"
                    continue
                fi
                failed=$((failed + 1))
                failures+=("$name: no word of it; the guest ended with status $status, see $console")
                ;;
            *)
                failed=$((failed + 1))
                failures+=("${line#@ }")
                ;;
        esac
    done
}
