#!/bin/sh
# Makes the root file system of a base for the Containerfile out of Debian's packages and this machine's Node.js and npm,
# where no registry of images can be reached: debian-base.sh FOLDER NODE NPM
set -eu
root="$1" node="$2" npm="$3"

packages="$(mktemp -d)"
trap 'rm -rf "$packages"' EXIT
chmod 755 "$packages"
download() {
  (cd "$packages" && apt-get download --quiet=2 base-files bash coreutils dash libacl1 libattr1 libc6 libgcc-s1 \
    libgmp10 libpcre2-8-0 libselinux1 libstdc++6 libtinfo6)
}
# A machine's lists of packages may be old, or gone.
download || { apt-get update --quiet=2 && download; }
mkdir -p "$root"
for package in "$packages"/*.deb; do dpkg-deb --extract "$package" "$root"; done

[ -e "$root/bin/sh" ] || ln -s dash "$root/bin/sh"
mkdir -p "$root/usr/local/bin" "$root/usr/lib/node_modules" "$root/tmp"
chmod 1777 "$root/tmp"
cp "$node" "$root/usr/local/bin/node"
cp -R "$npm" "$root/usr/lib/node_modules/npm"
ln -s ../../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
# The certificates that this machine trusts: its way to the npm registry may be its own.
mkdir -p "$root/etc/ssl/certs"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
