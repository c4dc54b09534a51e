import { describe, expect, it } from 'vitest';
import {
  bucketOf,
  defaultBurst,
  rateLimitWords,
  stopWithinSeconds,
} from '../../../../src/domain/limits/rate-limit.ts';

describe('the bucket of a limit', () => {
  it.each([1 / 3_600, 0.01, 0.1, 0.11, 0.5, 1, 2, 5, 7, 9, 10, 11, 20, 50, 99, 200, 1_000, 30_000])(
    'with the default burst, %d calls a second are used to 95 % and more',
    (perSecond) => {
      const { perMs } = bucketOf({ perSecond, burst: defaultBurst(perSecond) });
      expect((perMs * 1_000) / perSecond).toBeGreaterThan(0.95);
      expect((perMs * 1_000) / perSecond).toBeLessThanOrEqual(1);
    },
  );

  it.each([
    [50, 10],
    [50, 5],
    [50, 1],
    [50, 50],
    [3, 2],
    [1 / 60, 1],
    [1 / 3_600, 1],
    [1_000, 200],
  ])(
    'at %d calls a second and burst %d, grants used as late as allowed stay within rate x time + burst',
    (perSecond, burst) => {
      const { perMs, capacity, lifeMs } = bucketOf({ perSecond, burst });
      // The first `n` grants of a full bucket: the worst case uses the first as late as possible and the last at once.
      for (let n = burst + 1; n < burst + 200; n += 1) {
        const grantedMs = (n - capacity) / perMs;
        const allowed = (perSecond * (grantedMs - lifeMs)) / 1_000 + burst;
        expect(n).toBeLessThanOrEqual(allowed + 1e-6);
      }
    },
  );
});

it('is said in words', () => {
  const limit = { kind: 'calls', interfaces: null, calls: 50, unit: 'second', burst: 10 } as const;
  expect(rateLimitWords(limit)).toBe('50 calls a second, burst 10');
  const hourly = { ...limit, interfaces: ['flow', 'stop'], calls: 1, unit: 'hour', burst: 1 } as const;
  expect(rateLimitWords(hourly)).toBe('1 call an hour (flow, stop), burst 1');
  expect(rateLimitWords({ kind: 'card', interfaces: ['flow'], everySeconds: 900 })).toBe(
    'one poll of a card (flow) every 900 s',
  );
});

it.each([
  ['one call an hour', [{ interfaces: null, perSecond: 1 / 3_600 }], 10_800],
  ['a limit of stops alone', [{ interfaces: ['stop'], perSecond: 0.5 }], 4],
  [
    'the strictest of several',
    [
      { interfaces: null, perSecond: 10 },
      { interfaces: ['flow'], perSecond: 0.01 },
    ],
    0.3,
  ],
  ['none', [], 0],
] as const)('says how long a stop may take: %s', (_, limits, seconds) => {
  expect(stopWithinSeconds(limits)).toBeCloseTo(seconds, 6);
});
