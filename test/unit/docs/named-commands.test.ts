// Pages and source files name only scripts of package.json and migrations that exist.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import * as MIGRATIONS from '../../../src/store/sql/migration-list.ts';
import { markdownFiles, REPOSITORY } from '../../support/markdown.ts';

const SOURCE = /\.(tsx?|m?js|sql|sh|yaml)$/;
/** A name ends before a colon that ends a phrase: `npm run mutate: all of them`. */
const NAMED_SCRIPT = /\bnpm run (?:--silent )?(\w[\w-]*(?::[\w-]+)*)/g;
const NAMED_MIGRATION = /\b\d{4}_[a-z]\w*/g;

/** The changelog speaks of the scripts that its releases had. */
const pages = markdownFiles().filter((path) => path !== 'CHANGELOG.md');
const sources = ['src', 'test', 'scripts', 'deploy'].flatMap((directory) =>
  readdirSync(join(REPOSITORY, directory), { recursive: true, encoding: 'utf8' })
    .map((path) => join(directory, path))
    .filter((path) => SOURCE.test(path) && path !== 'test/unit/docs/named-commands.test.ts'),
);

it('pages and source files name scripts of package.json', () => {
  const wrong = [...pages, ...sources].flatMap((path) =>
    missingScripts(readFileSync(join(REPOSITORY, path), 'utf8')).map((name) => `${path}: npm run ${name}`),
  );
  expect(wrong).toEqual([]);
});

it('pages name migrations that exist', () => {
  const wrong = markdownFiles().flatMap((path) =>
    missingMigrations(readFileSync(join(REPOSITORY, path), 'utf8')).map((name) => `${path}: ${name}`),
  );
  expect(wrong).toEqual([]);
});

describe('the rules themselves', () => {
  it.each([
    'npm run bench:nothing',
    'npm run --silent nothing',
    'npm run\n// bench:nothing',
    'npm run builds',
  ])('see that there is no %j', (text) => {
    expect(missingScripts(text)).toHaveLength(1);
  });

  it.each([
    'npm run mutate:stores',
    'npm run mutate: all of them',
    'npm run test:deb-upgrade.',
    'npm run\nbuild',
  ])('find %j', (text) => {
    expect(missingScripts(text)).toEqual([]);
  });

  it('see a migration that is not there', () => {
    expect(missingMigrations('`0014_stops` and 0099_other')).toEqual(['0099_other']);
  });
});

/** A name may be on the next line, also of a comment. */
function missingScripts(source: string): string[] {
  const text = source.replace(/\s*\n\s*(?:(?:\/\/|\*|--|#) ?)?/g, ' ');
  return named(text, NAMED_SCRIPT, 1).filter((name) => !Object.hasOwn(manifest.scripts, name));
}

function missingMigrations(text: string): string[] {
  return named(text, NAMED_MIGRATION, 0).filter((name) => !Object.hasOwn(MIGRATIONS, name));
}

function named(text: string, pattern: RegExp, group: number): string[] {
  return [...text.matchAll(pattern)].map((match) => match[group] ?? '');
}
