// Nights in which a fault of cardpoll was found (docs/proof.md), lived again. A seed belongs here while it finds the mutant that brings
// its fault back: half-of-the-former-month, claim-before-in-force-embedded.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const PROVE = [fileURLToPath(new URL('../world/run.js', import.meta.url)), 'prove', '--first'];

it.each([
  ['a month is counted whose counter has grown past half of the former one', '4011'],
  ['nothing is claimed before limits and ceiling are in force again after Redis lost its data', '4004'],
])('%s (seed %s)', async (_, seed) => {
  const prove = spawn('node', [
    ...PROVE,
    '--seeds',
    '1',
    '--from',
    seed,
    '--minutes',
    '15',
    '--cards',
    '150',
  ]);
  let out = '';
  prove.stdout.on('data', (chunk) => {
    out += String(chunk);
  });
  const [code] = (await once(prove, 'close')) as [number];
  expect(out).toMatch(/\n {2}failures +0\n/);
  expect(code).toBe(0);
});
