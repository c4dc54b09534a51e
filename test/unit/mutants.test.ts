// Every mutant of test/mutants/ still applies and names a test: one that does not would be missed only when
// `npm run mutate:stores` runs, and that takes minutes.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readMutants } from '../../scripts/mutants.js';

const ROOT = new URL('../..', import.meta.url).pathname;

it('mutants apply to the sources they break', () => {
  const mutants = readMutants();
  expect(mutants.length).toBeGreaterThan(20);
  for (const { name, file, suite, test } of mutants) {
    expect(readFileSync(`${ROOT}${suite}`, 'utf8'), `${name} names a test of ${suite}`).toContain(test);
    execFileSync('git', ['apply', '--check', file], { cwd: ROOT });
  }
});
