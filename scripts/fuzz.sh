#!/usr/bin/env bash
# libFuzzer on everything that reads bytes from outside: Tests/FuzzTests/Properties says what has to hold.
#
#   scripts/fuzz.sh [SECONDS [TARGET…]]   so long on each target (20), with what earlier runs have found
#   scripts/fuzz.sh --keep [TARGET…]      puts what was found into the corpus that is kept, minimised
#
# Whatever is found stays in .build-fuzz/found; what does not hold is named there, and how to see it again is said.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=scripts/steps.sh
. scripts/steps.sh

targets=(scenario kernel recording frame state)
keep=false
seconds=20
case "${1:-}" in
--keep) keep=true && shift ;;
[0-9]*) seconds=$1 && shift ;;
esac
[ $# -eq 0 ] || targets=("$@")

build() {
    # No traits: no one of them reads anything, and each has much to build. The linker that Swift prefers cannot do it.
    PRESSUREKIT_FUZZ=1 "$swift" build --scratch-path .build-fuzz --disable-index-store --disable-default-traits --product fuzz \
        --sanitize=address -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld -Xcc -fsanitize=fuzzer-no-link >.build-fuzz/log 2>&1 && return
    cat .build-fuzz/log
    return 1
}
mkdir -p .build-fuzz/found
step "build the fuzzer" build
fuzzer=.build-fuzz/debug/fuzz
[ -x "$fuzzer" ] || { finish; exit; }
# Swift's own report of a crash would crash: AddressSanitizer does not let it read what it wants.
export SWIFT_BACKTRACE=enable=no

fuzz() {
    local target=$1 found=.build-fuzz/found/$1 kept=Tests/FuzzTests/Corpus/$1 log=.build-fuzz/found/$1.log options=()
    local dictionary=Tests/FuzzTests/Dictionaries/$target.dict
    [ ! -f "$dictionary" ] || options+=("-dict=$dictionary")
    # A manager's threads end after it; what they hold on their way out would be taken for lost. The soak looks for leaks.
    # The fuzzer looks after each input, the sanitizer at the end.
    local leaks=1
    [ "$target" != state ] || { options+=(-detect_leaks=0); leaks=0; }
    mkdir -p "$found"
    # Ten seconds for an input of some kibibytes: nothing here may take more than linear time.
    if ASAN_OPTIONS=detect_leaks=$leaks FUZZ_TARGET=$target "$fuzzer" "-max_total_time=$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 \
        "${options[@]}" "-artifact_prefix=$found-" "$found" "$kept" >"$log" 2>&1; then
        awk -v target="$target" '/^Done/{runs=$2} /cov: /{for(i=1;i<NF;i++){if($i=="cov:")cov=$(i+1);if($i=="ft:")ft=$(i+1);if($i=="corp:")corp=$(i+1)}}
            END{print target ": " runs " inputs; " cov " edges, " ft " features; corpus " corp}' "$log"
        return
    fi
    grep -vE 'NEW|REDUCE|pulse|RELOAD' "$log" | grep -v '^$' | tail -n 60 | cut -c 1-2000
    echo "again: SWIFT_BACKTRACE=enable=no FUZZ_TARGET=$target $fuzzer $found-…"
    return 1
}

keep() {
    local target=$1 found=.build-fuzz/found/$1 kept=Tests/FuzzTests/Corpus/$1 merged=.build-fuzz/merged
    rm -rf "$merged" && mkdir -p "$merged" "$found"
    # A small set that reaches every edge that both reach, however often; regressions have names, and stay.
    FUZZ_TARGET=$target "$fuzzer" -set_cover_merge=1 -use_counters=0 -max_len=2048 "$merged" "$kept" "$found" >.build-fuzz/log 2>&1 || return
    find "$kept" -type f -regextype egrep -regex '.*/[0-9a-f]{40}' -delete
    cp -n "$merged"/* "$kept"/
    du -sh "$kept"
}

for target in "${targets[@]}"; do
    if "$keep"; then step "keep: $target" keep "$target"; else step "fuzz: $target" fuzz "$target"; fi
done
finish
