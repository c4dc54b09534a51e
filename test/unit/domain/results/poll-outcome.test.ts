import { expect, it } from 'vitest';
import { isChange, type PollOutcome } from '../../../../src/domain/results/poll-outcome.ts';

const POLLED: PollOutcome = { cardId: 7, taskType: 'realname', polledAtMs: 1 };
const NEXT = { month: '2026-11', usedMb: 1, lastReadingMb: 1, suspectedMb: null, jump: null, readAtMs: 1 };

it.each<[string, Partial<PollOutcome>]>([
  ['verified', { realNameVerified: false }],
  ['stopped', { stopped: false }],
  ['a reading', { usage: { next: NEXT, basedOnReadAtMs: null } }],
])('a poll that changed the card: %s', (_, found) => {
  expect(isChange({ ...POLLED, ...found })).toBe(true);
});

it('a poll that changed nothing', () => {
  expect(isChange(POLLED)).toBe(false);
  expect(isChange({ ...POLLED, overPackage: true })).toBe(false);
});
