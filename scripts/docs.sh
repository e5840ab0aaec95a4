#!/usr/bin/env bash
# The documentation of the library as a web site in docs-out/. A warning is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

# Has Package.swift ask for the DocC plugin, which nobody else needs.
export PRESSUREKIT_DOCS=1
# The plugin's pins would have every later build fetch it.
pins=$(mktemp)
[ -f Package.resolved ] && cp Package.resolved "$pins"
trap 'if [ -s "$pins" ]; then mv "$pins" Package.resolved; else rm -f "$pins" Package.resolved; fi' EXIT
mkdir -p docs-out
"$swift" package --scratch-path .build-docs --allow-writing-to-directory docs-out \
    generate-documentation --target PressureKit --output-path docs-out --warnings-as-errors \
    --transform-for-static-hosting --hosting-base-path PressureKit
echo "docs: docs-out/documentation/pressurekit/index.html"
