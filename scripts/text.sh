#!/usr/bin/env bash
# What is tracked names no place on somebody's machine, no host but the public ones below, has no loose blanks, and keeps
# no bare closure in a lock.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
status=0

complain() { echo "text: $*" >&2; status=1; }

# The places where people keep their things, and where this clone happens to be.
here=$(git rev-parse --show-toplevel)
for place in /home/ /root/ /Users/ /work/ /workspace/ /mnt/ "$here" "${HOME:-/root}/"; do
    # At the start of a path, that is: after neither a name nor a dot.
    hits=$(git grep -nIE "(^|[^[:alnum:]_.*-])${place//./\\.}" -- . ':!scripts/text.sh') &&
        complain "a path of one machine:"$'\n'"$hits"
done

# Where a reader can go without an account. Everything else, a package mirror above all, is somebody's own.
public='github\.com|(www\.)?swift\.org|(www\.)?apache\.org|no-color\.org|(www\.)?kernel\.org|docs\.kernel\.org'
public+='|(www\.)?w3\.org|llvm\.org|man7\.org|(www\.)?zlib\.net|json-schema\.org'
hits=$(git grep -nIoE '(https?|ssh|git)://[^/[:space:]")>`]+' | grep -vE "://($public)\$") &&
    complain "a host that is not on the list in scripts/text.sh:"$'\n'"$hits"
hits=$(git grep -nIwE 'localhost|127\.0\.0\.1|[a-z0-9-]+\.(internal|local|lan)' -- . ':!scripts/text.sh' ':!*.swift' | grep -v 'memory\.events\.local') && # A file of the kernel's.
    complain "a host of one machine:"$'\n'"$hits"

# It would be wrapped anew by each look, until calling it overflows the stack: `Handler` is for that.
hits=$(git grep -nE '(Lock|Mutex|Shared)<\(@Sendable' -- Sources) &&
    complain "a bare closure in a lock:"$'\n'"$hits"

hits=$(git grep -nIE '[[:space:]]+$' -- . ':!LICENSE' ':!Tests/*/Fixtures') &&
    complain "blanks at the end of a line:"$'\n'"$hits"
exit $status
