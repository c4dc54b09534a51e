// The default budget of stops by the size of the fleet.
import { expect, it } from 'vitest';
import { stopRulesOf } from '../../../../src/domain/stops/stop.ts';

it.each([
  [0, 1, 1],
  [1, 1, 1],
  [20, 1, 1],
  [60, 3, 3],
  [600, 30, 30],
  [2_000, 100, 100],
  [5_000, 100, 250],
  [10_000, 100, 500],
  [10_001, 101, 501],
  [10_000_000, 100_000, 500_000],
])('a fleet of %d cards stops up to %d an hour and %d a day', (cards, maxPerHour, maxPerDay) => {
  const settings = { mode: 'enforce', maxPerHour: null, maxPerDay: null } as const;
  expect(stopRulesOf(settings, cards)).toEqual({ mode: 'enforce', maxPerHour, maxPerDay });
});

it('a limit that is set is not bounded by the size of the fleet', () => {
  const settings = {
    mode: 'enforce',
    maxPerHour: { unit: 'cards', cards: 400 },
    maxPerDay: { unit: 'none' },
  } as const;
  expect(stopRulesOf(settings, 60)).toEqual({ mode: 'enforce', maxPerHour: 400, maxPerDay: null });
});
