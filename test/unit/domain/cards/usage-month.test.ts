// Usage across calendar months, in Asia/Shanghai (UTC+8): month change, smaller reading, late reading.
import { describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import {
  applyReading,
  isImplausible,
  type UsageMonth,
  usedInMonth,
} from '../../../../src/domain/cards/usage-month.ts';
import { firstRows } from '../../../support/effort.ts';

const calendar = new MonthCalendar('Asia/Shanghai');
const at = (iso: string) => Date.parse(iso);
const MAX_MBIT_PER_SECOND = 150;

function read(last: UsageMonth | null, iso: string, usedMb: number): UsageMonth | null {
  return applyReading(last, { usedMb, atMs: at(iso), month: calendar.monthOf(at(iso)) }, MAX_MBIT_PER_SECOND);
}

/** Folds readings one after the other; returns the state after each. */
function fold(readings: ReadonlyArray<readonly [string, number]>): Array<UsageMonth | null> {
  let last: UsageMonth | null = null;
  return readings.map(([iso, usedMb]) => {
    last = read(last, iso, usedMb) ?? last;
    return last;
  });
}

/** The state after hourly readings, of which the first is half an hour before a month turns. */
function readAtTurn(readings: readonly number[]): UsageMonth | null {
  const first = at('2026-10-31T15:30:00Z');
  return (
    fold(readings.map((usedMb, i) => [new Date(first + i * 3_600_000).toISOString(), usedMb] as const)).at(
      -1,
    ) ?? null
  );
}

describe('applyReading', () => {
  it('counts the whole first reading', () => {
    expect(read(null, '2026-10-10T00:00:00Z', 12.5)).toEqual({
      month: '2026-10',
      usedMb: 12.5,
      lastReadingMb: 12.5,
      suspectedMb: null,
      jump: null,
      readAtMs: at('2026-10-10T00:00:00Z'),
    });
  });

  it('counts growth within a month and ignores an unchanged reading', () => {
    const [, second] = fold([
      ['2026-10-10T00:00:00Z', 10],
      ['2026-10-10T00:30:00Z', 14],
    ]);
    expect(second?.usedMb).toBe(14);
    expect(read(second ?? null, '2026-10-10T01:00:00Z', 14)).toBeNull();
  });

  it.each<[string, readonly number[], number]>([
    ['dips to just below', [900, 899.9, 900, 899.9, 900], 900],
    ['dips and grows', [900, 899.9, 901, 450, 902], 902],
    ['grows by a fraction', [899.9, 900], 900],
    ['is gone once', [900, 0, 901], 901],
    ['is gone for a while', [900, 0, 0, 0, 901], 901],
    ['is gone, nearly gone and back', [900, 5, 0, 901], 901],
    ['starts anew', [900, 5, 12], 912],
    ['starts anew and stands', [900, 5, 5, 5], 900],
    ['starts anew from 0', [900, 0, 0, 3, 4], 904],
    ['starts anew behind a wrong answer', [900, 300, 5, 12], 912],
    ['starts anew twice, of which one is believed', [900, 5, 12, 1, 2], 912],
    ['starts anew, with a dip at once', [900, 50, 49, 51], 951],
  ])('counts each megabyte once when the reading %s', (_, readings, total) => {
    const totals = fold(readings.map((usedMb, i) => [`2026-10-${10 + i}T00:00:00Z`, usedMb] as const)).map(
      (usage) => usage?.usedMb,
    );
    expect(totals).toEqual(totals.toSorted((a, b) => Number(a) - Number(b)));
    expect(totals.at(-1)).toBe(total);
  });

  it.each([0, 0.4])(
    'never counts more than the higher one of two nodes shows, by chance a call, growing by %f',
    (growth) => {
      const next = randomBelow(11);
      let last: UsageMonth | null = null;
      let higher = 0;
      for (let poll = 0; poll < 400; poll += 1) {
        const atMs = at('2026-10-05T00:00:00Z') + poll * 1_800_000;
        const shown = (next(2) === 0 ? 600 : 250) + poll * growth;
        higher = Math.max(higher, shown);
        last = applyReading(last, { usedMb: shown, atMs, month: '2026-10' }, MAX_MBIT_PER_SECOND) ?? last;
        expect(last?.usedMb).toBeLessThanOrEqual(higher);
      }
      expect(last?.usedMb).toBeGreaterThan(higher - 360);
    },
  );

  it('suspects a reading below half, says so, and forgets the suspicion when it is back', () => {
    const states = fold([
      ['2026-10-10T00:00:00Z', 900],
      ['2026-10-10T01:00:00Z', 449],
      ['2026-10-10T02:00:00Z', 899],
    ]);
    expect(states.map((usage) => usage?.suspectedMb)).toEqual([null, 449, null]);
    expect(states.map((usage) => usage?.lastReadingMb)).toEqual([900, 900, 900]);
  });

  it('believes a counter that was at 0 for a day', () => {
    const states = fold([
      ['2026-10-10T00:00:00Z', 900],
      ['2026-10-10T01:00:00Z', 0],
      ['2026-10-10T13:00:00Z', 0],
      ['2026-10-11T01:00:00Z', 0],
      ['2026-10-11T02:00:00Z', 400],
    ]);
    expect(states.map((usage) => usage?.suspectedMb)).toEqual([null, 0, 0, 0, null]);
    expect(states.at(-1)?.usedMb).toBe(1_300);
  });

  it('gives a new month its own row, with what the reset counter shows once that is confirmed', () => {
    const states = fold([
      ['2026-10-31T15:30:00Z', 500], // 23:30 on 31 October in Shanghai
      ['2026-10-31T16:30:00Z', 2], // 00:30 on 1 November
      ['2026-10-31T17:00:00Z', 7],
    ]);
    expect(states[1]).toMatchObject({ month: '2026-11', usedMb: 0, suspectedMb: 2 });
    expect(states[2]).toMatchObject({ month: '2026-11', usedMb: 7, suspectedMb: null });
  });

  it('counts nothing for a dip at the turn of a month', () => {
    const states = fold([
      ['2026-10-31T15:30:00Z', 500],
      ['2026-10-31T16:30:00Z', 499.9],
      ['2026-10-31T17:00:00Z', 499.95],
      ['2026-10-31T17:30:00Z', 501],
    ]);
    expect(states.slice(1)).toMatchObject([
      { month: '2026-11', usedMb: 0, suspectedMb: null },
      { month: '2026-11', usedMb: 0, suspectedMb: null },
      { month: '2026-11', usedMb: 1, suspectedMb: null },
    ]);
  });

  it('confirms in the new month what the old one suspected', () => {
    const states = fold([
      ['2026-10-31T15:00:00Z', 500],
      ['2026-10-31T15:30:00Z', 2],
      ['2026-10-31T16:30:00Z', 7],
    ]);
    expect(states[1]).toMatchObject({ month: '2026-10', usedMb: 500 });
    expect(states[2]).toMatchObject({ month: '2026-11', usedMb: 7 });
  });

  it.each<[string, readonly number[], number]>([
    ['0.4 and 1.1 of a counter that was at 2.4', [2.4, 0.4, 1.1, 1.3], 1.3],
    ['nothing and then almost half', [40, 0, 19, 24], 24],
    ['less than half while the old counter had gone on for an hour', [40, 41, 2, 20], 21],
  ])('counts in full what a counter shows that is reset at the turn of a month: %s', (_, readings, used) => {
    expect(readAtTurn(readings)).toMatchObject({ month: '2026-11', usedMb: used, suspectedMb: null });
  });

  it('counts what is nearer to the former counter after a day: a node that lags may have shown it', () => {
    const readings = [2.4, 0.4, 1.5, 1.9, 2];
    expect(readAtTurn(readings)).toMatchObject({ usedMb: 0, suspectedMb: 0.4 });
    const hours = [...Array(22).keys()].map(() => 2);
    expect(readAtTurn([...readings, ...hours])).toMatchObject({ usedMb: 2, suspectedMb: null });
  });

  it.each<[string, readonly number[], number]>([
    ['is back', [900, 5, 900, 901], 1],
    ['is back but for rounding', [900.4, 0, 900, 901.4], 1],
    ['is back after two', [900, 5, 0, 899, 902], 2],
  ])('counts nothing for a wrong answer at the turn of a month when the counter %s', (_, readings, used) => {
    expect(readAtTurn(readings)?.usedMb).toBeCloseTo(used, 6);
  });

  it('still takes more than half of the counter for a correction within a month', () => {
    expect(
      fold([
        ['2026-10-10T00:00:00Z', 900],
        ['2026-10-10T01:00:00Z', 5],
        ['2026-10-10T02:00:00Z', 700],
        ['2026-10-10T03:00:00Z', 901],
      ]).at(-1)?.usedMb,
    ).toBe(901);
  });

  it('counts no megabyte in two months when the upstream counter is reset late', () => {
    const states = fold([
      ['2026-10-31T15:30:00Z', 500],
      ['2026-10-31T16:10:00Z', 500], // November here, still October's counter there
      ['2026-10-31T16:40:00Z', 501],
      ['2026-10-31T17:10:00Z', 1], // reset at last
      ['2026-10-31T17:40:00Z', 2],
    ]);
    expect(states[1]).toMatchObject({ month: '2026-11', usedMb: 0 });
    expect(states[2]).toMatchObject({ month: '2026-11', usedMb: 1 });
    expect(states[3]).toMatchObject({ month: '2026-11', usedMb: 1 });
    expect(states[4]).toMatchObject({ month: '2026-11', usedMb: 3 });
  });

  it('ignores a late reading: one taken before the last one kept', () => {
    const last = read(null, '2026-11-01T00:30:00Z', 7);
    expect(read(last, '2026-10-31T23:59:00Z', 500)).toBeNull();
    expect(read(last, '2026-11-01T00:30:00Z', 9)).toBeNull();
  });

  it('does not let a clock that was ahead silence a card', () => {
    const ahead = read(null, '2026-10-12T00:00:00Z', 100);
    expect(read(ahead, '2026-10-11T23:30:00Z', 101)).toBeNull();
    expect(read(ahead, '2026-10-10T00:00:00Z', 101)).toMatchObject({
      usedMb: 101,
      readAtMs: at('2026-10-10T00:00:00Z'),
    });
    expect(read(ahead, '2026-10-10T00:00:00Z', 100)).toMatchObject({ readAtMs: at('2026-10-10T00:00:00Z') });
  });

  it('keeps with a month that a clock ahead opened what is read before it begins', () => {
    const states = fold([
      ['2026-11-20T00:00:00Z', 100],
      ['2026-10-10T00:00:00Z', 400],
      ['2026-10-20T00:00:00Z', 700],
      ['2026-11-02T00:00:00Z', 5],
      ['2026-11-03T00:00:00Z', 6],
    ]);
    expect(states.map((usage) => [usage?.month, usage?.usedMb])).toEqual([
      ['2026-11', 100],
      ['2026-11', 400],
      ['2026-11', 700],
      ['2026-11', 700],
      ['2026-11', 706],
    ]);
  });

  it.each(firstRows(1, [7, 77, 777, 7_777]))(
    'never counts more than was used, whatever is shown (seed %i)',
    (seed) => {
      const next = randomBelow(seed);
      let last: UsageMonth | null = null;
      const perMonth = new Map<string, number>();
      let shown = 0;
      let truth = 0;
      let resets = 0;
      let glitched = false;
      let time = at('2026-01-15T00:00:00Z');
      let resetAt = 0;
      for (let step = 0; step < 5_000; step += 1) {
        // Some hours after a month has turned, and once within it, with days in between.
        if (time > resetAt) {
          if (step > 0) shown = 0;
          resets += 1;
          const date = new Date(time);
          const turn = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - 8 * 3_600_000;
          const isWithin = turn - time > 20 * 86_400_000;
          resetAt = isWithin ? time + (5 + next(10)) * 86_400_000 : turn + next(6 * 3_600_000);
        }
        const growth = next(20);
        shown += growth;
        truth += growth;
        time += 1 + next(3_600_000);
        // One wrong answer at a time, anywhere below the truth; or nothing but 0 for hours.
        const silent = step % 500 < 10;
        glitched = !glitched && !silent && (step + 1) % 500 > 11 && next(10) === 0;
        const usedMb = glitched ? next(shown + 1) : silent ? 0 : shown;
        const reading = { usedMb, atMs: time, month: calendar.monthOf(time) };
        if (last !== null) {
          const late = { ...reading, usedMb: next(1_000), atMs: last.readAtMs - next(3_600_000) };
          expect(applyReading(last, late, MAX_MBIT_PER_SECOND)).toBeNull();
        }
        const usage = applyReading(last, reading, MAX_MBIT_PER_SECOND);
        if (usage === null) continue;
        perMonth.set(usage.month, usage.usedMb);
        last = usage;
        expect(sum(perMonth.values())).toBeLessThanOrEqual(truth);
      }
      expect(perMonth.size).toBeGreaterThan(2);
      expect(resets).toBeGreaterThan(4);
      // Nothing to speak of is lost either.
      expect(sum(perMonth.values())).toBeGreaterThan(0.9 * truth);
    },
  );
});

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0);
}

