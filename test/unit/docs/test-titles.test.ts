// A title of a test is a sentence in plain words that needs no other line to be understood.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../../support/markdown.ts';
import { wordsToReplace } from '../../support/plain-words.ts';

/** What follows `it(`, `describe(`, or the table of `it.each(...)(`. */
const TITLE =
  /(?<![\w.])(?:it|describe|test)(?:\.\w+)*\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])*)\1|\)\(\s*(['"`])((?:\\.|(?!\3)[^\\\n])*)\3\s*,\s*(?:async )?(?:\(|\w+ =>)/g;
/** Its subject would be in the title of another line. */
const FRAGMENT = /^(of|that|which|whose) /;

function titlesOf(source: string): string[] {
  return [...source.matchAll(TITLE)].map(([, , plain, , ofTable]) => plain ?? ofTable ?? '');
}

function faultsOf(title: string): string[] {
  return [...wordsToReplace(title), ...(FRAGMENT.test(title) ? [`has no subject: ${title}`] : [])];
}

it('every title has a subject, in plain words', () => {
  const folder = join(REPOSITORY, 'test');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.test\.tsx?$/.test(file),
  );
  const titles = files.flatMap((file) =>
    titlesOf(readFileSync(join(folder, file), 'utf8')).map((title) => ({ file, title })),
  );
  expect(titles.length).toBeGreaterThan(4_000);
  expect(titles.flatMap(({ file, title }) => faultsOf(title).map((fault) => `${file}: ${fault}`))).toEqual(
    [],
  );
});

it('titles are found in each form, and their faults', () => {
  const source = [
    "it('is plain', async () => {});",
    '  describe(`is a template`, () => {',
    "it.each(['not this'])('is of %s', (row) => {",
    "it.each([\n  [1, 'nor this'],\n])(\n  'is of a table',\n  async (row) => {",
    "expect(row).toBe('nor this');",
  ].join('\n');
  expect(titlesOf(source)).toEqual(['is plain', 'is a template', 'is of %s', 'is of a table']);
  expect(faultsOf('of a title')).toEqual(['has no subject: of a title']);
  expect(faultsOf('a title that nobody told')).toHaveLength(2);
  expect(faultsOf('a title with `told`')).toEqual([]);
});
