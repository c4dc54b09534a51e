// What comments and titles cite can be looked up in docs/. There are three forms:
//   (operations interface, section 2.2)   a section of docs/operations-interface.md
//   (contract, "Fields")                  a heading of docs/contract.md
//   docs/audit.md                         a page, in comments; a decision by its whole name, since a number says nothing
// Migrations are left out: they are never edited, and one cites from before there were these pages.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { headingsOf, REPOSITORY } from '../../support/markdown.ts';

const SOURCE = /\.(tsx?|m?js|lua|sql|wat|sh|yaml)$/;
const NOT_LOOKED_AT = /\/migrations\/|^test\/unit\/docs\//;

const SECTIONS = new Set(
  headingsOf('docs/operations-interface.md').map((text) => text.match(/^[\d.]*\d/)?.[0]),
);
const HEADINGS = new Set(headingsOf('docs/contract.md'));

const files = ['src', 'test', 'scripts', 'bin', 'deploy'].flatMap((directory) =>
  readdirSync(join(REPOSITORY, directory), { recursive: true, encoding: 'utf8' })
    .map((path) => join(directory, path))
    .filter((path) => SOURCE.test(path) && !NOT_LOOKED_AT.test(path)),
);

it('source files cite only what can be looked up', () => {
  const wrong = files.flatMap((path) =>
    wrongCitations(readFileSync(join(REPOSITORY, path), 'utf8')).map((citation) => `${path}: ${citation}`),
  );
  expect(wrong).toEqual([]);
});

it('the pages are cited', () => {
  const text = files.map((path) => joined(readFileSync(join(REPOSITORY, path), 'utf8'))).join('\n');
  expect(text).toMatch(/operations interface, section 8/i);
  expect(text).toContain('contract, "Fields"');
});

describe('the rule itself', () => {
  it.each([
    'Batches (operations interface, section 8).',
    '// Limits (operations\n// interface, sections 2.2 and 4).',
    '/** Rules (operations interface, sections 2.3, 2.4 and 4). */',
    '// One card (contract, "Fields"); see docs/audit.md, and RFC 9110, section 10.2.3.',
  ])('takes %j', (text) => {
    expect(wrongCitations(text)).toEqual([]);
  });

  it.each([
    '// Batches (specification, section 8).',
    '// Batches (operations interface, section 8.9).',
    '// Limits (operations interface, sections 2.2 and 44).',
    '// Batches of section 8.',
    '// One card (03, "Fields").',
    '// Lists (03): pages.',
    '// One card (contract, "Meadows").',
    '// Why: docs/nothing.md.',
    '// Why: decision 0004.',
    '// Why (docs/decisions/0004).',
  ])('refuses %j', (text) => {
    expect(wrongCitations(text)).toHaveLength(1);
  });
});

/** The text with every comment on one line. */
function joined(source: string): string {
  return source.replace(/\n\s*(\/\/|\*|--|#) ?/g, ' ');
}

function wrongCitations(source: string): string[] {
  const text = joined(source);
  const cited = [...text.matchAll(/operations interface, sections? ((?:\d[\d.]*(?:, | and )?)+)/gi)];
  const headings = [...text.matchAll(/\bcontract, "([^"]+)"/g)].map(([, heading = '']) => heading);
  return [
    ...found(text, /\bthe specification\b|\bspecification, sections? \d|\(0\d(?=, "|\))/gi),
    ...found(text, /(?<!operations interface, |specification, |RFC \d+, )\bsections? \d[\d.]*/gi),
    ...cited.flatMap(([, list = '']) => found(list, /\d+(\.\d+)*/g)).filter((one) => !SECTIONS.has(one)),
    ...headings.filter((heading) => !HEADINGS.has(heading)),
    ...found(commentsOf(source), /\bdecisions?[ /]\d{4}(?![\d-])/g),
    ...found(commentsOf(source), /\bdocs\/[\w./-]+\.md\b/g).filter(
      (path) => !existsSync(join(REPOSITORY, path)),
    ),
  ];
}

/** Lines that are nothing else. */
function commentsOf(source: string): string {
  const lines = source.split('\n').filter((line) => /^\s*(\/\/|\/?\*|--|#)/.test(line));
  return lines.join('\n');
}

function found(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([match]) => match);
}
