// A few seeds of `npm run prove`, in processes of their own: nights pass, the same seed is the same night, and arguments that make no sense
// are refused with a sentence.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';

const RUN = new URL('../../world/run.js', import.meta.url).pathname;

const proved = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync('node', [RUN, 'prove', ...args], { encoding: 'utf8' });
  const hashes = [...stdout.matchAll(/^seed (\d+) {2}([0-9a-f]{16})/gm)].map(([, seed, hash]) => [
    seed,
    hash,
  ]);
  return { status, stdout, stderr, hashes: Object.fromEntries(hashes) as Record<string, string> };
};

it('lives through nights, and the same seed is the same night in any process', () => {
  const several = proved('--seeds', '3', '--from', '5', '--minutes', '3', '--cards', '60');
  expect(several.stdout).toMatch(/failures +0\n/);
  expect(several.status).toBe(0);
  const again = proved('--seeds', '1', '--from', '7', '--minutes', '3', '--cards', '60');
  expect(again.hashes).toEqual({ 7: several.hashes['7'] });
  expect(new Set(Object.values(several.hashes)).size).toBe(3);
});

it.each([
  [['--from', '0'], '--from takes a whole number from 1'],
  [['--from', '-3'], 'from'],
  [['--seeds', 'many'], '--seeds takes a whole number from 1 to 100000, not "many"'],
  [['--minutes', '0'], '--minutes takes a whole number from 1'],
  [['--instances', '50'], '--instances takes a whole number from 1 to 10'],
  [['--cards', '20000'], '--cards takes a whole number from 1 to 2000'],
  [['--faults', 'all'], '--faults takes numbers'],
  [['--fast'], 'options: --seeds (how many seeds)'],
])('refuses %j with a sentence', (args, sentence) => {
  const { status, stderr } = proved(...args);
  expect(stderr).toContain(sentence);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(status).toBe(64);
});

it('prints the table so far when it is interrupted', async () => {
  const prove = spawn('node', [
    RUN,
    'prove',
    '--seeds',
    '50',
    '--minutes',
    '1',
    '--cards',
    '1',
    '--instances',
    '1',
  ]);
  const out: string[] = [];
  prove.stdout.on('data', (chunk) => {
    out.push(String(chunk));
    if (out.join('').includes('times real')) prove.kill('SIGINT');
  });
  const [code] = (await once(prove, 'close')) as [number];
  expect(out.join('')).toContain('stopped before the end');
  expect(out.join('')).toMatch(/virtual hours/);
  expect(code).toBe(130);
});
