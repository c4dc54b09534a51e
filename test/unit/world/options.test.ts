import { expect, it } from 'vitest';
import { readOptions } from '../../world/options.ts';

const USUAL = { seeds: 100, minutes: 30, instances: 3, cards: 300 };

it.each([
  [['--from', '0'], '--from takes a whole number from 1 to 2147483648, not "0"'],
  [['--from', '-3'], "Option '--from' argument is ambiguous."],
  [['--from=-3'], '--from takes a whole number from 1 to 2147483648, not "-3"'],
  [['--seeds', 'many'], '--seeds takes a whole number from 1 to 100000, not "many"'],
  [['--minutes', '0'], '--minutes takes a whole number from 1 to 1440, not "0"'],
  [['--minutes', '1.5'], '--minutes takes a whole number from 1 to 1440, not "1.5"'],
  [['--instances', '50'], '--instances takes a whole number from 1 to 10, not "50"'],
  [['--cards', '20000'], '--cards takes a whole number from 1 to 2000, not "20000"'],
  [['--faults', 'all'], '--faults takes numbers of faults, with commas, or none'],
  [['--store', 'memory'], '--store takes embedded or redis, not "memory"'],
  [['--fast'], 'options: --seeds (how many seeds)'],
  [['5'], 'options: --seeds (how many seeds)'],
])('refuses %j with a sentence', (args, sentence) => {
  const refusal = readOptions(args, USUAL, ['embedded', 'redis']);
  expect(refusal).toContain(sentence);
  expect(String(refusal).split('\n')).toHaveLength(1);
});

it('takes a night of one card and the faults that a story names', () => {
  expect(readOptions(['--cards', '1', '--faults', '3,9'], USUAL, ['embedded', 'redis'])).toMatchObject({
    cards: 1,
    faults: [3, 9],
    seeds: 100,
    store: 'embedded',
  });
  expect(readOptions(['--faults', 'none'], USUAL, ['embedded', 'redis'])).toMatchObject({ faults: [] });
});

it('takes a store only where nights are lived on it', () => {
  expect(readOptions(['--store', 'redis'], USUAL, ['embedded', 'redis'])).toMatchObject({ store: 'redis' });
  expect(readOptions([], USUAL, ['redis'])).toMatchObject({ store: 'redis' });
  expect(readOptions(['--store', 'embedded'], USUAL, ['redis'])).toBe('--store takes redis, not "embedded"');
});
