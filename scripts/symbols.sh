#!/usr/bin/env bash
# symbols.sh DIRECTORY: what the compiler says of the public interface of each module, as symbol graphs in
# DIRECTORY/MODULE. Builds the modules with the default traits.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
directory=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$swift" build --target PressureKitTesting --disable-index-store >"$log" 2>&1 || { tail -n 20 "$log" >&2; exit 1; }
build=$("$swift" build --show-bin-path)
triple=$("$swift" -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["unversionedTriple"])')
# The C modules that the libraries import.
maps=()
for map in Sources/*/module.modulemap "$build"/*.build/module.modulemap "$build"/../../checkouts/swift-system/Sources/*/include/module.modulemap; do
    [ -f "$map" ] && maps+=(-Xcc "-fmodule-map-file=$map")
done
# SpillStore has nothing public.
for module in PressureSystem PressureSignals PressureKit PressureKitTesting; do
    mkdir -p "$directory/$module"
    "$swift" symbolgraph-extract -module-name "$module" -minimum-access-level public -skip-synthesized-members \
        -target "$triple" -I "$build/Modules" "${maps[@]}" -output-dir "$directory/$module" || {
        echo "symbols: the compiler does not say what $module has; is a module map missing above?" >&2
        exit 1
    }
done
