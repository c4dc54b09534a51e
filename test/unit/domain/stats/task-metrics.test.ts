import { expect, it } from 'vitest';
import { callMsOf, polledPercentOf } from '../../../../src/domain/stats/task-metrics.ts';

it.each<[string, number, number, number, number, number | null]>([
  ['all succeed', 10, 0, 1_000, 1_000, 100],
  ['failures come at once', 10, 90, 1_100, 1_000, 100],
  ['failures hold their slot for long', 10, 10, 101_000, 1_000, 5_050],
  ['none succeeds', 0, 90, 100, 0, null],
  ['there is no poll', 0, 0, 0, 0, null],
])('a poll takes, when %s', (_, succeeded, failed, durationMs, succeededMs, ms) => {
  expect(callMsOf({ succeeded, failed, durationMs, succeededMs })).toBe(ms);
});

/** @param succeeded polls of the last ten seconds */
const shareOf = (succeeded: number, demandPerSecond: number, due: number, failed = 0) =>
  polledPercentOf({ succeeded, seconds: 10 }, demandPerSecond, { due, failed });

it.each<[string, number, number, number, number | null]>([
  ['nothing succeeds while cards are due', 0, 100, 500, 0],
  ['a quarter of the demand succeeds', 250, 100, 500, 25],
  ['a backlog drains faster than the demand', 3_000, 100, 500, 100],
  ['nothing is due, and nothing was', 0, 100, 0, 100],
  ['only the cards of the last second are due', 0, 100, 100, 100],
  ['so little is due that it cannot be judged', 0, 0.9, 9, null],
  ['a small fleet leaves ten cards unpolled', 0, 0.01, 10, 0],
  ['a small fleet polls one of them', 1, 0.01, 10, 100],
  ['a disabled config leaves its cards queued', 0, 0, 500, 100],
  ['there is no fleet', 0, 0, 0, null],
])('when %s', (_, succeeded, demand, owed, share) => {
  expect(shareOf(succeeded, demand, owed)).toBe(share);
});

it('takes cards that fail for a standstill only where a success was to be expected', () => {
  expect(shareOf(0, 100, 0, 500)).toBe(0);
  expect(shareOf(0, 400 / 86_400, 0, 10)).toBeNull();
  expect(shareOf(0, 400 / 86_400, 10, 10)).toBe(0);
});
