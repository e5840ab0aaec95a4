#!/usr/bin/env bash
# Makes sure that zlib's headers and pkg-config are there. Installs nothing else.
set -euo pipefail

swift=${SWIFT:-swift}
command -v "$swift" >/dev/null || {
    echo "setup: no \"$swift\" here. Install Swift 6.2 or later (https://www.swift.org/install/linux) or set SWIFT." >&2
    exit 1
}

is_complete() { command -v pkg-config >/dev/null && pkg-config --exists zlib; }

is_complete && exit 0

packages=(zlib1g-dev pkg-config)
command -v apt-get >/dev/null || {
    echo "setup: zlib's headers or pkg-config are missing, and there is no apt-get to install them with." >&2
    echo "       Install them with this system's package manager (zlib-devel and pkgconf on Fedora)." >&2
    exit 1
}

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "setup: zlib's headers or pkg-config are missing, and only root may install them. As root, run:" >&2
        echo "       apt-get install ${packages[*]}" >&2
        exit 1
    }
    as_root=(sudo)
    # Without a terminal nobody could type a password.
    [ -t 0 ] || as_root+=(-n)
fi

apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y "$@" </dev/null; }

echo "setup: installing ${packages[*]}"
# The package lists may be missing or old; if so, the second try has new ones.
apt install --no-install-recommends "${packages[@]}" >/dev/null 2>&1 || {
    apt update
    apt install --no-install-recommends "${packages[@]}" >/dev/null
}

is_complete || {
    echo "setup: ${packages[*]} are installed, but pkg-config does not find zlib. Look at: pkg-config --debug zlib" >&2
    exit 1
}
