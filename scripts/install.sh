#!/usr/bin/env bash
# install.sh install|uninstall: puts pressuresim, its manual and its completions below $DESTDIR$PREFIX, or takes them away.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=${PRESSURESIM:-.build/release/pressuresim}
root=${DESTDIR:-}${PREFIX:-/usr/local}
man=$root/share/man/man1
bash=$root/share/bash-completion/completions/pressuresim
zsh=$root/share/zsh/site-functions/_pressuresim
fish=$root/share/fish/vendor_completions.d/pressuresim.fish

case ${1:-} in
install)
    pages=$(mktemp -d)
    trap 'rm -rf "$pages"' EXIT
    "$tool" manual "$pages"
    install -d "$root/bin" "$man" "${bash%/*}" "${zsh%/*}" "${fish%/*}"
    install -m 755 "$tool" "$root/bin/pressuresim"
    install -m 644 "$pages"/*.1 "$man"
    "$tool" --generate-completion-script bash >"$bash"
    "$tool" --generate-completion-script zsh >"$zsh"
    "$tool" --generate-completion-script fish >"$fish"
    chmod 644 "$bash" "$zsh" "$fish"
    echo "pressuresim is in $root/bin, its manual and its completions for bash, zsh and fish in $root/share"
    ;;
uninstall)
    rm -f "$root/bin/pressuresim" "$man"/pressuresim.1 "$man"/pressuresim-*.1 "$bash" "$zsh" "$fish"
    ;;
*)
    echo "install.sh: say install or uninstall" >&2
    exit 2
    ;;
esac
