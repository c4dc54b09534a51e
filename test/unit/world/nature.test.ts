// What nights are like, from many seeds: each kind is drawn, and none changes what another one draws.
import { expect, it } from 'vitest';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import { disorderMs, type Nature, natureOf } from '../../world/nature.ts';
import { Random } from '../../world/virtual/random.ts';

const NIGHT = { minutes: 10, cards: 150 };
const natures = Array.from({ length: 200 }, (_, seed) =>
  natureOf({ ...NIGHT, seed }, new Random(seed, 'world')),
);

it('a seed has one nature', () => {
  expect(natureOf({ ...NIGHT, seed: 7 }, new Random(7, 'world'))).toEqual(natures[7]);
});

it('the month turns when a nature says so, in the zone of the night', () => {
  for (const { timeZone, epochMs, turnsAfterMs } of natures) {
    const calendar = new MonthCalendar(timeZone);
    const [before, after] = [turnsAfterMs - 1, turnsAfterMs].map((ms) => calendar.monthOf(epochMs + ms));
    expect(before, timeZone).not.toBe(after);
  }
});

it.each<[string, (nature: Nature) => boolean]>([
  ['a month that turns while there are faults', ({ turnsAfterMs }) => turnsAfterMs < disorderMs(NIGHT)],
  ['a month that turns after the night', ({ turnsAfterMs }) => turnsAfterMs > 600_000],
  ['a zone with daylight saving', ({ timeZone }) => timeZone !== 'Asia/Shanghai'],
  ['counters that restart before the month', ({ countersLateMs }) => countersLateMs < 0],
  ['counters that restart after it', ({ countersLateMs }) => countersLateMs > 0],
  ['batches', ({ cardsPerCall }) => cardsPerCall > 1],
  ['ids of the vendor', ({ hasVendorIds }) => hasVendorIds],
  ['a budget by share', ({ budgetPercent }) => budgetPercent !== null],
  ['months that resume cards', ({ resumesAtMonthStart }) => resumesAtMonthStart],
  ['a walk in several steps', ({ initBatch }) => initBatch < NIGHT.cards],
])('some nights have %s, and others do not', (_, has) => {
  const nights = natures.filter(has).length;
  expect(nights).toBeGreaterThan(10);
  expect(nights).toBeLessThan(190);
});