function randomBelow(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

describe('a reading that grew faster than a card can transfer', () => {
  it('counts nothing and changes nothing, and is forgotten when the next one is back', () => {
    const states = fold([
      ['2026-10-10T00:00:00Z', 100],
      ['2026-10-10T00:10:00Z', 102_400],
      ['2026-10-10T00:20:00Z', 101],
    ]);
    expect(states[1]).toBe(states[0]);
    expect(states[2]).toMatchObject({ usedMb: 101, lastReadingMb: 101, suspectedMb: null, jump: null });
  });

  it('is believed when enough time has passed since the last change', () => {
    // 18.75 MB a second: 102,300 MB take an hour, 30 minutes and 56 seconds.
    const states = fold([
      ['2026-10-10T00:00:00Z', 100],
      ['2026-10-10T01:00:00Z', 102_400],
      ['2026-10-10T01:30:54Z', 102_400],
      ['2026-10-10T01:31:00Z', 102_400],
    ]);
    expect(states.map((usage) => usage?.usedMb)).toEqual([100, 100, 100, 102_400]);
  });

  it.each<[string, number, number, number, boolean]>([
    ['what the time carries', 10_000, 187.5, 150, true],
    ['with a second and a megabyte of slack', 10_000, 207.25, 150, true],
    ['and no more', 10_000, 207.26, 150, false],
    ['in a slower fleet', 10_000, 14, 10, true],
    ['and no more there', 10_000, 14, 5, false],
  ])('%s', (_, elapsedMs, growthMb, maxMbitPerSecond, believed) => {
    const last = read(null, '2026-10-10T00:00:00Z', 50);
    const atMs = at('2026-10-10T00:00:00Z') + elapsedMs;
    const next = applyReading(last, { usedMb: 50 + growthMb, atMs, month: '2026-10' }, maxMbitPerSecond);
    expect(next?.usedMb ?? null).toBe(believed ? 50 + growthMb : null);
    expect(isImplausible(last, { usedMb: 50 + growthMb, atMs }, maxMbitPerSecond)).toBe(!believed);
  });

  it('does not end a suspicion', () => {
    const states = fold([
      ['2026-10-10T00:00:00Z', 900],
      ['2026-10-10T00:10:00Z', 5],
      ['2026-10-10T00:20:00Z', 900_000],
      ['2026-10-11T00:10:00Z', 12],
    ]);
    expect(states.map((usage) => usage?.suspectedMb)).toEqual([null, 5, 5, null]);
    expect(states.at(-1)?.usedMb).toBe(912);
  });

  it('does not open a month', () => {
    const states = fold([
      ['2026-10-31T15:50:00Z', 500],
      ['2026-10-31T16:10:00Z', 500_000],
      ['2026-10-31T16:20:00Z', 501],
    ]);
    expect(states[1]).toBe(states[0]);
    expect(states[2]).toMatchObject({ month: '2026-11', usedMb: 1 });
  });

  it('is not asked of the first one, of a late one, and after a clock that was ahead', () => {
    const first = read(null, '2026-10-10T00:00:00Z', 1e9);
    expect(first?.usedMb).toBe(1e9);
    const last = read(null, '2026-10-10T00:00:00Z', 1);
    const yesterday = { usedMb: 1e9, atMs: at('2026-10-09T00:00:00Z') };
    expect(isImplausible(last, yesterday, MAX_MBIT_PER_SECOND)).toBe(false);
    expect(read(last, '2026-10-09T00:00:00Z', 1e9)?.usedMb).toBe(1e9);
  });
});

describe('usedInMonth', () => {
  it('is 0 for a card without readings in that month', () => {
    expect(usedInMonth(null, '2026-11')).toBe(0);
    const october = read(null, '2026-10-10T00:00:00Z', 12);
    expect(usedInMonth(october, '2026-11')).toBe(0);
    expect(usedInMonth(october, '2026-10')).toBe(12);
  });
});
