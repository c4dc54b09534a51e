import { describe, expect, it } from 'vitest';
import {
  addCounts,
  CARRIER_SLOTS_KEPT,
  type CarrierCounts,
  isLatePoll,
  keptSlotsWithin,
  punctualityOf,
  sumOfSlotCounts,
} from '../../../../src/domain/stats/carrier-slots.ts';

const SLOT_MS = 600_000;
const counts = (of: Partial<CarrierCounts>): CarrierCounts => ({
  polls: 0,
  failed: 0,
  timed: 0,
  late: 0,
  ...of,
});

it('a poll is late after a tenth of its interval, and never within ten seconds', () => {
  expect([isLatePoll(10_000, 1_000), isLatePoll(10_001, 1_000), isLatePoll(10_001, 100_000)]).toEqual([
    ...[false, true, true],
  ]);
  expect([isLatePoll(360_000, 3_600_000), isLatePoll(360_001, 3_600_000)]).toEqual([false, true]);
});

describe('slots', () => {
  it('are those that have a part in the time, as far as they are kept', () => {
    expect(keptSlotsWithin(SLOT_MS + 1, 3 * SLOT_MS, 9 * SLOT_MS)).toEqual([1, 2, 3]);
    expect(keptSlotsWithin(SLOT_MS, 99 * SLOT_MS, 2 * SLOT_MS)).toEqual([1, 2]);
    expect(keptSlotsWithin(0, 0, SLOT_MS * CARRIER_SLOTS_KEPT)).toEqual([]);
    expect(keptSlotsWithin(0, SLOT_MS, SLOT_MS * CARRIER_SLOTS_KEPT)).toEqual([1]);
  });

  it('name a number of carriers, and count further ones together', () => {
    const sum = new Map<number | null, CarrierCounts>();
    addCounts(
      sum,
      [
        [1, { polls: 2 }],
        [2, { polls: 1, failed: 1 }],
        [3, { polls: 4 }],
        [1, { polls: 1 }],
      ],
      2,
    );
    addCounts(sum, [[null, { timed: 3 }]], 2);
    expect([...sum]).toEqual([
      [1, counts({ polls: 3 })],
      [2, counts({ polls: 1, failed: 1 })],
      [null, counts({ polls: 4, timed: 3 })],
    ]);
    expect(sumOfSlotCounts([sum, sum]).get(null)).toEqual(counts({ polls: 8, timed: 6 }));
  });
});

describe('on schedule', () => {
  it('is not known before a poll was timed', () => {
    expect(punctualityOf(new Map())).toBeNull();
    expect(punctualityOf(new Map([[1, counts({ polls: 5 })]]))).toBeNull();
  });

  it('has the share of the polls on time, and the worst carrier', () => {
    const found = punctualityOf(
      new Map([
        [1, counts({ timed: 9_900, late: 0 })],
        [2, counts({ timed: 100, late: 3 })],
        [3, counts({ timed: 19, late: 19 })],
        [null, counts({ timed: 981, late: 0 })],
      ]),
    );
    expect(found).toEqual({ percent: 99.8, polls: 11_000, late: 22, worst: { carrierId: 2, percent: 97 } });
  });

  it('names no carrier where there is one alone, or none was late, and never says 100 of less', () => {
    expect(punctualityOf(new Map([[1, counts({ timed: 100_000, late: 1 })]]))).toEqual({
      ...{ percent: 99.9, polls: 100_000, late: 1, worst: null },
    });
    const both = new Map([1, 2].map((id) => [id, counts({ timed: 50 })]));
    expect(punctualityOf(both)).toEqual({ percent: 100, polls: 100, late: 0, worst: null });
  });
});
