#!/usr/bin/env bash
# tool.sh [OPTION…]: builds pressuresim for release, in the one way that all scripts do. It needs no default trait: without them a
# third less is compiled, and the C plugin and the examples without traits are made of what is built here.
set -euo pipefail
cd "$(dirname "$0")/.."
exec "${SWIFT:-swift}" build --configuration release --product pressuresim --disable-default-traits "$@"
