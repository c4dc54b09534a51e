#!/bin/sh
# Runs the tests on other versions of Node, which the npm package `node` brings with their headers: each in a fresh clone of
# the last commit, with its own `npm ci`. `npm run test:nodes [-- 20.19 22 24 26]` takes a quarter of an hour a version,
# `npm run test:nodes -- --units 24` only the unit tests of Node 24. The exit code is 1 when a version failed.
set -eu

cd "$(dirname "$0")/.."
script=test
if [ "${1:-}" = --units ]; then
    script=test:unit
    shift
fi
[ $# -gt 0 ] || set -- 20.19 22 24 26
work=$(mktemp -d)
# Some tests run this Node as another user.
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT

# Every step is joined by &&: the caller asks for the result, so `set -e` does not apply here.
try() {
    npm install --silent --no-save --prefix "$work/node-$1" "node@$1" &&
        git clone --quiet . "$work/clone-$1" &&
        cd "$work/clone-$1" &&
        # Packages with native code are built against the headers of this version.
        npm_config_nodedir=$(echo "$work/node-$1"/node_modules/node/node_modules/node-linux-*) &&
        PATH=$npm_config_nodedir/bin:$PATH &&
        export npm_config_nodedir PATH &&
        echo "Node $(node --version): npm ci && npm run build && npm run $script" &&
        npm ci --no-audit --no-fund && npm run --silent build && npm run --silent "$script"
}

failed=0
for version; do
    began=$(date +%s)
    result=passed
    (try "$version") || { result=failed; failed=1; }
    echo "Node $version: npm run $script $result after $(($(date +%s) - began)) s" >>"$work/table"
    rm -rf "$work/clone-$version"
done
cat "$work/table"
exit "$failed"
