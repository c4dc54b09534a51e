// The log search can be walked from the command line to the printed number in a dozen files, as docs/architecture.md does:
// each of them is named after one that imports it. That the files of the other walks exist is links.test.ts.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { proseOf, REPOSITORY } from '../../support/markdown.ts';
import { readSourceTree } from '../../support/source-tree.ts';

const MOST_FILES = 12;

const section = proseOf('docs/architecture.md')
  .split(/^## /m)
  .find((text) => text.startsWith('One log search,'));
const files = [
  ...new Set(Array.from((section ?? '').matchAll(/`src\/([\w./-]+\.ts)`/g), ([, path = '']) => path)),
];

it('the walk through the log search takes a dozen files', () => {
  expect(files).toContain('main.ts');
  expect(files).toContain('log-search/report/print-report.ts');
  expect(files.length).toBeLessThanOrEqual(MOST_FILES);
});

it('the walk through the log search leaves no file out', () => {
  const tree = new Map(readSourceTree(join(REPOSITORY, 'src')).map(({ path, imports }) => [path, imports]));
  const reached = new Set(['main.ts', 'cli/commands/logs.ts']);
  for (const file of files) {
    expect([...reached], file).toContain(file);
    for (const { target } of tree.get(file) ?? []) reached.add(target);
  }
});
