// The text of a slot, which instances of two versions share during an upgrade.
import { expect, it } from 'vitest';
import {
  packCarriers,
  packCounts,
  unpackGrowth,
  unpackSlot,
} from '../../../../../src/store/redis/stats/stats.ts';

const SUMS = {
  succeeded: 3,
  failed: 2,
  durationMs: 50.5,
  succeededMs: 40.5,
  implausible: 2,
  counters: 3,
  fallen: 1,
};
const COUNTED = {
  ...SUMS,
  durations: { 0: 1, 12: 4 },
  reasons: { timeout: 2 },
  carriers: new Map([
    [-7, { polls: 4, failed: 2, succeededMs: 30.5 }],
    [460_011, { polls: 1, failed: 0 }],
  ]),
};
const NOTHING = { durations: {}, reasons: {}, carriers: new Map() };

it('has the counts, the carriers, how long the succeeded polls took, and readings that are doubtful', () => {
  const counts = packCounts({ ...COUNTED.durations, ...COUNTED.reasons });
  expect(counts).toBe('0=1,12=4,timeout=2');
  expect(packCarriers(COUNTED.carriers)).toBe('-7:4:2:30.5,460011:1:0:0');
  expect(unpackSlot(`3 2 50.5 ${counts} ${packCarriers(COUNTED.carriers)} 40.5 2 3 1`)).toEqual(COUNTED);
});

it('may have carriers without durations, as of an older version', () => {
  expect(unpackSlot('3 2 50.5  7:4:2 40.5').carriers).toEqual(new Map([[7, { polls: 4, failed: 2 }]]));
});

it.each(['3 2 50.5  ', '3 2 50.5 ', '3 2 50.5'])(
  'may have none of them, as of an older version: "%s"',
  (text) => {
    const unknown = { implausible: 0, counters: 0, fallen: 0 };
    expect(unpackSlot(text)).toEqual({ ...SUMS, succeededMs: (3 / 5) * 50.5, ...unknown, ...NOTHING });
  },
);

it('has growth as counts by rate', () => {
  expect(packCounts({ 0: 3, 80: 1 })).toBe('0=3,80=1');
  expect(unpackGrowth('0=3,80=1')).toEqual({ 0: 3, 80: 1 });
  expect(packCounts({})).toBe('');
});
