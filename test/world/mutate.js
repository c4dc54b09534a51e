// Proves that seeds notice mistakes: `node test/world/mutate.js [--seeds N] [NAME ...]`. Each patch of test/mutants/ that breaks SQL, and of
// test/world/mutants/ (the embedded store, the engine), is applied to a throwaway copy, where some seed must fail. Prints which. Ends with 1
// when one survives. Not part of npm test, which only sees to it that every patch still applies.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = new URL('../..', import.meta.url).pathname;
const { values, positionals: names } = parseArgs({
  options: { seeds: { type: 'string', default: '6' }, minutes: { type: 'string', default: '12' } },
  allowPositionals: true,
});

const patches = ['test/mutants/', 'test/world/mutants/']
  .flatMap((folder) => readdirSync(join(ROOT, folder)).map((file) => join(ROOT, folder, file)))
  .filter(
    (file) => file.endsWith('.patch') && !/^--- a\/src\/store\/redis\//m.test(readFileSync(file, 'utf8')),
  )
  .map((file) => ({ file, name: file.replace(/^.*\/|\.patch$/g, '') }))
  .filter(({ name }) => names.length === 0 || names.includes(name));
const copy = mkdtempSync(join(tmpdir(), 'cardpoll-world-'));
let survived = 0;
try {
  for (const name of ['src', 'test', 'scripts', 'package.json', 'docs'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  for (const name of ['node_modules', 'dist']) symlinkSync(join(ROOT, name), join(copy, name));
  for (const { file, name } of patches) {
    execFileSync('git', ['apply', file], { cwd: copy });
    const { seeds, minutes } = values;
    const args = [
      'test/world/run.js',
      'prove',
      '--seeds',
      seeds,
      '--minutes',
      minutes,
      '--cards',
      '100',
      '--first',
    ];
    const { stdout } = spawnSync('node', args, { cwd: copy, encoding: 'utf8' });
    execFileSync('git', ['apply', '--reverse', file], { cwd: copy });
    const [, seed, invariant] = /^seed (\d+) .*FAILED (.+)$/m.exec(stdout) ?? [];
    if (seed === undefined) survived += 1;
    process.stdout.write(
      `${seed === undefined ? 'SURVIVED' : 'found   '} ${name}${seed === undefined ? '' : ` by seed ${seed}: ${invariant}`}\n`,
    );
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
process.exitCode = survived > 0 ? 1 : 0;
