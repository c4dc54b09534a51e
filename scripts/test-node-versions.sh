#!/bin/sh
# Runs the built binary, and the test of the demo, on other versions of Node, which the npm package `node` brings:
# `npm run test:node-versions [-- 22 24 26]`. Not part of npm test: each version is a download of some 50 MB.
set -eu

cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 22 24 26
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

npm run --silent build
for version; do
    npm install --silent --no-save --prefix "$work/$version" "node@$version"
    node=$work/$version/node_modules/node/bin/node
    "$node" bin/cardpoll.js version
    PATH=$(dirname "$node"):$PATH "$node" node_modules/vitest/vitest.mjs run --config test/vitest.config.ts \
        test/e2e/cli-demo.test.ts test/e2e/cli-process.test.ts
done
