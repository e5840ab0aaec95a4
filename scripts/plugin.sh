#!/usr/bin/env bash
# plugin.sh [DIRECTORY]: builds the C plugin for release, with nothing to see but the symbols of pressurekit.h, puts library
# and header into DIRECTORY (.build-plugin/plugin), and runs the examples in C and Python, and the tests of the Python package,
# against what is there.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
directory=${1:-.build-plugin/plugin}
abi=1  # as PRESSUREKIT_ABI_VERSION in the header, as long as nothing is taken away

"$swift" build --configuration release --product PressureKitC --disable-default-traits
mkdir -p "$directory/lib" "$directory/include"
# The package manager links a dynamic library to Swift's own, and shows every symbol there is. This one brings what it
# needs of Swift along, and shows what plugin.map names.
"${swift}c" -emit-library -static-stdlib -o "$directory/lib/libPressureKitC.so.$abi" \
    @.build/release/PressureKitC.product/Objects.LinkFileList -lz \
    -Xlinker --version-script=scripts/plugin.map -Xlinker -soname="libPressureKitC.so.$abi" -Xlinker --gc-sections -Xlinker -s
ln -sf "libPressureKitC.so.$abi" "$directory/lib/libPressureKitC.so"
install -m 644 Sources/CPressureKit/include/pressurekit.h "$directory/include/"
library=$directory/lib/libPressureKitC.so.$abi

diff <(nm -D --defined-only "$library" | awk '$2 == "T"{sub(/@.*/, "", $3); print $3}' | sort) Tests/PluginTests/symbols.txt || {
    echo "plugin: the library shows other symbols than Tests/PluginTests/symbols.txt" >&2
    exit 1
}
# Whoever opens it late, as Python does, has 1,664 bytes for that, and not for this library alone.
thread_local=$(readelf -lW "$library" | awk '$1 == "TLS" { print $6 }')
if [ "$((thread_local))" -gt 1024 ]; then
    echo "plugin: $((thread_local)) bytes of it are thread-local, which not every program has room for" >&2
    exit 1
fi
readelf -d "$library" | grep -q "SONAME.*libPressureKitC.so.$abi" || { echo "plugin: the soname is not version $abi" >&2; exit 1; }
if ldd "$library" | grep -E 'Foundation|libswift'; then
    echo "plugin: the library needs a Swift toolchain where it is used" >&2
    exit 1
fi

flags=(-std=c99 -Wall -Wextra -Wpedantic -Werror "-I$directory/include")
cc "${flags[@]}" Examples/CPlugin/example.c -o .build-plugin/example "-L$directory/lib" -lPressureKitC
LD_LIBRARY_PATH=$directory/lib .build-plugin/example
export PYTHONPATH=$PWD/Python PYTHONDONTWRITEBYTECODE=1
python3 Examples/CPlugin/example.py "$library"
(cd Python && PRESSUREKIT_LIBRARY=$(realpath "../$library") python3 -m unittest discover --buffer --quiet --top-level-directory . --start-directory tests)
echo "plugin: $(stat -L -c %s "$library" | awk '{printf "%.1f MB", $1 / 1e6}') in $directory, $(wc -l <Tests/PluginTests/symbols.txt) symbols"
