// The copyright file of the Debian package: cardpoll's own licence, and that of every npm package it brings as that
// package states it. Used by package-deb.js.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** @typedef {{ name: string, version: string, author?: Person, contributors?: Person[], license?: Terms, licenses?: Terms[] }} Manifest */
/** @typedef {string | { name: string }} Person */
/** @typedef {string | { type: string }} Terms */
/** @typedef {{ name: string, path: string, manifest: Manifest }} Package */

/** @param {string} program directory of package.json and node_modules */
export function copyright(program) {
  const [, ...terms] = readFileSync(join(ROOT, 'LICENSE'), 'utf8').trim().split('\n\n');
  const license = terms.join('\n\n').replace(/^$/gm, '.').replace(/^/gm, ' ');
  const own = readFileSync(join(ROOT, 'LICENSE'), 'utf8').match(/^Copyright \(c\) (.*)$/m)?.[1];
  const packages = packagesBelow(join(program, 'node_modules')).map(({ name, path, manifest }) =>
    [
      `Files: usr/lib/cardpoll/${path.slice(program.length + 1)}/*`,
      `Copyright: ${holderOf(manifest)}`,
      `License: ${licenseOf(manifest)}`,
      ` ${name} ${manifest.version}; the text stands beside its files.`,
    ].join('\n'),
  );
  const head =
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: cardpoll';
  return [head, `Files: *\nCopyright: ${own}\nLicense: MIT\n${license}`, ...packages].join('\n\n');
}

/** @param {string} directory @returns {Package[]} */
function packagesBelow(directory) {
  const found = [];
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) continue;
    if (entry.name.startsWith('@')) found.push(...packagesBelow(path));
    else found.push(...packageAt(path));
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** @param {string} path @returns {Package[]} */
function packageAt(path) {
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const nested = readdirSync(path).includes('node_modules') ? packagesBelow(join(path, 'node_modules')) : [];
  return [{ name: manifest.name, path, manifest }, ...nested];
}

/** @param {Manifest} manifest */
function licenseOf({ license, licenses = [] }) {
  const stated = license ?? licenses[0];
  return (typeof stated === 'string' ? stated : stated?.type) ?? 'unknown';
}

/** @param {Manifest} manifest */
function holderOf({ author, contributors = [], name }) {
  const person = author ?? contributors[0];
  const holder = typeof person === 'string' ? person : person?.name;
  return (holder ?? `the authors of ${name}`).replace(/\s+/g, ' ');
}
