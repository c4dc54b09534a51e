import { describe, expect, it } from 'vitest';
import {
  carrierWords,
  failingCarriersOf,
  outlyingCarriersOf,
  slowCarriersOf,
  sumOfCarriers,
} from '../../../../src/domain/results/carrier-polls.ts';

const carriers = (...all: ReadonlyArray<[carrierId: number, polls: number, failed: number]>) =>
  new Map(all.map(([carrierId, polls, failed]) => [carrierId, { polls, failed }]));

it('adds up by carrier', () => {
  const first = carriers([7, 10, 3], [0, 1, 0]);
  const second = carriers([7, 5, 1], [-2, 4, 4]);
  expect(sumOfCarriers([first, second])).toEqual(carriers([7, 15, 4], [0, 1, 0], [-2, 4, 4]));
  expect(first, 'what was added is left as it was').toEqual(carriers([7, 10, 3], [0, 1, 0]));
  expect(sumOfCarriers([])).toEqual(new Map());
});

it('adds up how long the succeeded polls took, where that was counted', () => {
  const [timed, untimed] = [new Map([[7, { polls: 2, failed: 1, succeededMs: 40 }]]), carriers([7, 5, 0])];
  expect(sumOfCarriers([timed, untimed, timed])).toEqual(
    new Map([[7, { polls: 9, failed: 2, succeededMs: 80 }]]),
  );
});

it('names the first carriers, and counts on for these', () => {
  const first = carriers([7, 10, 3], [8, 1, 0]);
  const second = carriers([9, 5, 5], [7, 5, 1]);
  expect(sumOfCarriers([first, second], 2)).toEqual(carriers([7, 15, 4], [8, 1, 0]));
});

describe('failing carriers', () => {
  it('are those with failures, with their share', () => {
    expect(failingCarriersOf(carriers([1, 10, 0], [-7, 200, 5]))).toEqual([
      { carrierId: -7, polls: 200, failed: 5, failedPercent: 2.5 },
    ]);
  });

  it('begin with the highest share, then the most failures, and end with those of few polls', () => {
    const all = carriers([1, 19, 19], [2, 20, 1], [3, 5, 4], [5, 100, 50], [4, 100, 50], [6, 200, 100]);
    expect(failingCarriersOf(all).map(({ carrierId }) => carrierId)).toEqual([6, 4, 5, 2, 1, 3]);
  });
});

describe('outlying carriers', () => {
  /** Carrier 7 beside a rest of the fleet; what is not counted by name is in the sums alone. */
  const named = (own: [polls: number, failed: number], rest: [polls: number, failed: number]) =>
    outlyingCarriersOf({
      succeeded: own[0] - own[1] + rest[0] - rest[1],
      failed: own[1] + rest[1],
      carriers: carriers([7, ...own]),
    }).map(({ carrierId }) => carrierId);

  it.each<[string, [number, number], [number, number], number[]]>([
    ['has twenty polls', [20, 20], [1_000, 0], [7]],
    ['has fewer polls', [19, 19], [1_000, 0], []],
    ['fails by a fifth', [100, 20], [1_000, 0], [7]],
    ['fails by less than a fifth', [1_000, 199], [1_000, 0], []],
    ['has twice the share of the rest', [100, 40], [1_000, 200], [7]],
    ['has less than twice the share of the rest', [100, 40], [1_000, 201], []],
    ['fails as all do', [100, 96], [1_000, 960], []],
    ['has nearly all polls', [10_000, 3_000], [10, 1], [7]],
    ['has all polls, so that there is no rest', [1_000, 960], [0, 0], []],
    ['never fails', [1_000, 0], [1_000, 0], []],
  ])('one that %s', (_, own, rest, expected) => {
    expect(named(own, rest)).toEqual(expected);
  });

  it('may be several, the worst first', () => {
    const all = carriers([1, 1_000, 5], [2, 100, 50], [3, 100, 96], [4, 1_000, 10]);
    expect(outlyingCarriersOf({ succeeded: 2_039, failed: 161, carriers: all })).toEqual([
      { carrierId: 3, polls: 100, failed: 96, failedPercent: 96 },
      { carrierId: 2, polls: 100, failed: 50, failedPercent: 50 },
    ]);
  });

  it('have a tenth of a percent, rounded down', () => {
    const [one] = failingCarriersOf(carriers([-7, 1_000_000, 999_600]));
    expect(one && carrierWords(one)).toBe('carrier -7: 99.9 % of the polls fail');
  });
});

describe('slow carriers', () => {
  const USUAL = { p50Ms: 20, meanMs: 20, seconds: 600 };
  /** [carrier, succeeded polls, mean of these]. */
  const slow = (
    all: ReadonlyArray<readonly [carrierId: number, polls: number, meanMs: number]>,
    usual: Parameters<typeof slowCarriersOf>[1] = USUAL,
  ) =>
    slowCarriersOf(
      {
        succeeded: all.reduce((sum, [, polls]) => sum + polls, 0),
        succeededMs: all.reduce((sum, [, polls, meanMs]) => sum + polls * meanMs, 0),
        carriers: new Map(
          all.map(([carrierId, polls, meanMs]) => [
            carrierId,
            { polls: polls + 3, failed: 3, succeededMs: polls * meanMs },
          ]),
        ),
      },
      usual,
    ).map(({ carrierId }) => carrierId);

  it.each<[string, ReadonlyArray<readonly [number, number, number]>, number[]]>([
    [
      'takes three times as long as usual, and 50 ms longer',
      [
        [2, 20, 70],
        [3, 100, 20],
      ],
      [2],
    ],
    [
      'takes less',
      [
        [2, 20, 69],
        [3, 100, 20],
      ],
      [],
    ],
    [
      'has fewer than twenty polls',
      [
        [2, 19, 3_000],
        [3, 100, 20],
      ],
      [],
    ],
    [
      'is slow where the others are, too',
      [
        [2, 100, 3_000],
        [3, 100, 30],
      ],
      [],
    ],
    [
      'is slow where the others have too few polls',
      [
        [2, 100, 3_000],
        [3, 19, 20],
      ],
      [],
    ],
    ['has all polls', [[2, 100, 3_000]], []],
    [
      'is the slowest of several',
      [
        [2, 100, 300],
        [3, 100, 20],
        [4, 50, 900],
      ],
      [4, 2],
    ],
  ])('one that %s', (_, all, expected) => {
    expect(slow(all)).toEqual(expected);
  });

  it('are none while it is not known what is usual', () => {
    const all = [
      [2, 20, 3_000],
      [3, 100, 20],
    ] as const;
    expect(slow(all, null)).toEqual([]);
    expect(slow(all, { ...USUAL, seconds: 14 })).toEqual([]);
  });

  it('are none where an older version counted, which kept no durations by carrier', () => {
    const counted = { succeeded: 200, succeededMs: 100_000, carriers: carriers([2, 100, 0], [3, 100, 0]) };
    expect(slowCarriersOf(counted, USUAL)).toEqual([]);
  });
});
