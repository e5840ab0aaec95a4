#!/usr/bin/env bash
# docs.sh [--optional]: the documentation of the library, articles and reference, as a web site in docs-out/. Its pages expect
# to be found below /PressureKit, as on any server that has docs-out/ as its root. A warning is an error; that there is no docc
# is none with --optional.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
docc=$(dirname "$(readlink -f "$(command -v "$swift")")")/docc
if [ ! -x "$docc" ]; then
    [ "${1:-}" != --optional ] || { echo "skipped: there is no docc beside $swift"; exit 0; }
    echo "docs: there is no docc beside $swift" >&2
    exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scripts/symbols.sh "$work"
rm -r "$work/PressureKitTesting"
# An app imports PressureKit, which exports the others: it sees one module, and so does the reader.
python3 - "$work" <<'END'
import json
import pathlib
import sys
for path in pathlib.Path(sys.argv[1]).glob("*/*.symbols.json"):
    graph = json.loads(path.read_text(encoding="utf-8"))
    graph["module"]["name"] = "PressureKit"
    path.unlink()
    path.with_name("PressureKit" + path.name.removeprefix(path.parent.name)).write_text(json.dumps(graph), encoding="utf-8")
END
# Nothing stays of what an earlier one has written.
rm -rf docs-out
mkdir docs-out
"$docc" convert Sources/PressureKit/PressureKit.docc --additional-symbol-graph-dir "$work" --output-path docs-out/PressureKit \
    --fallback-display-name PressureKit --fallback-bundle-identifier PressureKit --warnings-as-errors \
    --transform-for-static-hosting --hosting-base-path PressureKit
cat >docs-out/index.html <<'END'
<!DOCTYPE html>
<meta charset="utf-8">
<title>PressureKit</title>
<meta http-equiv="refresh" content="0; url=PressureKit/documentation/pressurekit/">
<a href="PressureKit/documentation/pressurekit/">PressureKit</a>
END
pages=$(find docs-out -name index.html | wc -l)
echo "docs: $pages pages in docs-out/; to read them: python3 -m http.server --directory docs-out"
