import { expect, it } from 'vitest';
import { turnsOf } from '../../support/turns.ts';

const CARDS = Array.from({ length: 100 }, (_, i) => `card ${i}`);
const REVOLUTION = [...CARDS.slice(60), ...CARDS.slice(0, 60)];
const without = (card: string) => REVOLUTION.filter((other) => other !== card);

it('finds nothing where every card has its turn, wherever the record begins and ends', () => {
  const calls = [...REVOLUTION, ...REVOLUTION, ...REVOLUTION.slice(0, 33)];
  expect(turnsOf(CARDS, calls)).toEqual({ missed: [], doubled: [] });
});

it('finds the card that was left out, also in the last revolution and in all of them', () => {
  const missed = { missed: ['card 7'], doubled: [] };
  expect(turnsOf(CARDS, [...REVOLUTION, ...without('card 7'), ...REVOLUTION])).toEqual(missed);
  expect(turnsOf(CARDS, [...REVOLUTION, ...without('card 7'), ...without('card 7')])).toEqual(missed);
  expect(turnsOf(CARDS, [...without('card 7'), ...without('card 7')])).toEqual(missed);
});

it('finds the card that was asked about twice in one turn', () => {
  const calls = [...REVOLUTION, 'card 7', ...REVOLUTION];
  expect(turnsOf(CARDS, calls)).toEqual({ missed: [], doubled: ['card 7'] });
});
