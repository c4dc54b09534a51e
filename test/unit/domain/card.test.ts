import { expect, it } from 'vitest';
import { type Card, isOverPackage } from '../../../src/domain/card.ts';

const USAGE = { month: '2026-11', usedMb: 51, lastReadingMb: 51, suspectedMb: null, readAtMs: 1 };
const CARD: Card = {
  cardId: 1,
  iccid: '898600000000000001',
  carrierId: 1,
  status: 1,
  realNameVerified: true,
  stopped: false,
  allowanceMb: 50,
  usage: USAGE,
};

it.each<[string, Partial<Card>, boolean]>([
  ['over', {}, true],
  ['at its allowance', { allowanceMb: 51 }, false],
  ['without a limit', { allowanceMb: null }, false],
  ['never read', { usage: null }, false],
  ['stopped already', { stopped: true }, false],
  ['in doubt', { usage: { ...USAGE, suspectedMb: 2 } }, false],
])('a card that is %s', (_, differing, isOver) => {
  expect(isOverPackage({ ...CARD, ...differing })).toBe(isOver);
});
