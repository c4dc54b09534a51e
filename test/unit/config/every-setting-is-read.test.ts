// A setting that is declared and read by nobody promises what it does not do. Services get their settings by name, so one that is read
// stands in one line with its section: `settings.polling.queueCap`, or `const { queueCap } = settings.polling`.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { SETTINGS } from '../../../src/config/settings/settings.ts';
import { readSourceTree } from '../../support/source-tree.ts';

/** What else than its name a section is called where it is read. */
const ALSO_CALLED: Partial<Record<keyof typeof SETTINGS, readonly string[]>> = {
  instance: ['config', 'DaemonConfig', 'LiveSettings', 'settings', 'anew'],
  access: ['config', 'DaemonConfig', 'LiveSettings', 'settings'],
  gateway: ['profile'],
  api: ['bounds', 'limits'],
};

/** The words of each line of code outside of the table and of the rules that compare settings. */
const lines = readSourceTree(fileURLToPath(new URL('../../../src', import.meta.url)))
  .filter(({ path }) => !/^config\/(settings|rules)\b/.test(path))
  .flatMap(({ source }) => source.split('\n'))
  .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
  .map((line) => new Set(line.split(/\W+/)));

function isRead(section: string, name: string): boolean {
  const called = [section, ...(ALSO_CALLED[section as keyof typeof SETTINGS] ?? [])];
  return lines.some((words) => words.has(name) && called.some((word) => words.has(word)));
}

it('every setting of the table', () => {
  const unread = Object.entries(SETTINGS).flatMap(([section, declared]) =>
    Object.keys(declared).flatMap((name) => (isRead(section, name) ? [] : `${section}.${name}`)),
  );
  expect(unread).toEqual([]);
});

it('would notice a setting that has the name of what other services want', () => {
  expect(lines.some((words) => words.has('timeoutMs'))).toBe(true);
  expect(isRead('polling', 'timeoutMs')).toBe(false);
});
