import { expect, it } from 'vitest';
import { runsOverWords, stopEntries } from '../../../../src/operations/explain/explainer.ts';
import type { CardStop, RunsOver } from '../../../../src/store/ports/records/stop-records.ts';

const stop = (differing: Partial<CardStop>): CardStop => ({
  ...{ month: '2026-11', state: 'done', usedMb: 120, allowanceMb: 100 },
  ...{ requestedAtMs: 1_000, completedAtMs: 2_000, resumedAtMs: null },
  ...{ attempts: 1, unconfirmed: 0, lastError: null },
  ...{ heldBy: null, heldFor: null, heldUntilMs: null, orderedBy: null, reason: null, stopAgain: false },
  ...{ pendingSinceMs: null, pendingUntilMs: null },
  ...differing,
});
const USED = '120 of 100 MB used in 2026-11';
const entriesOf = (stops: readonly CardStop[], stopped: boolean) =>
  stopEntries(stops, { cardId: 42, stopped }, 50_000);
const entryOf = (differing: Partial<CardStop>) => entriesOf([stop(differing)], false)[0];

it('says when the card was stopped, and for what', () => {
  expect(entriesOf([stop({})], true)).toEqual([{ at: new Date(2_000), action: 'stopped', detail: USED }]);
});

it('shows usage without the noise of its sums', () => {
  expect(entryOf({ usedMb: 100.07000000000004 })?.detail).toContain('100.07 of 100 MB used');
});

it('says for how long the vendor works on a stop, and until when nothing is called', () => {
  const entry = entryOf({
    state: 'requested',
    completedAtMs: null,
    pendingSinceMs: 10_000,
    pendingUntilMs: 610_000,
  });
  expect(entry).toMatchObject({
    action: 'stop under way',
    detail: `${USED}; under way for 40 s: the vendor works on it, and nothing is called before 1970-01-01T00:10:10.000Z`,
  });
});

it('says that a card runs again which is not stopped now, of its last stop only', () => {
  const entries = entriesOf([stop({}), stop({ month: '2026-10' })], false);
  expect(entries[0]).toEqual({
    ...{ at: new Date(2_000), action: 'stopped, runs again' },
    detail: `${USED}; not stopped a second time in the month`,
  });
  expect(entries[1]).toMatchObject({ action: 'stopped' });
});

it('says that a card was resumed, and when', () => {
  expect(entryOf({ state: 'resumed', resumedAtMs: 3_000 })).toEqual({
    ...{ at: new Date(3_000), action: 'stopped and resumed' },
    detail: `${USED}; not stopped a second time in the month`,
  });
});

it('does not say that a card was stopped which cardpoll only resumed', () => {
  expect(entryOf({ state: 'resumed', resumedAtMs: 3_000, attempts: 0 })?.action).toBe('resumed');
});

it('says that a card which was resumed may be stopped again', () => {
  expect(entryOf({ state: 'resumed', resumedAtMs: 3_000, stopAgain: true })?.detail).toBe(
    `${USED}; stopped again in the month if a later reading is over the allowance`,
  );
});

it('says who ordered a stop and why, also of a card without a limit', () => {
  const order = { orderedBy: 'anna', reason: 'lost device', allowanceMb: null };
  expect(entriesOf([stop(order)], true)).toMatchObject([
    { action: 'stopped', detail: '120 MB used in 2026-11; by order of anna: lost device' },
  ]);
  expect(entryOf({ ...order, state: 'requested', completedAtMs: null, attempts: 0 })).toEqual({
    ...{ at: new Date(1_000), action: 'stop requested' },
    detail:
      '120 MB used in 2026-11; by order of anna: lost device; it is called as soon as package has a free slot, unless stops are only observed',
  });
});

const judgedAfter = (end: string) => `judged again by a reading after ${end} that is over the allowance`;

it.each([
  [
    'budget_hour',
    'reading',
    3_601_000,
    'the stops allowed in an hour were used up',
    judgedAfter('1970-01-01T01:00:01.000Z'),
  ],
  [
    'budget_day',
    'operator',
    null,
    'the stops allowed in a day were used up',
    'waits until an operator decides',
  ],
  ['usage_jump', 'jump_end', null, 'the readings of the whole fleet jumped', judgedAfter('the jump')],
  [
    'reading_fell',
    'operator',
    null,
    'its counter fell while it was held, so its usage may be wrong',
    'waits until an operator decides',
  ],
] as const)(
  'says why a stop is held, until when, and what to type: %s',
  (heldBy, heldFor, heldUntilMs, why, end) => {
    expect(entryOf({ state: 'held', heldBy, heldFor, heldUntilMs, completedAtMs: null })).toEqual({
      ...{ at: new Date(1_000), action: 'stop held' },
      detail: `${USED}; not stopped, because ${why}; ${end}; cardpoll stops release 42 --reason TEXT stops it, cardpoll stops dismiss 42 --reason TEXT gives it up`,
    });
  },
);

it('says that a card is not stopped because stops were only observed, or because an operator dismissed its stop', () => {
  const open = { completedAtMs: null };
  expect(entryOf({ ...open, state: 'observed' })).toMatchObject({
    action: 'stop observed',
    detail: `${USED}; not stopped, because stops were only observed (cardpoll stops mode)`,
  });
  expect(entryOf({ ...open, state: 'dismissed', orderedBy: 'anna', reason: 'wrong readings' })).toMatchObject(
    {
      action: 'stop dismissed',
      detail: `${USED}; not stopped in the month, by order of anna: wrong readings`,
    },
  );
});

it('says that a stop was asked for, how often in vain, and what went wrong last', () => {
  const open = { state: 'requested', completedAtMs: null } as const;
  expect(entryOf(open)).toEqual({ at: new Date(1_000), action: 'stop requested', detail: USED });
  expect(entryOf({ ...open, lastError: 'HTTP 500' })).toMatchObject({
    action: 'stop requested',
    detail: `${USED}; last error: HTTP 500`,
  });
  expect(entryOf({ ...open, unconfirmed: 2 })).toMatchObject({
    action: 'stop unconfirmed',
    detail: `${USED}; acknowledged 2 times without effect`,
  });
  expect(entryOf({ ...open, unconfirmed: 3, lastError: 'HTTP 500' })).toEqual({
    at: new Date(1_000),
    action: 'stop unconfirmed',
    detail: `${USED}; acknowledged 3 times without effect; last error: HTTP 500`,
  });
});

it.each<[RunsOver, RegExp]>([
  [{ why: 'over_running', stop: null }, /no stop is open \(over_running\): its next poll decides about it$/],
  [
    { why: 'over_running', stop: 'requested' },
    /\(over_running\): its stop was claimed and is not acknowledged/,
  ],
  [{ why: 'over_running', stop: 'done' }, /\(over_running\): it was stopped in the month and runs again/],
  [{ why: 'spared', stop: 'dismissed' }, /runs: its stop was dismissed, so it is spared/],
  [{ why: 'spared', stop: 'resumed' }, /runs: it was resumed after its stop, so it is spared/],
])('says why a card over its package runs: %o', (runs, words) => {
  expect(runsOverWords(runs)).toEqual([expect.stringMatching(words)]);
  expect(runsOverWords(null)).toEqual([]);
});
