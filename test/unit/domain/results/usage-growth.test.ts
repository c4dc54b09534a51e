// How fast readings grow, the median of many, and when the usage of a fleet jumps and when that is over.
import { describe, expect, it } from 'vitest';
import {
  DOUBTFUL_BUCKET,
  type GrowthCounts,
  growthBucketOf,
  growthMbPerHour,
  growthOf,
  hourOf,
  type JumpFactor,
  judgeGrowth,
  recentGrowth,
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
    ['is none for half of it', 50, 11, null],
    ['is negative for one that fell far', 40, 11, -60],
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

  it('does not count doubtful readings', () => {
    expect(growthBucketOf(-1)).toBe(DOUBTFUL_BUCKET);
    expect(growthOf({ ...counted([2]), [DOUBTFUL_BUCKET]: 500 })).toEqual(growthOf(counted([2])));
  });
});

const NOW = 30_000_000;
const NOW_MS = NOW * 60_000;
const NOW_HOUR = hourOf(NOW_MS);
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

/** With the default setting, and no memory of days before unless the test gives one. */
function judged(
  minutes: ReadonlyMap<number, GrowthCounts>,
  jump: Parameters<typeof judgeGrowth>[2],
  hours: ReadonlyMap<number, number> = new Map(),
) {
  return judgeGrowth({ minutes, hours }, NOW_MS, jump, 20);
}

const JUMP = {
  sinceMs: NOW_MS - 1_200_000,
  baselineMbPerHour: NORMAL,
  recentMbPerHour: WRONG,
  acceptedAtMs: null,
};
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
    const verdict = judged(minutesOf(...stretches), null);
    expect(verdict === null ? null : Object.keys(verdict)).toEqual(begins ? ['begins'] : null);
  });

  it('says from where to where it went', () => {
    const minutes = minutesOf(
      { from: 69, to: 2, rate: NORMAL, each: 50 },
      { from: 1, to: 0, rate: WRONG, each: 50 },
    );
    const verdict = judged(minutes, null);
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
    expect(judged(minutes, JUMP)).toBeNull();
  });

  it('it ends when growth is back', () => {
    const minutes = minutesOf(hourOfWrong, { from: 1, to: 0, rate: NORMAL, each: 50 });
    expect(judged(minutes, JUMP)).toMatchObject({ ends: 'back' });
    expect(judged(minutes, ACCEPTED)).toMatchObject({ ends: 'back' });
  });

  it('ten readings of the last ten minutes are enough to see that', () => {
    const few = (each: number) => minutesOf({ from: 9, to: 5, rate: NORMAL, each });
    expect(judged(few(2), JUMP)).toMatchObject({ ends: 'back' });
    expect(judged(few(1), JUMP)).toBeNull();
  });

  it('it does not end while nothing is read', () => {
    expect(judged(minutesOf({ from: 69, to: 10, rate: NORMAL, each: 50 }), JUMP)).toBeNull();
    expect(judged(minutesOf(), ACCEPTED)).toBeNull();
  });

  it('another one begins when growth jumps beyond what was accepted', () => {
    const minutes = (rate: number) => minutesOf(hourOfWrong, { from: 1, to: 0, rate, each: 50 });
    const verdict = judged(minutes(100 * WRONG), ACCEPTED);
    expect(verdict).toMatchObject({ begins: { baselineMbPerHour: WRONG } });
    expect(judged(minutes(16 * WRONG), ACCEPTED)).toMatchObject({ ends: 'new_level' });
    expect(judged(minutes(100 * WRONG), JUMP), 'nobody accepted it').toBeNull();
  });

  it('what was read when it was accepted is accepted, also where it began with less', () => {
    const minutes = minutesOf(
      { from: 69, to: 10, rate: NORMAL, each: 50 },
      { from: 9, to: 0, rate: WRONG, each: 50 },
    );
    const seenEarly = { ...JUMP, recentMbPerHour: 21 * NORMAL };
    expect(judged(minutes, { ...seenEarly, acceptedAtMs: (NOW - 5) * 60_000 })).toBeNull();
    expect(judged(minutes, { ...seenEarly, acceptedAtMs: (NOW - 12) * 60_000 })).toMatchObject({
      begins: {},
    });
  });

  it('an accepted one is left alone until the hour before has its level', () => {
    const jumpedAgo = (ago: number) =>
      minutesOf(
        { from: 69, to: ago + 1, rate: NORMAL, each: 50 },
        { from: ago, to: 0, rate: WRONG, each: 50 },
      );
    expect(judged(jumpedAgo(20), ACCEPTED)).toBeNull();
    expect(judged(jumpedAgo(40), ACCEPTED)).toMatchObject({ ends: 'new_level' });
    expect(judged(jumpedAgo(40), JUMP)).toBeNull();
  });
});

