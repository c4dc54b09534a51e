import { expect, it } from 'vitest';
import { achievedIntervalMsOf, schedulePaceOf } from '../../../../src/domain/schedule/schedule-pace.ts';
import type { RingState } from '../../../../src/store/ports/live/rings.ts';

const NOW_MS = 1_800_000_000_000;
const ring: RingState = {
  configId: 1,
  taskType: 'carddata',
  generation: 1,
  buckets: 1_024,
  split: 0,
  members: 100,
  selection: 'any/*',
  loaded: true,
  building: null,
  intervalMs: 4_000,
  anchorMs: NOW_MS - 100_000,
  cursor: 5_000,
  enabled: true,
  skippedRevolutions: 7,
  achievedIntervalMs: null,
  lapStartedAtMs: null,
  joinedAfterId: 0,
};

it.each([
  ['nothing was measured yet', {}, null],
  ['its first revolution is under way', { lapStartedAtMs: NOW_MS - 3_999 }, null],
  ['its first revolution is late', { lapStartedAtMs: NOW_MS - 60_000 }, 60_000],
  ['it keeps up', { achievedIntervalMs: 3_990, lapStartedAtMs: NOW_MS - 2_000 }, 4_000],
  ['the last revolution took longer', { achievedIntervalMs: 43_000, lapStartedAtMs: NOW_MS - 2_000 }, 43_000],
  [
    'the present one lasts longer already',
    { achievedIntervalMs: 4_000, lapStartedAtMs: NOW_MS - 60_000 },
    60_000,
  ],
  ['it is off', { enabled: false, achievedIntervalMs: 43_000 }, null],
  ['it was never built', { generation: 0 }, null],
])('when %s', (_, changes, expected) => {
  expect(achievedIntervalMsOf({ ...ring, ...changes }, NOW_MS)).toBe(expected);
});

/** 1,000 cards in 100 s; a quarter of them is queued. */
const RING = {
  ...{ taskType: 'realname', enabled: true, generation: 1, members: 1_000, intervalMs: 100_000 },
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
])('owes %s', (_, rings, dueMs, cards) => {
  expect(schedulePaceOf(rings, dueMs).overdueCards).toBe(cards);
});
