#!/usr/bin/env bash
# run.sh [debug]: builds the notebook, writes notes, ends it with SIGKILL, starts it again, and compares. Takes a few seconds
# once it is built.
set -euo pipefail
cd "$(dirname "$0")"
swift=${SWIFT:-swift}

configuration=${1:-release}
"$swift" build --configuration "$configuration"
notebook=$("$swift" build --configuration "$configuration" --show-bin-path)/Notebook
place=$(mktemp -d "${TMPDIR:-/var/tmp}/notebook.XXXXXX")
app=
cleanup() {
    [ -z "$app" ] || kill -KILL "$app" 2>/dev/null || true
    rm -rf "$place"
}
trap cleanup EXIT

# Starts it with its input on descriptor 3.
launch() {
    rm -f "$place/in"
    mkfifo "$place/in"
    "$notebook" "$place/state" <"$place/in" >"$place/out" 2>"$place/err" &
    app=$!
    exec 3>"$place/in"
}

say() { printf '%s\n' "$@" >&3; }

# Waits for a line of its output. A save ends when the disk has it, which beside others takes what it takes: the bound is there
# for what hangs.
await() {
    local try
    for ((try = 0; try < 2400; try++)); do
        grep -q "$1" "$place/out" && return 0
        kill -0 "$app" 2>/dev/null || break
        sleep 0.05
    done
    echo "notebook: it never said \"$1\", but:" >&2
    cat "$place/out" "$place/err" >&2
    return 1
}

kill_it() {
    kill -KILL "$app"
    wait "$app" 2>/dev/null || true
    app=
    exec 3>&-
}

expected=
launch
await "a new notebook"
changes=0
for day in Monday Tuesday Wednesday; do
    say "new $day"
    expected+=$day$'\n'
    changes=$((changes + 1))
    for ((line = 1; line <= 100; line++)); do
        say "write $day, line $line: all work and no play makes an app that is killed lose its notes"
        expected+="$day, line $line: all work and no play makes an app that is killed lose its notes"$'\n'
        changes=$((changes + 1))
    done
done
say "warn"
await "of 3 values"
await "^saved $changes\$"
kill_it
echo "killed with SIGKILL after $changes changes, each saved by itself, with all notes out of memory"

launch
await "restored 3 notes"
say "show"
await "^Wednesday, line 100"
say "open Monday" "show" "open Tuesday" "show" "open Wednesday" "show" "list"
await "^Wednesday: "
# From the first line of the second answer on.
actual=$(awk '/^Monday$/{found=1} found && !/: (resident|spilled)$/' "$place/out")
if [ "$actual" != "${expected%$'\n'}" ]; then
    diff <(printf '%s' "$expected") <(printf '%s\n' "$actual") | head -20 >&2
    echo "notebook: something is missing" >&2
    exit 1
fi
echo "relaunched: the open note is open, and every line is there"

# Killed in the middle of whatever it does, again and again: never less than what it said was saved.
for round in 1 2 3 4 5; do
    say "open Monday"
    for ((line = 1; line <= 5000; line++)); do echo "write round $round, line $line"; done >&3 2>/dev/null &
    writer=$!
    sleep "$(printf '0.%02d' $((round * 15)))"
    kill_it
    wait "$writer" || true
    saved=$(sed -n 's/^saved //p' "$place/out" | tail -n 1)
    launch
    await "restored 3 notes"
    say "open Monday" "show"
    say "find nowhere" "list"
    await "^Wednesday: "
    there=$(grep -c "^round $round, " "$place/out" || true)
    [ "$there" -ge "${saved:-0}" ] || { echo "notebook: $saved lines were saved, $there are there" >&2; exit 1; }
    echo "killed again: $there lines there, ${saved:-0} of them had been reported as saved"
done
say "quit"
wait "$app"
app=
