// A fleet whose usage stands still: no reading of many grows for minutes, and at this hour of the last days readings did.
import { expect, it } from 'vitest';
import {
  DOUBTFUL_BUCKET,
  type GrowthHistory,
  hourOf,
  minuteOf,
} from '../../../../src/domain/results/usage-growth.ts';
import { stillMinutes } from '../../../../src/domain/results/usage-still.ts';

const NOW = Date.parse('2026-11-20T12:30:00Z');
const DAY_AGO = hourOf(NOW) - 24;

/** Growth of so many cards in each minute of the last seventy, but for the last ones. */
function history(stillFor: number, cards = 50, hours = new Map([[DAY_AGO, 1.5]])): GrowthHistory {
  const minutes = Array.from({ length: 70 - stillFor }, (_, i) => minuteOf(NOW) - stillFor - i);
  return { minutes: new Map(minutes.map((minute) => [minute, { 10: cards }])), hours };
}

it.each<[string, GrowthHistory, number, number | null]>([
  ['that grows', history(0), 1_000, null],
  ['that pauses for nine minutes', history(9), 1_000, null],
  ['that stands still for ten', history(10), 1_000, 10],
  ['that stands still for most of an hour', history(59), 1_000, 59],
  ['that stands still for longer than is kept', history(70), 1_000, 60],
  ['of which few were read', history(10), 19, null],
  ['of which enough were read', history(10), 20, 10],
  ['of which few grew before', history(10, 1), 1_000, null],
  ['that is idle at this hour, as far as is known', history(10, 50, new Map()), 1_000, null],
  ['that was idle at this hour', history(10, 50, new Map([[DAY_AGO, 0]])), 1_000, null],
  ['that grew at another hour only', history(10, 50, new Map([[DAY_AGO - 6, 3]])), 1_000, null],
  ['that grew at this hour a week ago', history(10, 50, new Map([[hourOf(NOW) - 7 * 24 + 1, 3]])), 1_000, 10],
])('a fleet %s', (_, growth, readPerMinute, still) => {
  expect(stillMinutes(growth, NOW, readPerMinute)).toBe(still);
});

it('readings that fall are no growth', () => {
  const { minutes, hours } = history(12);
  const falls = new Map([...minutes, [minuteOf(NOW) - 3, { [DOUBTFUL_BUCKET]: 400 }] as const]);
  expect(stillMinutes({ minutes: falls, hours }, NOW, 1_000)).toBe(12);
});