describe('what devices do at the same time each day', () => {
  const BURST = 8_192 * NORMAL;
  const burst = (rate: number) =>
    minutesOf({ from: 69, to: 2, rate: NORMAL, each: 50 }, { from: 1, to: 0, rate, each: 50 });
  const known = (hoursAgo: number) => new Map([[NOW_HOUR - hoursAgo, BURST]]);

  it.each([23, 24, 25, 7 * 24 - 1, 7 * 24, 7 * 24 + 1])(
    'is no jump when it was so %i hours ago',
    (hoursAgo) => {
      expect(judged(burst(BURST), null, known(hoursAgo))).toBeNull();
    },
  );

  it.each([0, 1, 12, 22, 26, 7 * 24 + 2])('is one when it was so %i hours ago', (hoursAgo) => {
    expect(judged(burst(BURST), null, known(hoursAgo))).toMatchObject({ begins: {} });
  });

  it('hides no wrong unit: its first readings show the whole counter as growth', () => {
    // 150 MB a month, read every four minutes, in KB instead of MB.
    expect(judged(burst((1_023 * 150) / (4 / 60)), null, known(24))).toMatchObject({
      begins: { baselineMbPerHour: BURST },
    });
  });

  it('is the measure also where the hour before has too few readings', () => {
    const minutes = minutesOf({ from: 1, to: 0, rate: 100 * BURST, each: 50 });
    expect(judged(minutes, null)).toBeNull();
    expect(judged(minutes, null, known(24))).toMatchObject({ begins: { baselineMbPerHour: BURST } });
  });

  it('does not lower the measure below the hour before', () => {
    expect(judged(burst(16 * NORMAL), null, new Map([[NOW_HOUR - 24, 0.001]]))).toBeNull();
  });
});

describe('whether the readings of a jump that is over were wrong', () => {
  const over = (doubtful: Record<number, number>) => {
    const minutes = minutesOf(
      { from: 69, to: 8, rate: WRONG, each: 50 },
      { from: 1, to: 0, rate: NORMAL, each: 50 },
    );
    for (const [ago, readings] of Object.entries(doubtful)) {
      minutes.set(NOW - Number(ago), { ...minutes.get(NOW - Number(ago)), [DOUBTFUL_BUCKET]: readings });
    }
    return judged(minutes, JUMP);
  };

  it.each<[string, Record<number, number>, boolean]>([
    ['they fell back', { 5: 25 }, true],
    ['a few cards were reset', { 5: 24 }, false],
    ['they were impossible from the start', { 29: 25 }, true],
    ['others fell long before', { 31: 500 }, false],
    ['nothing fell', {}, false],
  ])('is seen: %s', (_, doubtful, wereWrong) => {
    expect(over(doubtful)).toEqual({ ends: 'back', wereWrong });
  });
});

describe('the factor', () => {
  const minutes = minutesOf(
    { from: 69, to: 2, rate: NORMAL, each: 50 },
    { from: 1, to: 0, rate: 16 * NORMAL, each: 50 },
  );
  const by = (factor: JumpFactor, jump: Parameters<typeof judgeGrowth>[2] = null) =>
    judgeGrowth({ minutes, hours: new Map() }, NOW_MS, jump, factor);

  it('is the one that is set', () => {
    expect(by(17)).toBeNull();
    expect(by(15)).toMatchObject({ begins: {} });
  });

  it('off sees none, and ends the one that is on', () => {
    expect(by('off')).toBeNull();
    expect(by('off', JUMP)).toEqual({ ends: 'off', wereWrong: false });
    expect(by('off', ACCEPTED)).toEqual({ ends: 'off', wereWrong: false });
  });
});

it('the growth of the last minutes is known from a hundred readings on', () => {
  const of = (each: number) =>
    recentGrowth({ minutes: minutesOf({ from: 9, to: 0, rate: NORMAL, each }), hours: new Map() }, NOW_MS);
  expect(of(9)).toBeNull();
  expect((of(10) ?? 0) / NORMAL).toBeCloseTo(1, 0);
});
