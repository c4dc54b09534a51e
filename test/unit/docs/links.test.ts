// Links between pages lead somewhere, and the files and tests that pages name exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorOf, headingsOf, linksOf, markdownFiles, proseOf, REPOSITORY } from '../../support/markdown.ts';

/** A file of the repository as a page names it: not a pattern. */
const NAMED_FILE = /`((?:src|test|scripts|docs|deploy|man)\/[\w./@-]+)`/g;
/** A test and the file it stands in: `test/unit/x.test.ts` "does this". */
const NAMED_TEST = /`(test\/[\w./-]+\.test\.tsx?)`\s+"([^"]+)"/g;

const pages = markdownFiles();
const exists = (path: string) => existsSync(join(REPOSITORY, path));
const decisions = readdirSync(join(REPOSITORY, 'docs/decisions')).filter((name) => /^\d{4}-/.test(name));

it('there are pages, links and named tests to look at', () => {
  expect(pages).toContain('docs/architecture.md');
  expect(linksOf('README.md').length).toBeGreaterThan(5);
  expect([...proseOf('docs/architecture.md').matchAll(NAMED_TEST)].length).toBeGreaterThan(10);
});

it('pages link to what exists', () => {
  expect(amiss((page) => linksOf(page).filter((link) => !leadsSomewhere(page, link)))).toEqual([]);
});

it('pages name files that exist', () => {
  // A decision tells how it was when it was made, the change log how it has been.
  const ofNow = (page: string) => !/decisions\/|CHANGELOG/.test(page);
  const named = (page: string) => [...proseOf(page).matchAll(NAMED_FILE)].map(([, path = '']) => path);
  expect(amiss((page) => (ofNow(page) ? named(page).filter((path) => !exists(path)) : []))).toEqual([]);
});

it('pages name tests that exist', () => {
  const named = (page: string) => [...proseOf(page).matchAll(NAMED_TEST)];
  const missing = (page: string) => named(page).filter(([, path = '', title = '']) => !isTest(path, title));
  expect(amiss((page) => missing(page).map(([text]) => text))).toEqual([]);
});

it('each decision has its own number, and the index says where missing numbers went', () => {
  const numbers = decisions.map((name) => name.slice(0, 4));
  expect(new Set(numbers).size).toBe(numbers.length);
  if (numbers.length < Math.max(...numbers.map(Number)))
    expect(proseOf('docs/decisions/README.md')).toContain('Pages that are not listed were folded into');
});

it('the index of decisions has one line for each', () => {
  const listed = linksOf('docs/decisions/README.md').filter((link) => link.endsWith('.md'));
  expect(listed.sort()).toEqual(decisions.sort());
});

describe('the rules themselves', () => {
  it('see a link to nothing', () => {
    expect(leadsSomewhere('README.md', 'docs/nothing.md')).toBe(false);
    expect(leadsSomewhere('README.md', 'docs/api.md#nothing')).toBe(false);
    expect(leadsSomewhere('README.md', 'docs/api.md#access')).toBe(true);
    expect(leadsSomewhere('docs/api.md', '#access')).toBe(true);
  });

  it('see a test that is not there', () => {
    expect(isTest('test/unit/docs/links.test.ts', 'see a test that is not there')).toBe(true);
    expect(isTest('test/unit/docs/links.test.ts', ['see', 'one'].join(' '))).toBe(false);
    expect(isTest('test/unit/docs/nothing.test.ts', 'see')).toBe(false);
  });
});

function amiss(find: (page: string) => readonly string[]): string[] {
  return pages.flatMap((page) => find(page).map((what) => `${page}: ${what}`));
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : normalize(join(dirname(page), path));
  if (!exists(target)) return false;
  return anchor === undefined || headingsOf(target).map(anchorOf).includes(anchor);
}

/** Whether the file holds the title as a whole string. */
function isTest(path: string, title: string): boolean {
  if (!exists(path)) return false;
  const source = readFileSync(join(REPOSITORY, path), 'utf8');
  return [`'${title}'`, `"${title}"`, `\`${title}\``].some((literal) => source.includes(literal));
}
