// Readings that step to another level, are believed, and are disproved within two days: a gateway that changes its unit over night. And
// counters that restart, and are back. Times are hours from noon of 10 October in Shanghai.
import { describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { applyReading, type UsageMonth } from '../../../../src/domain/cards/usage-month.ts';
import { firstRows } from '../../../support/effort.ts';

const calendar = new MonthCalendar('Asia/Shanghai');
const NOON = Date.parse('2026-10-10T12:00:00+08:00');
const HOUR_MS = 3_600_000;
/** Hours until November. */
const TURN = (Date.parse('2026-11-01T00:00:00+08:00') - NOON) / HOUR_MS;

function read(last: UsageMonth | null, hour: number, usedMb: number): UsageMonth | null {
  const atMs = NOON + hour * HOUR_MS;
  return applyReading(last, { usedMb, atMs, month: calendar.monthOf(atMs) }, 150) ?? last;
}

/** The states after each reading: pairs of hour and MB. */
function fold(...readings: ReadonlyArray<readonly [hour: number, usedMb: number]>): Array<UsageMonth | null> {
  let last: UsageMonth | null = null;
  return readings.map(([hour, usedMb]) => {
    last = read(last, hour, usedMb);
    return last;
  });
}

const used = (states: ReadonlyArray<UsageMonth | null>) => states.map((usage) => usage?.usedMb);

describe('a jump', () => {
  it('is remembered with the reading and the usage before it', () => {
    const [, jumped, grown] = fold([0, 100], [2, 102_400], [3, 102_500]);
    const jump = { fromMb: 100, fromUsedMb: 100, atMs: NOON + 2 * HOUR_MS };
    expect(jumped).toMatchObject({ usedMb: 102_400, lastReadingMb: 102_400, jump });
    expect(grown).toMatchObject({ usedMb: 102_500, jump });
  });

  it.each<[string, number, number, boolean]>([
    ['more than half as much again', 100, 150.1, true],
    ['half as much again', 100, 150, false],
    ['from nothing', 0, 500, false],
    ['by less than a megabyte', 0.01, 1, false],
    ['by little more', 0.01, 1.1, true],
  ])('is growth to %s', (_, fromMb, toMb, jumps) => {
    const [, after] = fold([0, fromMb], [1, toMb]);
    expect(after?.jump !== null).toBe(jumps);
  });

  it('is taken back by a reading in the old range, at once', () => {
    const states = fold([0, 100], [2, 102_400], [3, 102_912], [4, 101], [5, 102]);
    expect(used(states)).toEqual([100, 102_400, 102_912, 101, 102]);
    expect(states[3]).toMatchObject({ lastReadingMb: 101, suspectedMb: null, jump: null });
  });

  it('is taken back by a rounded reading, which counts nothing', () => {
    const states = fold([0, 100.4], [2, 102_809], [3, 100], [4, 101]);
    expect(used(states)).toEqual([100.4, 102_809, 100.4, 101]);
  });

  it('is taken back with what the month had counted of earlier counters', () => {
    const states = fold([0, 300], [1, 5], [26, 12], [27, 12_288], [28, 13]);
    expect(used(states)).toEqual([300, 300, 312, 12_588, 313]);
  });

  it('is the larger one of two', () => {
    const wrong = fold([0, 1], [1, 30], [2, 30_720], [3, 31]);
    expect(wrong[2]?.jump).toEqual({ fromMb: 30, fromUsedMb: 30, atMs: NOON + 2 * HOUR_MS });
    expect(wrong[3]).toMatchObject({ usedMb: 31, jump: null });
    const further = fold([0, 100], [2, 102_400], [3, 163_840], [4, 160]);
    expect(further[2]?.jump).toEqual({ fromMb: 100, fromUsedMb: 100, atMs: NOON + 2 * HOUR_MS });
    expect(further[3]).toMatchObject({ usedMb: 160 });
  });

  it('is followed down through readings that jump less, or that the time could not carry', () => {
    const less = fold([0, 10], [8, 400_000], [9, 5_000], [10, 11]);
    expect(used(less)).toEqual([10, 400_000, 5_000, 11]);
    expect(less[2]?.jump).not.toBeNull();
    const tooSoon = fold([0, 10_000], [24, 900_000], [24.01, 150_000], [25, 10_001]);
    expect(used(tooSoon)).toEqual([10_000, 900_000, 150_000, 10_001]);
  });

  it.each([0, 49])('is not taken back by %d, far below what was before it', (usedMb) => {
    const states = fold([0, 100], [2, 102_400], [3, usedMb]);
    expect(states[2]).toMatchObject({ usedMb: 102_400, suspectedMb: usedMb });
  });

  it('is not taken back after two days', () => {
    const states = fold([0, 100], [2, 102_400], [50, 102_401], [50.1, 101]);
    expect(states[2]?.jump).not.toBeNull();
    expect(states[3]).toMatchObject({ usedMb: 102_401, suspectedMb: 101 });
    expect(fold([0, 100], [2, 102_400], [50.1, 102_401])[2]?.jump).toBeNull();
  });

  it('is not remembered longer by a clock that was ahead', () => {
    const states = fold([0, 100], [102, 102_400], [2, 102_401]);
    expect(states[2]?.jump?.atMs).toBe(NOON + 2 * HOUR_MS);
  });

  it('also takes back what a counter that restarted meanwhile counted wrongly', () => {
    const states = fold([0, 100], [2, 102_400], [3, 20], [28, 30], [29, 2_048], [30, 3]);
    expect(used(states)).toEqual([100, 102_400, 102_400, 102_430, 104_448, 102_403]);
  });
});

describe('a jump at the turn of a month', () => {
  it('leaves the new month with no more than its growth', () => {
    const states = fold(
      [TURN - 5, 100],
      [TURN - 1, 102_400],
      [TURN + 1, 103_424],
      [TURN + 2, 104_448],
      [TURN + 3, 102],
      [TURN + 4, 103],
      [TURN + 5, 104],
    );
    expect(states.slice(2).map((usage) => [usage?.month, usage?.usedMb])).toEqual([
      ['2026-11', 1_024],
      ['2026-11', 2_048],
      ['2026-11', 2_048],
      ['2026-11', 3],
      ['2026-11', 4],
    ]);
    expect(states[4]?.suspectedMb).toBe(102);
  });

  it('counts nothing in a month that begins with readings in the old range', () => {
    const states = fold(
      [TURN - 5, 100],
      [TURN - 1, 102_400],
      [TURN + 1, 105],
      [TURN + 2, 106],
      [TURN + 3, 107],
    );
    expect(used(states.slice(2))).toEqual([0, 0, 1]);
  });

  it('is not taken back by one wrong answer, which would count the growth twice', () => {
    const states = fold([TURN - 5, 100], [TURN - 1, 3_000], [TURN + 1, 105], [TURN + 2, 3_010]);
    expect(used(states.slice(2))).toEqual([0, 10]);
  });

  it('counts what a counter shows that is reset then', () => {
    const states = fold([TURN - 5, 100], [TURN - 1, 102_400], [TURN + 1, 2], [TURN + 2, 7]);
    expect(used(states.slice(2))).toEqual([0, 7]);
  });

  it('is taken back in the month in which it was read', () => {
    const states = fold([TURN - 5, 100], [TURN + 5, 102_400], [TURN + 6, 101]);
    expect(used(states)).toEqual([100, 102_300, 1]);
  });
});

describe('a restart', () => {
  it('is taken back when the counter goes on', () => {
    const states = fold([0, 900], [1, 0.88], [25, 0.89], [26, 0.9], [27, 905], [28, 906]);
    expect(used(states)).toEqual([900, 900, 900.89, 900.9, 905, 906]);
    expect(states[2]?.jump).toEqual({ fromMb: 900, fromUsedMb: 900, atMs: NOON + 25 * HOUR_MS });
    expect(states[4]).toMatchObject({ lastReadingMb: 905, suspectedMb: null, jump: null });
  });

  it('is taken back however often it happens', () => {
    const states = fold(
      [0, 900],
      [1, 1],
      [26, 2],
      [27, 901],
      [28, 1],
      [53, 2],
      [54, 3],
      [55, 902],
      [56, 903],
    );
    expect(used(states)).toEqual([900, 900, 902, 901, 901, 903, 904, 902, 903]);
  });

  it('is taken back by a rounded reading, which counts nothing', () => {
    expect(used(fold([0, 900.5], [1, 0.875], [25, 0.876], [26, 900], [27, 901])).slice(3)).toEqual([
      900.5, 901,
    ]);
  });

  it('is taken back in the next month, which has the growth since', () => {
    const states = fold([TURN - 30, 900], [TURN - 29, 1], [TURN - 3, 2], [TURN + 1, 905]);
    expect(states[3]).toMatchObject({ month: '2026-11', usedMb: 5, lastReadingMb: 905, jump: null });
  });

  it.each<[string, ReadonlyArray<readonly [number, number]>, number]>([
    [
      'passes the counter before step by step',
      [
        [26, 10],
        [27, 150],
        [28, 500],
        [29, 899],
        [30, 910],
        [31, 930],
      ],
      1_830,
    ],
    [
      'jumps beyond what may be the same counter',
      [
        [26, 10],
        [27, 20_000],
        [28, 11],
      ],
      911,
    ],
    [
      'jumps to less than the counter before',
      [
        [26, 10],
        [27, 600],
      ],
      1_500,
    ],
  ])('is true when the new counter %s', (_, readings, total) => {
    expect(used(fold([0, 900], [1, 9], ...readings)).at(-1)).toBe(total);
  });

  it('is remembered for two days at the turn of a month, and for the month within it', () => {
    const states = fold([TURN - 1, 900], [TURN + 1, 910], [TURN + 2, 6], [TURN + 3, 7], [TURN + 52, 8]);
    expect(states[3]?.jump).toMatchObject({ fromMb: 910, fromUsedMb: 10 });
    expect(states[4]?.jump).toBeNull();
    expect(used(fold([0, 900], [1, 1], [26, 2], [400, 901])).at(-1)).toBe(901);
  });

  it('is believed once in a month', () => {
    const states = fold([0, 900], [1, 1], [26, 200], [27, 250], [28, 3], [60, 40], [200, 90], [201, 251]);
    expect(used(states).slice(3)).toEqual([1_150, 1_150, 1_150, 1_150, 1_151]);
    expect(states[6]?.suspectedMb).toBe(3);
  });
});

describe('any gateway that changes its unit and changes it back', () => {
  it.each(firstRows(1, [3, 33, 333, 3_333]))('leaves the month as if it had not (seed %i)', (seed) => {
    const next = randomBelow(seed);
    let jumps = 0;
    for (let card = 0; card < 500; card += 1) {
      let truth = 100 + next(1_000);
      let hour = next(200);
      let last = read(null, hour, truth);
      const factor = [1.6 + next(20), 40 + next(2_000), 1 / (3 + next(60))][next(3)] ?? 1;
      const more = next(4) === 0 ? 2 * truth + next(4_000) : 0;
      for (const wrong of [false, true, false, true, false]) {
        for (let polls = 1 + next(20); polls > 0; polls -= 1) {
          hour += 0.5 + next(3) / 10;
          truth += next(3);
          last = read(last, hour, wrong ? (more > 0 ? truth + more : truth * factor) : truth);
          if (wrong && last?.jump) jumps += 1;
        }
      }
      expect(last?.usedMb).toBeCloseTo(truth, 6);
      expect(last).toMatchObject({ month: '2026-10', lastReadingMb: truth, suspectedMb: null, jump: null });
    }
    expect(jumps).toBeGreaterThan(500);
  });
});

function randomBelow(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}
