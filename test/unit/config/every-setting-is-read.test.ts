// A setting that is declared and read by nobody promises what it does not do. A section is read under its own name, or
// under the name its readers give it; a class that is constructed with a whole section declares what it wants of it.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { SETTINGS } from '../../../src/config/settings/settings.ts';
import { readSourceTree } from '../../support/source-tree.ts';

/** What else than its name a section is called where it is read. */
const ALSO_CALLED: Partial<Record<keyof typeof SETTINGS, string>> = {
  instance: 'config|DaemonConfig|LiveSettings|settings|anew',
  access: 'config|DaemonConfig|LiveSettings|settings',
  gateway: 'profile',
  api: 'bounds|limits',
};

const files = readSourceTree(fileURLToPath(new URL('../../../src', import.meta.url))).filter(
  ({ path }) => !/^config\/settings\//.test(path),
);

/** Of each section, the classes that are constructed with everything of it: `new Worker({ ...polling })`, also by way of a constant. */
const constructedWith = new Map(
  Object.keys(SETTINGS).map((section) => [
    section,
    new Set(files.flatMap(({ code }) => takersIn(code, section))),
  ]),
);

function takersIn(code: string, whole: string): string[] {
  const spread = `(?:(?!\\bnew )[^;])*?\\.\\.\\.(?:\\w+\\.)*${whole}\\b`;
  const namesIn = (pattern: string) =>
    [...code.matchAll(new RegExp(pattern, 'g'))].map(([, name = '']) => name);
  const holders = namesIn(`\\bconst (\\w+) =${spread}`).filter((name) => name !== whole);
  return [...namesIn(`\\bnew (\\w+)\\(${spread}`), ...holders.flatMap((holder) => takersIn(code, holder))];
}

function isRead(section: string, name: string): boolean {
  const called = [section, ALSO_CALLED[section as keyof typeof SETTINGS]].filter(Boolean).join('|');
  const access = new RegExp(`\\b(${called})\\??\\.${name}\\b`);
  const taken = new RegExp(`\\{[^{}]*\\b${name}\\b[^{}]*\\}\\s*[=:][^;{}]*\\b(${called})\\b`);
  const wanted = new RegExp(`\\breadonly ${name}\\??:`);
  const used = new RegExp(`(\\.${name}\\b|[{,]\\s*${name}\\s*[,}])`);
  const takers = constructedWith.get(section);
  const takes = (source: string) =>
    [...source.matchAll(/^export (?:abstract )?class (\w+)/gm)].some(([, name = '']) => takers?.has(name));
  return files.some(
    ({ source, code }) =>
      source.includes(name) &&
      (access.test(code) || taken.test(source) || (takes(source) && wanted.test(source) && used.test(code))),
  );
}

const settings = Object.entries(SETTINGS).flatMap(([section, declared]) =>
  Object.keys(declared).map((name) => ({ section, name })),
);

it('every setting of the table', () => {
  const unread = settings.filter(({ section, name }) => !isRead(section, name));
  expect(unread.map(({ section, name }) => `${section}.${name}`)).toEqual([]);
});

it.each(Object.keys(SETTINGS))('would notice a setting of %s that is never read', (section) => {
  expect(isRead(section, 'nobodyReadsThis')).toBe(false);
});

it('would notice a setting that has the name of what other services want', () => {
  expect(files.some(({ source }) => source.includes('readonly timeoutMs:'))).toBe(true);
  expect(isRead('polling', 'timeoutMs')).toBe(false);
});
