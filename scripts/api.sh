#!/usr/bin/env bash
# api.sh [--renew]: the public interface of the libraries, with the default traits, is the one that is written down in API/.
# With --renew, writes it down. Reads what the compiler says of the modules (symbol graphs).
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
command -v python3 >/dev/null || { echo "api: there is no python3 here, which reads the symbol graphs" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scripts/symbols.sh "$work"

status=0
for graphs in "$work"/*/; do
    module=$(basename "$graphs")
    # With those of its extensions of other modules' types.
    python3 scripts/api.py "$graphs"*.symbols.json >"$work/$module.txt"
    if [ "${1:-}" = --renew ]; then
        mkdir -p API
        cp "$work/$module.txt" "API/$module.txt"
        echo "api: API/$module.txt, $(wc -l <"API/$module.txt") lines"
        continue
    fi
    comm -23 "API/$module.txt" "$work/$module.txt" >"$work/gone"
    comm -13 "API/$module.txt" "$work/$module.txt" >"$work/new"
    [ -s "$work/gone" ] || [ -s "$work/new" ] || continue
    status=1
    {
        echo "api: the public interface of $module is not the one in API/$module.txt."
        sed 's/^/  gone: /' "$work/gone"
        sed 's/^/  new:  /' "$work/new"
    } >&2
done
if [ $status -ne 0 ]; then
    echo "api: if that is meant, run \"make api\", say in CHANGELOG.md what changed, and commit both. What is gone breaks" >&2
    echo "     apps: until 1.0 that takes a new minor version." >&2
elif [ "${1:-}" != --renew ]; then
    echo "api: $(cat API/*.txt | wc -l) lines, as written down"
fi
exit $status
