// How many cards come before one that is due, and how long they take: cards-before.ts.
import { expect, it } from 'vitest';
import {
  overdueBefore,
  presentRate,
  secondsToPoll,
} from '../../../../src/operations/explain/queue-position.ts';
import type { StatsReading } from '../../../../src/store/ports/live/poll-stats.ts';
import type { RingState } from '../../../../src/store/ports/live/rings.ts';

/** 1,000 cards in 100 s; a quarter of them is queued. */
const RING = {
  ...{ enabled: true, generation: 1, members: 1_000, intervalMs: 100_000 },
  ...{ anchorMs: 0, cursor: 256, buckets: 1_024, split: 0 },
} as RingState;

it.each([
  ['as many as fell due since', [RING], 35_000, 100],
  ['none of what is still to come', [RING], 20_000, 0],
  ['those of every ring', [RING, { ...RING, members: 500 }], 35_000, 150],
  ['each card once, however late the ring', [RING], 1_000_000, 1_000],
  ['none of a ring that is off', [{ ...RING, enabled: false }], 35_000, 0],
  ['none of a ring that was never built', [{ ...RING, generation: 0 }], 35_000, 0],
  ['whole cards', [{ ...RING, members: 7 }], 60_000, 2],
])('counts %s', (_, rings, dueMs, cards) => {
  expect(overdueBefore(rings, dueMs)).toBe(cards);
});

it.each([
  ['nothing to wait for', 0, 50, 0, 0],
  ['nothing that moves', 10, 0, 0, null],
  ['the schedule alone', 100, 0, 20, 5],
  ['some manual work, polled in between', 100, 40, 20, 7],
  ['much manual work, which takes half of the polls', 100, 4_000, 20, 10],
])('takes its time with %s', (_, cards, manualLength, perSecond, seconds) => {
  expect(secondsToPoll(cards, manualLength, perSecond)).toBe(seconds);
});

it('goes by the polls that ended lately', () => {
  expect(presentRate({ recent: { polls: 30, seconds: 10 } } as StatsReading)).toBe(3);
});
