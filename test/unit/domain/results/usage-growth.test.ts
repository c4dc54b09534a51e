// How fast readings grow, the median of many, and when the usage of a fleet jumps and when that is over.
import { describe, expect, it } from 'vitest';
import {
  type GrowthCounts,
  growthBucketOf,
  growthMbPerHour,
  growthOf,
  judgeGrowth,
} from '../../../../src/domain/results/usage-growth.ts';

const HOUR_MS = 3_600_000;
const LAST = { lastReadingMb: 100, readAtMs: 10 * HOUR_MS };

function counted(rates: readonly number[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const rate of rates) counts[growthBucketOf(rate)] = (counts[growthBucketOf(rate)] ?? 0) + 1;
  return counts;
}

describe('growthMbPerHour', () => {
  it.each<[string, number, number, number | null]>([
    ['is the growth by the hours since the last change', 130, 10.5, 60],
    ['counts at least a second', 101, 10 + 1 / HOUR_MS, 3_600],
    ['is none for the same reading', 100, 11, null],
    ['is none for a smaller one', 99, 11, null],
    ['is none for a late one', 130, 9, null],
  ])('%s', (_, usedMb, hour, mbPerHour) => {
    const rate = growthMbPerHour(LAST, { usedMb, atMs: hour * HOUR_MS });
    if (mbPerHour === null) expect(rate).toBeNull();
    else expect(rate).toBeCloseTo(mbPerHour, 6);
  });

  it('is none for a first reading', () => {
    expect(growthMbPerHour(null, { usedMb: 5, atMs: 0 })).toBeNull();
  });
});

describe('growthOf', () => {
  it('has no median without a reading', () => {
    expect(growthOf({})).toEqual({ readings: 0, mbPerHour: 0 });
  });

  it.each([0.002, 0.3, 1, 25, 1_024, 5e6])('finds %d to a factor of 1.2', (rate) => {
    const { readings, mbPerHour } = growthOf(counted([rate / 900, rate, rate * 900]));
    expect(readings).toBe(3);
    expect(mbPerHour / rate).toBeGreaterThan(1 / 1.2);
    expect(mbPerHour / rate).toBeLessThan(1.2);
  });

  it('is of few numbers, however slow or fast the readings grow', () => {
    const rates = Array.from({ length: 2_000 }, (_, i) => 10 ** (i / 50 - 20));
    const buckets = Object.keys(counted(rates)).map(Number);
    expect(Math.min(...buckets)).toBe(0);
    expect(Math.max(...buckets)).toBe(80);
  });
});

const NOW = 30_000_000;
const NORMAL = 2;
const WRONG = 1_024 * NORMAL;

interface Stretch {
  /** Minutes before now, the present one is 0. */
  readonly from: number;
  readonly to: number;
  readonly rate: number;
  readonly each: number;
}

function minutesOf(...stretches: readonly Stretch[]): Map<number, GrowthCounts> {
  const minutes = new Map<number, GrowthCounts>();
  for (const { from, to, rate, each } of stretches) {
    for (let ago = to; ago <= from; ago += 1) {
      minutes.set(NOW - ago, { ...minutes.get(NOW - ago), [growthBucketOf(rate)]: each });
    }
  }
  return minutes;
}

const JUMP = { baselineMbPerHour: NORMAL, recentMbPerHour: WRONG, acceptedAtMs: null };
const ACCEPTED = { ...JUMP, acceptedAtMs: 1 };

