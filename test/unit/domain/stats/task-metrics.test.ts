import { expect, it } from 'vitest';
import { polledPercentOf } from '../../../../src/domain/stats/task-metrics.ts';

/** @param succeeded polls of the last ten seconds */
const shareOf = (succeeded: number, demandPerSecond: number, owedCards: number) =>
  polledPercentOf({ succeeded, seconds: 10 }, demandPerSecond, owedCards);

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
