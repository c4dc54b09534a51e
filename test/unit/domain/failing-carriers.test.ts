import { describe, expect, it } from 'vitest';
import { failingCarriersOf } from '../../../src/domain/failing-carriers.ts';

const carriers = (...all: ReadonlyArray<[carrierId: number, polls: number, failed: number]>) =>
  new Map(all.map(([carrierId, polls, failed]) => [carrierId, { polls, failed }]));

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
