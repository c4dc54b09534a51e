// The gap between the clocks of the two stores, and a certificate that expires.
import { expect, it } from 'vitest';
import { certificateCauses, readClockGap } from '../../../src/health/fleet-faults.ts';

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

it('a certificate is warned of in its last fourteen days, by the one that ends first', () => {
  const nowMs = Date.parse('2026-11-20T00:00:00Z');
  const seen = (...days: Array<number | null>) =>
    certificateCauses(
      days.map((day) => ({ certificateEndsMs: day === null ? null : nowMs + 86_400_000 * day })),
      nowMs,
    );
  expect([seen(), seen(null, 15), seen(0), seen(-1)]).toEqual([[], [], [], []]);
  const [reason] = seen(null, 400, 13);
  expect(reason).toMatchObject({ code: 'certificate_expires', severity: 'warning' });
  expect(reason?.text).toMatch(/\b13 d\b.*\b2026-12-03T00:00:00.000Z/);
});

it('is none for an embedded store, which has the clock of this machine', async () => {
  expect(await readClockGap({ ...showing(1e9), kind: 'embedded' }, showing(1))).toBeNull();
});
