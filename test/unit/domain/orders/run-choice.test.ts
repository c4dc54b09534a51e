// Which cards a run resumes. The walk over stops itself is in test/contract/record-store/resumes.test.ts.
import { describe, expect, it } from 'vitest';
import {
  type Candidate,
  isChosen,
  type PastStop,
  type RunChoice,
} from '../../../../src/domain/orders/run-choice.ts';

const ORDERED_AT = 1_000;
const ANY: RunChoice = { orderedAt: ORDERED_AT, carrierId: null, month: null };
const CARD = { iccid: 'sim', stopped: true, carrierId: 7 };
const DONE: PastStop = {
  ...{ month: '2026-11', state: 'done', authority: null, iccid: 'sim' },
  ...{ requestedAt: ORDERED_AT - 1, isClaimed: false, unresolved: false },
};

function met(stop: Partial<PastStop>, others: Partial<Candidate> = {}): Candidate {
  const of = { card: CARD, waitsInRun: false, isListed: false, laterStops: null };
  return { ...of, stop: { ...DONE, ...stop }, ...others };
}

function listed(newest: Partial<PastStop> | null): Candidate {
  return { ...met(newest ?? {}), isListed: true, ...(newest === null ? { stop: null } : {}) };
}

describe('a run over stops', () => {
  const called = { state: 'requested', isClaimed: true } as const;
  const runs = { card: { ...CARD, stopped: false } };
  const december = { ...DONE, month: '2026-12' };
  it.each<[string, Candidate, RunChoice, boolean]>([
    ['a card that cardpoll stopped', met({}), ANY, true],
    ['one whose held stop an operator released', met({ authority: 'released' }), ANY, true],
    ['one that an operator had stopped', met({ authority: 'operator' }), ANY, false],
    ['one that runs again', met({}, runs), ANY, false],
    ['one that runs, and whose stop was called', met(called, runs), ANY, true],
    ['one whose call was lost', met({ state: 'requested', unresolved: true }, runs), ANY, true],
    ['one whose stop waits for its call', met({ state: 'requested' }), ANY, false],
    ['one whose stop is held', met({ state: 'held' }), ANY, false],
    ['one that was resumed', met({ state: 'resumed' }), ANY, false],
    ['one that has another SIM', met({ iccid: 'former' }), ANY, false],
    ['one that is not known', met({}, { card: null }), ANY, false],
    ['one that waits in a run', met({}, { waitsInRun: true }), ANY, false],
    ['one that was stopped after the order', met({ requestedAt: ORDERED_AT }), ANY, false],
    ['one of the carrier', met({}), { ...ANY, carrierId: 7 }, true],
    ['one of another carrier', met({}), { ...ANY, carrierId: 8 }, false],
    ['a stop before that of a later month', met({}, { laterStops: [december] }), ANY, false],
    [
      'a stop of the month that ended, before one of a later month',
      met({}, { laterStops: [december] }),
      { ...ANY, month: '2026-11' },
      true,
    ],
    ['a stop of another month than the one that ended', met({}), { ...ANY, month: '2026-10' }, false],
  ])('meets %s', (_, candidate, choice, expected) => {
    expect(isChosen(candidate, choice)).toBe(expected);
  });
});

describe('a run of a list', () => {
  const later = { authority: 'operator', requestedAt: ORDERED_AT } as const;
  it.each<[string, Candidate, boolean]>([
    ['a card without a stop', listed(null), true],
    ['one of another carrier and with another SIM', listed({ iccid: 'former' }), true],
    ['one that an operator stopped before', listed({ authority: 'operator' }), true],
    ['one that an operator stopped after the order', listed(later), false],
    ['one whose stop an operator ordered after it', listed({ ...later, state: 'requested' }), false],
    [
      'one that an operator stopped after it, and that was resumed',
      listed({ ...later, state: 'resumed' }),
      true,
    ],
    ['one that cardpoll stopped after it', listed({ requestedAt: ORDERED_AT }), true],
  ])('has %s', (_, candidate, expected) => {
    expect(isChosen(candidate, { ...ANY, carrierId: 8 })).toBe(expected);
  });
});
