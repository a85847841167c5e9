# Makes a Debian in a folder: sourced by Tests/debian/bare and Tests/swift-6.2.

fail() { printf '%s: %s\n' "$0" "$1" >&2 && exit 1; }

# make_debian RELEASE ROOT LOG [INCLUDED]: the smallest system of that release, which can use apt and starts no daemon.
make_debian() {
    local release=$1 root=$2 log=$3 mirror
    [ "$(id -u)" -eq 0 ] || fail "only root can make a Debian in a folder"
    rm -rf "$root"
    mkdir -p "$root" "${log%/*}"
    # The mirror that this machine uses, and how it reaches it.
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -m 1 -v security || true)
    [ -n "$mirror" ] || fail "apt knows no mirror: run apt-get update"
    debootstrap --variant=minbase ${4:+--include="$4"} "$release" "$root" "$mirror" \
        >"$log" 2>&1 || fail "debootstrap: $(tail -n 1 "$log")"
    apt-config dump | grep -E '^Acquire::(https?::|Check-|Retries)' >"$root/etc/apt/apt.conf.d/90here" || true
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod +x "$root/usr/sbin/policy-rc.d"
    cp /etc/hosts /etc/resolv.conf "$root/etc/"
}