describe('without a jump', () => {
  it.each<[string, readonly Stretch[], boolean]>([
    ['nothing is known', [], false],
    ['nothing changes', [{ from: 69, to: 0, rate: NORMAL, each: 50 }], false],
    [
      'growth is a thousandfold for two minutes',
      [
        { from: 69, to: 2, rate: NORMAL, each: 50 },
        { from: 1, to: 0, rate: WRONG, each: 50 },
      ],
      true,
    ],
    [
      'growth is 16-fold',
      [
        { from: 69, to: 2, rate: NORMAL, each: 50 },
        { from: 1, to: 0, rate: 16 * NORMAL, each: 50 },
      ],
      false,
    ],
    [
      'growth falls to a thousandth',
      [
        { from: 69, to: 2, rate: NORMAL, each: 50 },
        { from: 1, to: 0, rate: NORMAL / 1_024, each: 50 },
      ],
      false,
    ],
    [
      'less than half of the readings are wrong',
      [
        { from: 69, to: 0, rate: NORMAL, each: 60 },
        { from: 1, to: 0, rate: WRONG, each: 50 },
      ],
      false,
    ],
    [
      'there are 99 readings before',
      [
        { from: 4, to: 2, rate: NORMAL, each: 33 },
        { from: 1, to: 0, rate: WRONG, each: 50 },
      ],
      false,
    ],
    [
      'there are 100 readings before',
      [
        { from: 5, to: 2, rate: NORMAL, each: 25 },
        { from: 1, to: 0, rate: WRONG, each: 50 },
      ],
      true,
    ],
    [
      'few readings a minute are wrong for ten minutes',
      [
        { from: 69, to: 10, rate: NORMAL, each: 10 },
        { from: 9, to: 0, rate: WRONG, each: 10 },
      ],
      true,
    ],
    [
      'fewer than 100 readings come in ten minutes',
      [
        { from: 69, to: 10, rate: NORMAL, each: 9 },
        { from: 9, to: 0, rate: WRONG, each: 9 },
      ],
      false,
    ],
    [
      'the hour before is older than the minutes looked at',
      [
        { from: 90, to: 70, rate: NORMAL, each: 500 },
        { from: 1, to: 0, rate: WRONG, each: 50 },
      ],
      false,
    ],
  ])('one begins or not when %s', (_, stretches, begins) => {
    const verdict = judgeGrowth(minutesOf(...stretches), NOW, null);
    expect(verdict === null ? null : Object.keys(verdict)).toEqual(begins ? ['begins'] : null);
  });

  it('says from where to where it went', () => {
    const minutes = minutesOf(
      { from: 69, to: 2, rate: NORMAL, each: 50 },
      { from: 1, to: 0, rate: WRONG, each: 50 },
    );
    const verdict = judgeGrowth(minutes, NOW, null);
    if (verdict === null || !('begins' in verdict)) throw new Error('no jump');
    expect(verdict.begins.factor).toBeCloseTo(1_024, 6);
    expect(verdict.begins.baselineMbPerHour / NORMAL).toBeCloseTo(1, 0);
    expect(verdict.begins.recentMbPerHour / WRONG).toBeCloseTo(1, 0);
  });
});

describe('during a jump', () => {
  const hourOfWrong = { from: 69, to: 2, rate: WRONG, each: 50 };

  it('an hour of wrong readings does not become normal', () => {
    const minutes = minutesOf(hourOfWrong, { from: 1, to: 0, rate: WRONG, each: 50 });
    expect(judgeGrowth(minutes, NOW, JUMP)).toBeNull();
  });

  it('it ends when growth is back', () => {
    const minutes = minutesOf(hourOfWrong, { from: 1, to: 0, rate: NORMAL, each: 50 });
    expect(judgeGrowth(minutes, NOW, JUMP)).toMatchObject({ ends: 'back' });
    expect(judgeGrowth(minutes, NOW, ACCEPTED)).toMatchObject({ ends: 'back' });
  });

  it('ten readings of the last ten minutes are enough to see that', () => {
    const few = (each: number) => minutesOf({ from: 9, to: 5, rate: NORMAL, each });
    expect(judgeGrowth(few(2), NOW, JUMP)).toMatchObject({ ends: 'back' });
    expect(judgeGrowth(few(1), NOW, JUMP)).toBeNull();
  });

  it('it does not end while nothing is read', () => {
    expect(judgeGrowth(minutesOf({ from: 69, to: 10, rate: NORMAL, each: 50 }), NOW, JUMP)).toBeNull();
    expect(judgeGrowth(minutesOf(), NOW, ACCEPTED)).toBeNull();
  });

  it('another one begins when growth jumps beyond what was accepted', () => {
    const minutes = (rate: number) => minutesOf(hourOfWrong, { from: 1, to: 0, rate, each: 50 });
    const verdict = judgeGrowth(minutes(100 * WRONG), NOW, ACCEPTED);
    expect(verdict).toMatchObject({ begins: { baselineMbPerHour: WRONG } });
    expect(judgeGrowth(minutes(16 * WRONG), NOW, ACCEPTED)).toMatchObject({ ends: 'new_level' });
    expect(judgeGrowth(minutes(100 * WRONG), NOW, JUMP), 'nobody accepted it').toBeNull();
  });

  it('what was read when it was accepted is accepted, also where it began with less', () => {
    const minutes = minutesOf(
      { from: 69, to: 10, rate: NORMAL, each: 50 },
      { from: 9, to: 0, rate: WRONG, each: 50 },
    );
    const seenEarly = { ...JUMP, recentMbPerHour: 21 * NORMAL };
    expect(judgeGrowth(minutes, NOW, { ...seenEarly, acceptedAtMs: (NOW - 5) * 60_000 })).toBeNull();
    expect(judgeGrowth(minutes, NOW, { ...seenEarly, acceptedAtMs: (NOW - 12) * 60_000 })).toMatchObject({
      begins: {},
    });
  });

  it('an accepted one is left alone until the hour before has its level', () => {
    const jumpedAgo = (ago: number) =>
      minutesOf(
        { from: 69, to: ago + 1, rate: NORMAL, each: 50 },
        { from: ago, to: 0, rate: WRONG, each: 50 },
      );
    expect(judgeGrowth(jumpedAgo(20), NOW, ACCEPTED)).toBeNull();
    expect(judgeGrowth(jumpedAgo(40), NOW, ACCEPTED)).toMatchObject({ ends: 'new_level' });
    expect(judgeGrowth(jumpedAgo(40), NOW, JUMP)).toBeNull();
  });
});
