// Every mutant of test/mutants/ still applies and names a test: one that does not would be missed only when
// `npm run mutate:stores` runs, and that takes minutes.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readMutants } from '../../scripts/mutants.js';
import { brokenHunk } from '../support/patch.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

it('mutants apply to the sources they break', () => {
  const mutants = readMutants();
  expect(mutants.length).toBeGreaterThan(20);
  for (const { name, file, suite, test } of mutants) {
    expect(readFileSync(`${ROOT}${suite}`, 'utf8'), `${name} names a test of ${suite}`).toContain(test);
    expect(brokenHunk(file, ROOT), name).toBeNull();
  }
});

it('mutants of the world apply, too, and say what they break', () => {
  const folder = `${ROOT}test/world/mutants/`;
  for (const name of readdirSync(folder)) {
    expect(readFileSync(`${folder}${name}`, 'utf8')).toMatch(/^Breaks: .+\n\n--- a\/src\//);
    expect(brokenHunk(`${folder}${name}`, ROOT), name).toBeNull();
  }
});

it('a mutant whose source has changed does not apply', () => {
  const root = temporaryDirectory('mutant');
  mkdirSync(join(root, 'src'));
  writeFileSync(join(root, 'src/a.lua'), 'one\ntwo\nthree\n');
  const patch = (removed: string) => {
    const file = join(root, 'a.patch');
    writeFileSync(
      file,
      `Breaks: it\n\n--- a/src/a.lua\n+++ b/src/a.lua\n@@ -1,3 +1,3 @@\n one\n-${removed}\n+2\n three\n`,
    );
    return brokenHunk(file, root);
  };
  expect(patch('two')).toBeNull();
  expect(patch('2')).toBe('one\n2\nthree\n');
});
