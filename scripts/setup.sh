#!/usr/bin/env bash
# setup.sh [zstd] [redis]: makes sure that zlib's headers and pkg-config are there; with zstd, for the trait Zstd, that
# library's headers too; with redis, for the trait Redis, those of hiredis and OpenSSL, and a server and certificates
# to test with. Installs nothing else.
set -euo pipefail

swift=${SWIFT:-swift}
command -v "$swift" >/dev/null || {
    echo "setup: no \"$swift\" here. Install Swift 6.2 or later (https://www.swift.org/install/linux) or set SWIFT." >&2
    exit 1
}

libraries=(zlib)
packages=(zlib1g-dev pkg-config)
server=
for wanted in "$@"; do
    case $wanted in
    zstd)
        libraries+=(libzstd)
        packages+=(libzstd-dev)
        ;;
    redis)
        libraries+=(hiredis openssl)
        packages+=(libhiredis-dev libssl-dev openssl redis-server)
        server=redis-server
        ;;
    *)
        echo "setup: \"$wanted\" is none of zstd and redis" >&2
        exit 2
        ;;
    esac
done

is_complete() {
    command -v pkg-config >/dev/null && pkg-config --exists "${libraries[@]}" || return
    [ -z "$server" ] || { command -v openssl && command -v redis-server valkey-server; } >/dev/null
}

is_complete && exit 0

command -v apt-get >/dev/null || {
    echo "setup: pkg-config or the headers of ${libraries[*]} are missing, and there is no apt-get to install them." >&2
    echo "       Install them with this system's package manager (on Fedora: pkgconf, zlib-devel, libzstd-devel, hiredis-devel, openssl-devel, valkey)." >&2
    exit 1
}

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "setup: only root may install what is missing. As root, run:" >&2
        echo "       apt-get install ${packages[*]}" >&2
        exit 1
    }
    as_root=(sudo)
    # Without a terminal nobody could type a password.
    [ -t 0 ] || as_root+=(-n)
fi

# A machine that has just come up is often at its updates.
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120 "$@" </dev/null; }

echo "setup: installing ${packages[*]}"
# The package lists may be missing or old; if so, the second try has new ones.
apt install --no-install-recommends "${packages[@]}" >/dev/null 2>&1 || {
    apt update
    apt install --no-install-recommends "${packages[@]}" >/dev/null
}

is_complete || {
    echo "setup: ${packages[*]} are installed, but pkg-config does not find ${libraries[*]}${server:+, or there is no $server}. Look at:" >&2
    echo "       pkg-config --debug ${libraries[*]}" >&2
    exit 1
}
