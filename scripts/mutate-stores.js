// Proves that the contract suites notice mistakes in Lua and SQL: `npm run mutate:stores [-- NAME ...]`. Each patch of
// test/mutants/ is a mistake a maintainer could make; it is applied to a throwaway copy, where the test it names must
// fail. Ends with 1 when one survives. Not part of npm test, which only sees to it that every patch still applies.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readMutants } from './mutants.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COPIED = ['src', 'test', 'scripts', 'docs', 'deploy', 'package.json'];
const LINKED = ['node_modules', 'dist'];

const names = process.argv.slice(2);
const mutants = readMutants().filter(({ name }) => names.length === 0 || names.includes(name));
const copy = mkdtempSync(join(tmpdir(), 'cardpoll-mutants-'));
let survived = 0;
try {
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  for (const name of LINKED) symlinkSync(join(ROOT, name), join(copy, name));
  const failing = firstFailure(mutants);
  if (failing !== null) throw new Error(`without any mutant this fails already: ${failing}`);
  for (const mutant of mutants) {
    const { name, file, breaks } = mutant;
    execFileSync('git', ['apply', file], { cwd: copy });
    const killer = firstFailure([mutant]);
    execFileSync('git', ['apply', '--reverse', file], { cwd: copy });
    if (killer === null) survived += 1;
    tell(killer === null ? `SURVIVED  ${name}: ${breaks}` : `killed    ${name} by "${killer}"`);
  }
  tell(`${mutants.length - survived} of ${mutants.length} killed`);
} finally {
  rmSync(copy, { recursive: true, force: true });
}
process.exitCode = survived > 0 ? 1 : 0;

/**
 * Runs the tests that these mutants name, on every adapter.
 * @param {ReturnType<typeof readMutants>} mutants
 * @returns the name of the first that fails, null when all pass.
 */
function firstFailure(mutants) {
  const report = join(copy, 'report.json');
  const suites = [...new Set(mutants.map(({ suite }) => suite))];
  const tests = mutants.map(({ test }) => test.replaceAll(/[^\w ]/g, '.')).join('|');
  const args = ['vitest', 'run', '--config', 'test/vitest.config.ts', '--bail', '1', '-t', tests];
  const { stderr } = spawnSync('npx', [...args, '--reporter', 'json', '--outputFile', report, ...suites], {
    cwd: copy,
    encoding: 'utf8',
  });
  /** @type {{ testResults: { status: string, assertionResults: { status: string, fullName: string }[] }[] }} */
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  rmSync(report);
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = results.find(({ status }) => status === 'failed');
  if (failed !== undefined) return failed.fullName;
  // A suite whose servers did not start fails without a failed test, and notices no mistake.
  if (testResults.some(({ status }) => status === 'failed'))
    throw new Error(`a suite did not run: ${stderr}`);
  if (results.some(({ status }) => status === 'passed')) return null;
  throw new Error(`no test ran to its end: ${stderr}`);
}

/** @param {string} line */
function tell(line) {
  process.stdout.write(`${line}\n`);
}
