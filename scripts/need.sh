# shellcheck shell=bash
# To be sourced: programs that a script cannot do without.

# need PROGRAM PACKAGE…: makes sure that a program is here, through apt where that may be done without asking. Says why not, and
# fails. Several scripts may need something at a time: apt does not wait for itself, so they wait for each other.
need() {
    local program=$1 as_root=()
    shift
    command -v "$program" >/dev/null && return
    command -v apt-get >/dev/null || { echo "there is no $program, and no apt-get to install it"; return 1; }
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "there is no $program, and only root may install it"; return 1; }
        sudo -n true 2>/dev/null || [ -t 0 ] || { echo "there is no $program, and sudo asks for a password"; return 1; }
        as_root=(sudo)
        [ -t 0 ] || as_root+=(-n)
    fi
    (
        # Nor for a machine that is at its updates, unless it is told so.
        apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120 "$@"; }
        flock 9
        # The package lists may be missing or old; if so, the second try has new ones.
        apt install --no-install-recommends "$@" || { apt update && apt install --no-install-recommends "$@"; }
    ) 9<"${BASH_SOURCE[0]}" >/dev/null 2>&1 </dev/null
    command -v "$program" >/dev/null || { echo "there is no $program, and $* cannot be installed here"; return 1; }
}
