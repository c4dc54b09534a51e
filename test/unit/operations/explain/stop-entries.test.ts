import { expect, it } from 'vitest';
import { stopEntries } from '../../../../src/operations/explain/stop-entries.ts';
import type { CardStop } from '../../../../src/store/ports/records/stop-records.ts';

const stop = (differing: Partial<CardStop>): CardStop =>
  ({
    ...{ month: '2026-11', usedMb: 120, allowanceMb: 100, requestedAtMs: 1_000, completedAtMs: 2_000 },
    ...{ unconfirmed: 0, lastError: null },
    ...differing,
  }) as CardStop;
const USED = '120 of 100 MB used in 2026-11';

it('says when the card was stopped, and for what', () => {
  expect(stopEntries([stop({})], true)).toEqual([{ at: new Date(2_000), action: 'stopped', detail: USED }]);
});

it('says that a card runs again which is not stopped now, of its last stop only', () => {
  const entries = stopEntries([stop({}), stop({ month: '2026-10' })], false);
  expect(entries[0]).toEqual({
    ...{ at: new Date(2_000), action: 'stopped, runs again' },
    detail: `${USED}; not stopped a second time in the month`,
  });
  expect(entries[1]).toMatchObject({ action: 'stopped' });
});

it('says that a stop was asked for, how often in vain, and what went wrong last', () => {
  const open = { completedAtMs: null };
  expect(stopEntries([stop(open)], false)).toEqual([
    { at: new Date(1_000), action: 'stop requested', detail: USED },
  ]);
  expect(stopEntries([stop({ ...open, lastError: 'HTTP 500' })], false)).toMatchObject([
    { action: 'stop requested', detail: `${USED}; last error: HTTP 500` },
  ]);
  expect(stopEntries([stop({ ...open, unconfirmed: 2 })], false)).toMatchObject([
    { action: 'stop unconfirmed', detail: `${USED}; acknowledged 2 times without effect` },
  ]);
  expect(stopEntries([stop({ ...open, unconfirmed: 3, lastError: 'HTTP 500' })], false)).toEqual([
    {
      at: new Date(1_000),
      action: 'stop unconfirmed',
      detail: `${USED}; acknowledged 3 times without effect; last error: HTTP 500`,
    },
  ]);
});
