# shellcheck shell=bash
# shellcheck disable=SC2154 # The cache is named by who sources this.
# To be sourced: makes the guest from Debian's packages, once, in $cache. Nothing of it is committed, nothing is installed but
# the programs that make and run it. Expects `skip`, and need.sh.

# The archive that this machine's own apt reads.
archive() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | sort | uniq -c | sort -rn |
        awk 'NR == 1 { print $2 }'
}

make_guest() {
    [ "$(uname -m)" = x86_64 ] || skip "the guest is one for x86_64"
    local why
    why=$(need qemu-system-x86_64 qemu-system-x86 && need mkfs.ext4 e2fsprogs) || skip "$why"
    # Made by this file as it is.
    local stamp
    stamp=$(cat scripts/guest/make.sh scripts/guest/inside/start | cksum)
    [ "$(cat "$cache/stamp" 2>/dev/null)" != "$stamp" ] || return 0
    # Its files belong to root, as mkfs.ext4 finds them.
    [ "$(id -u)" -eq 0 ] || skip "the guest has not been made yet, which takes root"
    why=$(need mmdebstrap mmdebstrap && need busybox busybox-static && need cpio cpio) || skip "$why"
    local kernel work
    kernel=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '/Depends:/ { print $2; exit }')
    [ -n "$kernel" ] || skip "apt knows no linux-image-cloud-amd64 here, which only Debian has"
    rm -rf "$cache/work" && mkdir -p "$cache/work/packages" && work=$cache/work || return
    echo "guest: fetching $kernel and a Debian with systemd"
    (cd "$work/packages" && apt-get -qq download "$kernel" 2>/dev/null) || skip "apt cannot fetch $kernel: no network?"
    dpkg -x "$work"/packages/*.deb "$work/kernel" || return
    # Debian 13 for systemd 257; its own kernel panics under older qemus.
    mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus,procps,jq,kmod \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/man/*' \
        trixie "$work/root" "$(archive)" >"$cache/mmdebstrap.log" 2>&1 || skip "no Debian 13 can be fetched; see $cache/mmdebstrap.log"
    guest_modules "$work" && guest_ramdisk "$work" && cp "$work"/kernel/boot/vmlinuz-* "$cache/vmlinuz" || return
    truncate -s 3G "$cache/root.ext4.new" && mkfs.ext4 -q -F -d "$work/root" "$cache/root.ext4.new" &&
        mv "$cache/root.ext4.new" "$cache/root.ext4" || return
    rm -rf --one-file-system "$work"
    echo "$stamp" >"$cache/stamp"
}

# The kernel's modules that some case loads.
guest_modules() {
    local work=$1 release path
    release=$(basename "$work"/kernel/lib/modules/*)
    for path in drivers/block/zram mm lib crypto; do
        mkdir -p "$work/root/lib/modules/$release/kernel/$path"
        cp -a "$work/kernel/lib/modules/$release/kernel/$path/." "$work/root/lib/modules/$release/kernel/$path/" 2>/dev/null
    done
    cp "$work/kernel/lib/modules/$release"/modules.* "$work/root/lib/modules/$release/" && chroot "$work/root" depmod "$release" || return
    : >"$work/root/etc/fstab"
    mkdir -p "$work/root/guest"
    echo /guest/lib >"$work/root/etc/ld.so.conf.d/guest.conf"
    ln -sf /guest/pressuresim "$work/root/usr/local/bin/pressuresim"
}

# The first that runs: loads what the disks need, in this order, and goes on on the first disk.
guest_ramdisk() {
    local work=$1 module number=0
    mkdir -p "$work"/ram/{bin,modules,new,proc,sys,dev} && cp "$(command -v busybox)" "$work/ram/bin/busybox" || return
    for module in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk; do
        number=$((number + 1))
        find "$work/kernel/lib/modules" -name "$module.ko" -exec cp {} "$work/ram/modules/$number-$module.ko" \;
    done
    install -m 755 scripts/guest/inside/start "$work/ram/init"
    (cd "$work/ram" && find . | cpio --quiet -o -H newc | gzip -1) >"$cache/ramdisk"
}

# The second disk: the tool with its libraries, and the cases. Made anew each time.
make_tool_disk() {
    local tool=$1 folder library
    folder=$(mktemp -d -p "$cache") && mkdir -p "$folder/lib" && cp "$tool" "$folder/pressuresim" || return
    # The C library's own are the guest's.
    ldd "$tool" | awk '$3 ~ /^\// && $1 !~ /^lib(c|m|gcc_s|stdc\+\+|z|ld-linux.*)\.so/ { print $3 }' |
        while read -r library; do cp -L "$library" "$folder/lib/"; done
    cp -a scripts/guest/inside scripts/guest/cases Examples/Deployment/thumbnails.service "$folder/" || return
    rm -f "$cache/tool.$$.ext4" && truncate -s 400M "$cache/tool.$$.ext4" && mkfs.ext4 -q -F -d "$folder" "$cache/tool.$$.ext4"
    local status=$?
    rm -rf "$folder"
    return "$status"
}
