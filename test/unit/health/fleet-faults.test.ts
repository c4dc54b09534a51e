// The gap between the clocks of the two stores.
import { expect, it } from 'vitest';
import { readClockGap } from '../../../src/health/fleet-faults.ts';

/** A store whose clock shows these, one after the other. */
const showing = (...times: number[]) => ({
  kind: 'redis' as const,
  now: async () => times.shift() as number,
});

it.each<[string, number, number, number, number]>([
  ['agree', 1_000, 1_005, 1_010, 0],
  ['agree, and one answers late', 1_000, 9_000, 20_000, 0],
  ['differ, Redis ahead', 50_000, 1_000, 50_010, 49_000],
  ['differ, Redis behind', 1_000, 50_000, 1_010, -48_990],
])('is what is certain where they %s', async (_, before, records, after, aheadMs) => {
  expect(await readClockGap(showing(before, after), showing(records))).toEqual({
    liveMs: before,
    recordsMs: records,
    aheadMs,
  });
});

it('is none for an embedded store, which has the clock of this machine', async () => {
  expect(await readClockGap({ ...showing(1e9), kind: 'embedded' }, showing(1))).toBeNull();
});
