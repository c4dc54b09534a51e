// The changelog can be read by its user: one short bullet a change, in the words of the field.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REPOSITORY } from '../../support/markdown.ts';
import { wordsToReplace } from '../../support/plain-words.ts';

const MAX_CHARACTERS = 200;
/** Its bullets are older than these rules, and what is released is not edited. */
const OLDER = '[0.2.0]';
const GROUPS = ['Upgrading', 'Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

interface Section {
  readonly heading: string;
  readonly groups: readonly string[];
  /** Each on one line. */
  readonly bullets: readonly string[];
}

function sectionsOf(changelog: string): Section[] {
  const [, ...sections] = changelog.split(/^## /m);
  return sections.map((text) => ({
    heading: text.split('\n')[0] ?? '',
    groups: [...text.matchAll(/^### (.*)$/gm)].map(([, group = '']) => group),
    bullets: [...text.matchAll(/^- .*(\n {2,}\S.*)*/gm)].map(([bullet]) => bullet.replace(/\n +/g, ' ')),
  }));
}

function faultsOf({ heading, groups, bullets }: Section): string[] {
  const unknown = groups.filter((group) => !GROUPS.includes(group)).map((group) => `no group: ${group}`);
  const twice = groups
    .filter((group, index) => groups.indexOf(group) < index)
    .map((group) => `twice: ${group}`);
  const long = bullets
    .filter((bullet) => bullet.length > MAX_CHARACTERS)
    .map((bullet) => `${bullet.length} characters, at most ${MAX_CHARACTERS}: ${bullet}`);
  const words = bullets.flatMap(wordsToReplace);
  return [...unknown, ...twice, ...long, ...words].map((fault) => `${heading}: ${fault}`);
}

const sections = sectionsOf(readFileSync(join(REPOSITORY, 'CHANGELOG.md'), 'utf8'));
const [unreleased, ...released] = sections.map(({ heading }) => heading);

it('The changelog begins with what is not released, and every release has a date', () => {
  expect(unreleased).toBe('[Unreleased]');
  expect(released.filter((heading) => !/^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/.test(heading))).toEqual([]);
});

it('The latest release is the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));
  expect(released[0]).toMatch(`[${version}] - `);
});

it('Each change is one short bullet in plain words, in a known group', () => {
  const newer = sections.slice(
    0,
    sections.findIndex(({ heading }) => heading.startsWith(OLDER)),
  );
  expect(newer.flatMap(({ bullets }) => bullets).length).toBeGreaterThan(50);
  expect(newer.flatMap(faultsOf)).toEqual([]);
});

describe('The rules find', () => {
  const faults = (text: string) =>
    sectionsOf(`# Changelog\n\n## [1.0.0] - 2027-01-01\n\n${text}\n`).flatMap(faultsOf);

  it.each([
    ['a bullet that is too long on one line', `- ${'x'.repeat(199)}`, /201 characters/],
    ['a bullet that is too long on two lines', `- ${'x'.repeat(150)}\n  ${'x'.repeat(60)}`, /213 characters/],
    ['a word of ours', '- The doctor tells why.', /"tells", better says/],
    ['a group of ours', '### Improved\n\n- x', /no group: Improved/],
    ['a group that a merge made twice', '### Added\n\n- x\n\n### Added\n\n- y', /twice: Added/],
  ])('%s', (_, text, fault) => {
    expect(faults(text)).toEqual([expect.stringMatching(fault)]);
  });

  it('no fault in a name that is quoted', () => {
    expect(faults('- `told` is gone.')).toEqual([]);
  });
});
