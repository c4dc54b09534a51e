import { describe, expect, it } from 'vitest';
import { type StopFigures, stopReasons } from '../../../src/health/stop-figures.ts';
import { inNumbers } from '../../support/judged-facts.ts';
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

describe('held stops are a warning, with the numbers of the reason and of what waits', () => {
  it.each<[string, Partial<StopFigures>, string]>([
    ['the budget of the hour', { held: 28, doneHour: 100 }, '28 100 100 28'],
    [
      'both budgets, exceeded by released stops',
      { held: 1_200, heldForOperator: 1_199, doneHour: 1_000, doneDay: 1_000 },
      '1,200 1,000 100 1,000 500 1 1,199',
    ],
    ['a budget of zero', { held: 1, heldUntilMs: 1, doneHour: 0, budgetHour: 0 }, '1 0 0 1'],
    ['a free budget', { held: 2, heldForOperator: 2, doneHour: 99, budgetDay: null }, '2 2'],
    ['a jump that is over', { held: 47 }, '47 47'],
    ['an accepted jump', { held: 1, budgetHour: null, jump: { ...JUMP, acceptedAtMs: 1 } }, '1 1'],
    ['a jump', { held: 2, doneHour: 100, jump: { ...JUMP, isStep: true } }, '2 2'],
    ['as many as are counted', { held: 100_000 }, '100,000 100,000'],
  ])('%s', (_, figures, numbers) => {
    const held = reasons(figures).filter(({ code }) => code === 'stops_held');
    expect(held.map(inNumbers)).toEqual([`stops_held warning ${numbers}`]);
  });

  it('names the time of the first that is judged again, unless it waits for an operator', () => {
    const at = (over: Partial<StopFigures>) =>
      reasons({ held: 28, heldUntilMs: Date.parse('2026-11-27T14:05:31Z'), ...over })[0]?.text ?? '';
    expect(at({})).toContain('2026-11-27T14:05Z');
    expect(at({ budgetHour: 0 })).not.toContain('2026');
  });

  it('offers no release alone in mode observe, which refuses it', () => {
    const text = (mode: StopFigures['mode']) => reasons({ held: 1, heldForOperator: 1, mode })[0]?.text;
    expect([text('enforce'), text('observe')].map((one) => one?.includes('mode enforce'))).toEqual([
      false,
      true,
    ]);
  });
});

it.each([
  [1, '1'],
  [1_200, '1,200'],
  [9_999, '9,999'],
  [10_000, '10,000'],
])('%i stops without effect are a warning', (unconfirmed, count) => {
  expect(reasons({ unconfirmed }).map(inNumbers)).toEqual([`stop_unconfirmed warning ${count}`]);
});

describe('a jump of the readings', () => {
  it('is an alert, with its factor and its start, and comes first', () => {
    const [first] = reasons({ jump: JUMP, held: 2 });
    expect(first && inNumbers(first)).toBe('usage_jump alert 1,024 51 0.052');
    expect(first).toMatchObject({ command: 'cardpoll stops list --state held', sinceMs: 1_000 });
  });

  it('holds nothing in mode observe', () => {
    const [first] = reasons({ jump: JUMP, mode: 'observe' });
    expect(first?.command).toBe('cardpoll stops list --state observed');
  });

  it('a jump that an operator accepted is no jump', () => {
    expect(reasons({ jump: { ...JUMP, acceptedAtMs: 2_000 } })).toEqual([]);
    expect(reasons({ jump: { ...JUMP, isStep: true } }).map(inNumbers)).toEqual(['usage_jump alert']);
  });
});

it('says how many cards are cut off within their package', () => {
  const within = (count: number) =>
    reasons({ stoppedWithin: { count, atMs: 1, cardIds: [7] } }).map(inNumbers);
  expect(within(0)).toEqual([]);
  expect(reasons({ stoppedWithin: null }), 'no walk has ended').toEqual([]);
  expect(within(1)).toEqual(['stopped_within warning 1']);
  expect(within(10_000)).toEqual(['stopped_within warning 10,000']);
});
