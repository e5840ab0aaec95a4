#!/bin/sh
# Plays a shop for ten minutes that others can speak to, and says how. The tool to play it with may be named.
set -eu

tool=${1:-.build/release/pressuresim}
cat >&2 <<TEXT
A shop for ten minutes. In another terminal, with the number that follows in place of 4711:

  $tool status 4711
  $tool warn 4711 critical
  $tool status 4711

^C ends it, and says what happened.

TEXT
export PRESSUREKIT_CONTROL=1
exec "$tool" run - <<SCENARIO
name: A shop to talk to
description: Tiles are read all the time, drafts now and then. Nobody warns but you.
controllers:
  - name: shop
    visible: true
    caches:
      - {name: tiles, keyed: {keys: 400}, size: 64KiB to 512KiB, content: text, loader: {cost: 4ms}}
      - {name: drafts, count: 40, size: 256KiB, content: text, loader: none}
timeline:
  - access: {of: shop/*}
  - together:
      - access: {of: shop/tiles, pattern: zipf, count: 12000, every: 50ms}
      - access: {of: shop/drafts-*, pattern: uniform, count: 600, every: 1s}
expect:
  lost: == 0
SCENARIO
