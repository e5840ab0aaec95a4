#!/usr/bin/env bash
# traits.sh [none]: the library builds with each trait alone and with none; or with none only. All together are the
# default, which every other build has.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

# The manifest's own list; those of its dependencies are indented further.
list=$("$swift" package dump-package | awk '/^  "traits" : \[/{inside=1} /^  \]/{inside=0} inside')
traits=$(awk '/^      "name"/{gsub(/[",]/, ""); print $3}' <<<"$list" | grep -v '^default$' | sort)
defaults=$(awk '/^        "/{gsub(/[", ]/, ""); print}' <<<"$list" | sort)
[ -n "$traits" ] || { echo "traits: the manifest names none" >&2; exit 1; }

build() {
    echo "traits: $1"
    shift
    "$swift" build --scratch-path .build-traits --target PressureKitTesting \
        --explicit-target-dependency-import-check error "$@"
}

if [ "${1:-}" != none ]; then
    for trait in $traits; do build "$trait" --traits "$trait"; done
    [ "$traits" = "$defaults" ] || build all --enable-all-traits
fi
# The last one, so that it is there already when the tests ask for it after `make check`.
build none --disable-default-traits
