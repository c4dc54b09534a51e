// `npm run prove` in processes of its own: nights pass, the same seed is the same night in another process, and it can be interrupted.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** Its processes compile PGlite as it comes, like those of the tests (test/vitest.config.ts). */
const PROVE = ['--liftoff-only', fileURLToPath(new URL('../../world/run.js', import.meta.url)), 'prove'];

it('lives a night twice alike, and prints the table so far when it is interrupted', async () => {
  const prove = spawn('node', [
    ...PROVE,
    '--from',
    '7',
    '--minutes',
    '1',
    '--cards',
    '5',
    '--instances',
    '1',
  ]);
  let out = '';
  const hashes = () => [...out.matchAll(/^seed 7 {2}([0-9a-f]{16}) .* ok$/gm)].map(([, hash]) => hash);
  let isInterrupted = false;
  prove.stdout.on('data', (chunk) => {
    out += String(chunk);
    // Once: a second signal would end the process while it ends.
    if (isInterrupted || hashes().length < 2) return;
    isInterrupted = prove.kill('SIGINT');
  });
  const [code] = (await once(prove, 'close')) as [number];
  expect(new Set(hashes()).size).toBe(1);
  expect(out).toMatch(/\n {2}virtual hours /);
  expect(out).toMatch(/ failures +0\nstopped before the end\n$/);
  expect(code).toBe(130);
});

it('refuses what it does not take, before it does anything', () => {
  const { status, stdout, stderr } = spawnSync('node', [...PROVE, '--seeds', '0'], { encoding: 'utf8' });
  expect(stderr).toBe('prove: --seeds takes a whole number from 1 to 100000, not "0"\n');
  expect(stdout).toBe('');
  expect(status).toBe(64);
});
