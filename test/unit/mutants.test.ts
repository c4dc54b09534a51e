// Every mutant of test/mutants/ still applies and names a test: one that does not would be missed only when
// `npm run mutate:stores` runs, and that takes minutes.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readMutants } from '../../scripts/mutants.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

it('mutants apply to the sources they break', () => {
  const mutants = readMutants();
  expect(mutants.length).toBeGreaterThan(20);
  for (const { name, file, suite, test } of mutants) {
    expect(readFileSync(`${ROOT}${suite}`, 'utf8'), `${name} names a test of ${suite}`).toContain(test);
    execFileSync('git', ['apply', '--check', file], { cwd: ROOT });
  }
});

it('mutants of the world apply, too, and say what they break', () => {
  const folder = `${ROOT}test/world/mutants/`;
  for (const name of readdirSync(folder)) {
    expect(readFileSync(`${folder}${name}`, 'utf8')).toMatch(/^Breaks: .+\n\n--- a\/src\//);
    execFileSync('git', ['apply', '--check', `${folder}${name}`], { cwd: ROOT });
  }
});
