// The second witness of a jump: whether most cards that went over their package show the same factor, difference or value; and how many
// step over it at a time.
import { describe, expect, it } from 'vitest';
import {
  callsLeft,
  compareReadings,
  fleetLevelOf,
  type OverCard,
  type ReadingPace,
  type SteppedCard,
} from '../../../../src/domain/results/fleet-level.ts';

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

describe('cards that go over their package', () => {
  /** One after the other, the latest first. */
  const over = (
    cards: number,
    everyMs: number,
    after: (mb: number, i: number) => number,
    carrierId = 1,
  ): OverCard[] =>
    shown(after, cards).map((card, i) => ({ ...card, carrierId, requestedAtMs: -everyMs * i, waits: true }));
  const eightfold = (mb: number) => 8 * mb;
  const upload = (mb: number, i: number) => mb + 300 + ((i * 7_919) % 500);
  const pace = (ofFleet: number, ...ofCarriers: number[]): ReadingPace => ({
    ofFleet,
    ofCarriers: new Map((ofCarriers.length === 0 ? [ofFleet] : ofCarriers).map((each, i) => [i + 1, each])),
  });

  it.each<[string, OverCard[], ReadingPace, object]>([
    ['few at once', over(20, 10, eightfold), pace(60), { level: 'calm' }],
    [
      'all of those that are read, alike',
      over(21, 17, eightfold),
      pace(60),
      { level: 'step', carrierId: null },
    ],
    [
      'a tenth of those that are read, alike',
      over(60, 160, eightfold),
      pace(60),
      { level: 'step', carrierId: null },
    ],
    ['one in 60 that are read, alike', over(200, 1_000, eightfold), pace(60), { level: 'calm' }],
    [
      'all, and a card a second after them',
      [
        ...over(15, 1_000, upload),
        ...over(40, 17, eightfold).map((card) => ({ ...card, requestedAtMs: card.requestedAtMs - 15_000 })),
      ],
      pace(60),
      { level: 'step' },
    ],
    ['many, by what each has', over(57, 17, upload), pace(60), { level: 'many' }],
    [
      'many, each by its whole life',
      over(57, 17, (mb, i) => mb + 2_000 + ((i * 104_729) % 60_000)),
      pace(60),
      { level: 'many' },
    ],
    [
      'many, by their first reading',
      over(57, 17, eightfold).map((card) => ({ ...card, beforeMb: null })),
      pace(60),
      { level: 'calm' },
    ],
    ['many, although their counters fell', over(57, 17, (mb) => mb / 8), pace(60), { level: 'calm' }],
    [
      'those of a small carrier, alike',
      over(30, 500, eightfold, 2),
      pace(60, 58, 2),
      { level: 'step', carrierId: 2 },
    ],
    [
      'those of a small carrier, by what each has',
      over(30, 500, upload, 2),
      pace(60, 58, 2),
      { level: 'many' },
    ],
    [
      'the first of a large carrier, alike: whether others step is not known yet',
      over(30, 17, eightfold),
      pace(60, 57, 3),
      { level: 'step', carrierId: null },
    ],
    [
      'those of a large carrier, alike, while enough of the others were read that do not step',
      over(120, 17, eightfold),
      pace(60, 57, 3),
      { level: 'step', carrierId: 1 },
    ],
    [
      'those of a large carrier, alike, and as many of a small one as are read',
      [...over(120, 17, eightfold), ...over(6, 350, eightfold, 2)],
      pace(60, 57, 3),
      { level: 'step', carrierId: null },
    ],
    [
      'those of two carriers, alike',
      [...over(30, 17, eightfold), ...over(30, 17, eightfold, 2)],
      pace(60, 30, 30),
      { level: 'step', carrierId: null },
    ],
    [
      'those of a carrier that is not counted',
      over(30, 500, eightfold, 3),
      pace(60, 58, 2),
      { level: 'step', carrierId: 3 },
    ],
  ])('%s', (_, sample, read, expected) => {
    expect(compareReadings(sample, read)).toMatchObject(expected);
  });

  it('a step has the factor of the card in the middle', () => {
    expect(compareReadings(over(50, 17, eightfold), pace(60))).toMatchObject({
      factor: expect.closeTo(8, 1),
    });
  });

  it('those that wait are called when they were compared, and the first few of a step count', () => {
    expect(callsLeft([], 20)).toBe(20);
    const called = (cards: OverCard[]) => cards.map((card) => ({ ...card, waits: false }));
    expect(callsLeft(called(over(12, 10, eightfold)), 20)).toBe(8);
    expect(callsLeft(called(over(200, 1_000, upload)), 20)).toBe(20);
    expect(callsLeft(over(200, 1_000, upload), 20)).toBe(220);
    expect(
      callsLeft(
        called(over(57, 17, upload)).map((card) => ({ ...card, beforeMb: null })),
        20,
      ),
    ).toBe(20);
  });
});
