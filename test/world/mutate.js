// Proves that seeds notice mistakes: `node test/world/mutate.js [--seeds N] [--store redis] [NAME ...]`. The seeds are lived first in an
// unbroken copy, where none may fail. Then each patch of test/mutants/ and test/world/mutants/ is applied to the copy, where one must fail;
// those that break the other live store are left out. Prints which. Ends with 1 when a mutant survives. Not part of npm test, which only
// sees to it that every patch still applies.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { values, positionals: names } = parseArgs({
  options: {
    seeds: { type: 'string', default: '4' },
    from: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    cards: { type: 'string', default: '100' },
    instances: { type: 'string', default: '3' },
    store: { type: 'string', default: 'embedded' },
  },
  allowPositionals: true,
});
const nights = Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);

const otherStore = values.store === 'redis' ? 'memory' : 'redis';
const patches = ['test/mutants/', 'test/world/mutants/']
  .flatMap((folder) => readdirSync(join(ROOT, folder)).map((file) => join(ROOT, folder, file)))
  .filter(
    (file) =>
      file.endsWith('.patch') && !readFileSync(file, 'utf8').includes(`\n--- a/src/store/${otherStore}/`),
  )
  .map((file) => ({ file, name: file.replace(/^.*\/|\.patch$/g, '') }))
  .filter(({ name }) => names.length === 0 || names.includes(name));
const copy = mkdtempSync(join(tmpdir(), 'cardpoll-world-'));

/** @returns what the first seed that fails says, or null: none fails. */
function firstFailure() {
  const args = ['test/world/run.js', 'prove', ...nights, '--first'];
  const { status, stdout, stderr } = spawnSync('node', args, { cwd: copy, encoding: 'utf8' });
  const [, seed, invariant] = /^seed (\d+) .*FAILED (.+)$/m.exec(stdout) ?? [];
  if (status === 0) return null;
  if (seed === undefined) throw new Error(`the copy does not run: ${stderr || stdout}`);
  return `seed ${seed}: ${invariant}`;
}

let survived = 0;
try {
  for (const name of ['src', 'test', 'scripts', 'package.json', 'docs', 'deploy'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  for (const name of ['node_modules', 'dist']) symlinkSync(join(ROOT, name), join(copy, name));
  const unbroken = firstFailure();
  if (unbroken !== null)
    throw new Error(`these seeds prove nothing: without a mutant, too, fails ${unbroken}`);
  for (const { file, name } of patches) {
    execFileSync('git', ['apply', file], { cwd: copy });
    const found = firstFailure();
    execFileSync('git', ['apply', '--reverse', file], { cwd: copy });
    if (found === null) survived += 1;
    process.stdout.write(found === null ? `SURVIVED ${name}\n` : `found    ${name} by ${found}\n`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
process.exitCode = survived > 0 ? 1 : 0;
