// The second witness of a jump: whether most cards that went over their package show the same factor, difference or value.
import { expect, it } from 'vitest';
import { fleetLevelOf, type SteppedCard } from '../../../../src/domain/results/fleet-level.ts';

const CARDS = 60;

/** Cards that had used 40 to 140 MB, by what they show after it; a little growth comes with it. */
function shown(after: (beforeMb: number, cardId: number) => number, cards = CARDS): SteppedCard[] {
  return Array.from({ length: cards }, (_, cardId) => {
    const beforeMb = 40 + ((cardId * 37) % 101);
    return { beforeMb, shownMb: after(beforeMb, cardId) + (cardId % 10) / 10 };
  });
}

it.each<[string, (beforeMb: number) => number]>([
  ...[1.8, 2, 4, 8, 10, 16, 20, 1_024].map((factor): [string, (mb: number) => number] => [
    `${factor} times as much`,
    (mb) => factor * mb,
  ]),
  ...[900, 4_000].map((more): [string, (mb: number) => number] => [`${more} MB more`, (mb) => mb + more]),
  ["a pool's total", () => 88_000],
])('a gateway that shows %s is on another level', (_, after) => {
  expect(fleetLevelOf(shown(after))).toBe('step');
});

it.each<[string, SteppedCard[]]>([
  ['by what each has', shown((mb, cardId) => mb + 300 + ((cardId * 7_919) % 500))],
  ['without steps', shown((mb) => 8 * mb).map((card) => ({ ...card, beforeMb: null }))],
  [
    'of which a third are on another level',
    [...shown((mb) => 8 * mb, 20), ...shown((mb, cardId) => mb + 300 + ((cardId * 7_919) % 500), 40)],
  ],
])('meters that upload together %s are not', (_, sample) => {
  expect(fleetLevelOf(sample)).toBe('spread');
});

it('few cards that went over say nothing about the fleet', () => {
  expect(fleetLevelOf([])).toBe('few');
  expect(fleetLevelOf(shown((mb) => 8 * mb, 20))).toBe('few');
  expect(fleetLevelOf(shown((mb) => 8 * mb, 21))).toBe('step');
});
