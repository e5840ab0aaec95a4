#!/usr/bin/env bash
# A program that uses the core alone loads neither Foundation nor zstd nor hiredis, and loads the system's zlib; one that only listens
# does not load that either.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

# As scripts/example.sh builds them.
SWIFTPM_BUILD_DIR=$PWD/.build "$swift" build --package-path Examples/Minimal --configuration release
libraries=$(ldd .build/release/Minimal)
if grep Foundation <<<"$libraries"; then
    echo "linkage: the core loads Foundation. Find the import with: grep -rn 'import Foundation' Sources" >&2
    exit 1
fi
if grep libzstd <<<"$libraries"; then
    echo "linkage: the core loads zstd without the trait Zstd. Look at who depends on CZstd in Package.swift" >&2
    exit 1
fi
if grep -E 'libhiredis|libssl' <<<"$libraries"; then
    echo "linkage: the core loads what only the trait Redis needs. Look at who depends on CHiredis and COpenSSL in Package.swift" >&2
    exit 1
fi
grep -q libz.so <<<"$libraries" || { echo "linkage: the core does not load libz" >&2; exit 1; }
SWIFTPM_BUILD_DIR=$PWD/Examples/.build "$swift" build --package-path Examples/Listener
listening=$(ldd Examples/.build/debug/Listener)
if grep -E 'Foundation|libzstd|libhiredis|libz\.so' <<<"$listening"; then
    echo "linkage: PressureSignals loads more than it needs. Look at its target in Package.swift" >&2
    exit 1
fi
echo "linkage: neither Foundation, zstd nor hiredis among $(wc -l <<<"$libraries") libraries"
