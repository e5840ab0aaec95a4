#!/usr/bin/env bash
# man.sh [DIRECTORY]: the manual pages, made from what --help says, and held against what man can read.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=${PRESSURESIM:-.build/release/pressuresim}
pages=${1:-.build/man/man1}

rm -rf "$pages"
"$tool" manual "$pages"
for page in "$pages"/*.1; do
    if command -v groff >/dev/null; then
        complaints=$(groff -man -ww -z -Tutf8 "$page" 2>&1)
    elif command -v man >/dev/null; then
        complaints=$(LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
    else
        continue
    fi
    [ -z "$complaints" ] || { printf 'man: %s\n%s\n' "$page" "$complaints" >&2; exit 1; }
done
echo "$(find "$pages" -name '*.1' | wc -l) pages in $pages; try: man -l $pages/pressuresim.1"
