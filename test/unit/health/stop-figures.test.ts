import { describe, expect, it } from 'vitest';
import { type StopFigures, stopReasons } from '../../../src/health/stop-figures.ts';
import { CALM_STOPS } from '../../support/stop-figures.ts';

const JUMP = {
  carrierId: null,
  isStep: false,
  sinceMs: 1_000,
  factor: 1_024.4,
  baselineMbPerHour: 0.0524,
  recentMbPerHour: 51.2,
  acceptedAtMs: null,
};

const reasons = (over: Partial<StopFigures>) => stopReasons({ ...CALM_STOPS, ...over });

it('a fleet without stops that wait has none, nor has one whose stops are not known', () => {
  expect(reasons({})).toEqual([]);
  expect(reasons({ mode: 'observe', observed: 28, doneHour: 100 })).toEqual([]);
  expect(stopReasons(null)).toEqual([]);
});

describe('held stops are a warning, with the reason', () => {
  it.each<[string, Partial<StopFigures>, string]>([
    [
      'the budget of the hour',
      { held: 28, heldUntilMs: Date.parse('2026-11-27T14:05:31Z'), doneHour: 100 },
      '28 stops are held: the stop budget is used up (100 of 100 in the last hour); 28 are judged again, each by its next reading (the first from 2026-11-27T14:05Z on)',
    ],
    [
      'both budgets, exceeded by released stops',
      { held: 1_200, heldForOperator: 1_199, heldUntilMs: 0, doneHour: 1_000, doneDay: 1_000 },
      '1,200 stops are held: the stop budget is used up (1,000 of 100 in the last hour, 1,000 of 500 in the last day); 1 is judged again, each by its next reading (the first from 1970-01-01T00:00Z on); 1,199 wait until an operator decides: release or dismiss them',
    ],
    [
      'a budget of zero',
      { held: 1, heldUntilMs: 1, doneHour: 0, budgetHour: 0 },
      '1 stop is held: the stop budget is used up (0 of 0 in the last hour); 1 waits until an operator decides: release or dismiss it',
    ],
    [
      'a budget that is free again',
      { held: 2, heldForOperator: 2, doneHour: 99, budgetDay: null },
      '2 stops are held: the cause is over; 2 wait until an operator decides: release or dismiss them',
    ],
    [
      'a jump that is over',
      { held: 47 },
      '47 stops are held: the cause is over; 47 are judged again, each by its next reading',
    ],
    [
      'an accepted jump, without a budget',
      { held: 1, budgetHour: null, budgetDay: null, jump: { ...JUMP, acceptedAtMs: 1 } },
      '1 stop is held: the cause is over; 1 is judged again, each by a reading after the jump',
    ],
    [
      'a jump',
      { held: 2, doneHour: 100, jump: JUMP },
      '2 stops are held: the readings of the fleet jumped; 2 are judged again, each by a reading after the jump',
    ],
    [
      'in mode observe, which refuses a release',
      { held: 1, heldForOperator: 1, mode: 'observe' },
      '1 stop is held: the cause is over; 1 waits until an operator decides: dismiss it, or release it in mode enforce',
    ],
    [
      'as many as are counted',
      { held: 100_000 },
      'at least 100,000 stops are held: the cause is over; at least 100,000 are judged again, each by its next reading',
    ],
  ])('%s', (_, figures, text) => {
    expect(reasons(figures)).toContainEqual({
      code: 'stops_held',
      severity: 'warning',
      text,
      command: 'cardpoll stops list --state held',
    });
  });
});

it.each([
  [1, 'the gateway acknowledged the stop of 1 card but did not stop it'],
  [1_200, 'the gateway acknowledged the stop of 1,200 cards but did not stop them'],
  [10_000, 'the gateway acknowledged the stop of at least 10,000 cards but did not stop them'],
])('%i stops without effect are a warning', (unconfirmed, text) => {
  expect(reasons({ unconfirmed })).toMatchObject([{ code: 'stop_unconfirmed', severity: 'warning', text }]);
});

describe('a jump of the readings', () => {
  it('is an alert, with its factor and its start, and comes first', () => {
    expect(reasons({ jump: JUMP, held: 2 })[0]).toEqual({
      code: 'usage_jump',
      severity: 'alert',
      text:
        'the readings of the fleet grow 1,024 times as fast as before (51 instead of 0.052 MB an hour): ' +
        'all stops are held; look whether the readings are right, then accept them with cardpoll stops mode enforce',
      command: 'cardpoll stops list --state held',
      sinceMs: 1_000,
    });
  });

  it('holds nothing in mode observe', () => {
    expect(reasons({ jump: JUMP, mode: 'observe' })[0]?.text).toContain('stops are only observed');
  });

  it('a jump that an operator accepted is no jump', () => {
    expect(reasons({ jump: { ...JUMP, acceptedAtMs: 2_000 } })).toEqual([]);
    expect(reasons({ jump: { ...JUMP, isStep: true } })[0]?.text).toMatch(
      /^the readings of most cards over their package have stepped by the same factor.*all stops are held/,
    );
  });
});

it('says how many cards are cut off within their package, and what resumes them', () => {
  const within = (count: number) => reasons({ stoppedWithin: { count, atMs: 1, cardIds: [7] } });
  expect(within(0)).toEqual([]);
  expect(reasons({ stoppedWithin: null }), 'no walk has ended').toEqual([]);
  expect(within(1)).toEqual([
    {
      code: 'stopped_within',
      severity: 'warning',
      text: '1 card is stopped although it is within the package: cardpoll stopped it for more usage than the package had then',
      command: "cardpoll stops resume --within --reason 'within the package'",
    },
  ]);
  expect(within(10_000)[0]?.text).toMatch(/^at least 10,000 cards are stopped although they are within/);
});
