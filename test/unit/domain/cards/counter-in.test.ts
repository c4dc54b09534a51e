// What a reading says about the counter of its card: a gateway that shows nothing any more is told from counters that restart.
import { expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { applyReading, counterIn, type UsageMonth } from '../../../../src/domain/cards/usage-month.ts';

const calendar = new MonthCalendar('Asia/Shanghai');
const HOUR_MS = 3_600_000;

/** @returns what each reading says, one an hour. @param from in UTC */
function read(
  readings: readonly number[],
  from = '2026-10-10T00:30:00Z',
): Array<ReturnType<typeof counterIn>> {
  let last: UsageMonth | null = null;
  return readings.map((usedMb, i) => {
    const atMs = Date.parse(from) + i * HOUR_MS;
    const next: UsageMonth | null = applyReading(last, { usedMb, atMs, month: calendar.monthOf(atMs) }, 150);
    const counter = counterIn(last, next, { usedMb });
    last = next ?? last;
    return counter;
  });
}

const [COUNTS, FALLEN] = ['counts', 'fallen'] as const;

it.each<[string, number[], Array<'counts' | 'fallen' | null>]>([
  ['falls to 0 and stays there', [300, 301, 0, 0, 0, 302], [null, COUNTS, COUNTS, FALLEN, FALLEN, COUNTS]],
  ['stays where another counter is', [300, 20, 20.5, 21], [null, COUNTS, FALLEN, FALLEN]],
  ['falls once: another node', [300, 100, 301, 100, 302], [null, COUNTS, COUNTS, COUNTS, COUNTS]],
  ['dips', [300, 200, 200, 301], [null, COUNTS, COUNTS, COUNTS]],
  ['has used nothing', [0, 0, 0.4, 0, 0], [null, null, null, null, null]],
])('a card whose reading %s', (_, readings, expected) => {
  expect(read(readings)).toEqual(expected);
});

it('a month that turns is no fall, nor one that the gateway turns hours later', () => {
  const turn = '2026-10-31T14:30:00Z';
  expect(read([300, 301, 0, 0, 1, 2], turn)).not.toContain(FALLEN);
  expect(read([300, 301, 302, 303, 304, 0, 0, 1], turn)).not.toContain(FALLEN);
});
