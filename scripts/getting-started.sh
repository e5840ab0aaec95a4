#!/usr/bin/env bash
# Follows the article "Getting started" word for word, in a package outside of this one: writes each Swift block to the file
# that the line above it names, runs each sh block, and holds the text block against what was printed.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
swift=${SWIFT:-swift}
article=Sources/PressureKit/PressureKit.docc/GettingStarted.md
place=$(mktemp -d "${TMPDIR:-/var/tmp}/getting-started.XXXXXX")
trap 'rm -rf "$place"' EXIT

# Beside the package, as the article has it.
ln -s "$here" "$place/PressureKit"
mkdir "$place/Gallery"

# A line for each block: its kind, and the file that the text above it names. The block itself goes to a file beside.
mkdir "$place/blocks"
awk -v to="$place/blocks" '
    /^```/ && inside { inside = 0; close(file); next }
    /^```/ { inside = 1; kind = substr($0, 4); file = sprintf("%s/%02d.%s", to, ++n, kind); print n, kind, named; named = "-"; next }
    inside { print > file; next }
    /`[^`]+`:$/ { named = $0; sub(/`:$/, "", named); sub(/.*`/, "", named) }
' "$article" >"$place/steps"
[ "$(grep -c ' swift ' "$place/steps")" -ge 4 ] || { echo "getting-started: the article has too few blocks" >&2; exit 1; }

cd "$place/Gallery"
printed=''
while read -r number kind name; do
    block=$(printf '%s/blocks/%02d.%s' "$place" "$number" "$kind")
    case $kind in
        swift)
            [ "$name" != - ] || { echo "getting-started: no file is named above block $number" >&2; exit 1; }
            mkdir -p "$(dirname "$name")"
            cp "$block" "$name"
            echo "wrote $name"
            ;;
        sh)
            while read -r line; do
                echo "\$ $line"
                # The toolchain that was asked for, under the name it has in the article.
                printed=$(PATH="$(dirname "$(command -v "$swift")"):$PATH" bash -c "$line" 2>"$place/errors" </dev/null) || {
                    printf '%s\n' "$printed"
                    cat "$place/errors" >&2
                    exit 1
                }
                printf '%s\n' "$printed" | tail -n 15
            done <"$block"
            ;;
        text)
            # Numbers as they are: the article says what it prints, to the byte.
            diff "$block" <(printf '%s\n' "$printed") || { echo "getting-started: it prints something else" >&2; exit 1; }
            ;;
    esac
done <"$place/steps"
echo "getting-started: followed word for word"
