import { describe, expect, it } from 'vitest';
import { outcomeRounds } from '../../../../../src/store/sql/results/outcome-batch.ts';

function usage(usedMb: number, readAtMs: number, basedOnReadAtMs: number | null, month = '2026-11') {
  return { next: { month, usedMb, lastReadingMb: usedMb, suspectedMb: null, readAtMs }, basedOnReadAtMs };
}

describe('outcomeRounds', () => {
  it('makes one row a card, in card order, of everything a batch says about it', () => {
    const [round, ...more] = outcomeRounds([
      { cardId: 9, taskType: 'carddata', polledAtMs: 30, usage: usage(1.5, 30, null) },
      { cardId: 2, taskType: 'realname', polledAtMs: 20, realNameVerified: true },
      { cardId: 9, taskType: 'package', polledAtMs: 31, stopped: true },
      { cardId: 2, taskType: 'realname', polledAtMs: 10, realNameVerified: false },
    ]);
    expect(more).toEqual([]);
    expect(round).toEqual({
      params: [
        [2, 9],
        [true, null],
        [null, true],
        [9],
        ['2026-11-01'],
        [1.5],
        [1.5],
        [null],
        [30],
        [null],
        [2, 9],
        [20, null],
        [null, 30],
        [null, 31],
      ],
    });
  });

  it('puts further readings of a card into rounds of their own, in the order they were taken', () => {
    const rounds = outcomeRounds([
      { cardId: 1, taskType: 'carddata', polledAtMs: 20, usage: usage(2, 20, 10, '2026-12') },
      { cardId: 1, taskType: 'carddata', polledAtMs: 10, usage: usage(1, 10, null) },
      { cardId: 2, taskType: 'carddata', polledAtMs: 10, usage: usage(5, 10, null) },
    ]);
    expect(rounds.map((round) => round.params[3])).toEqual([[1, 2], [1]]);
    expect(rounds.map((round) => round.params[8])).toEqual([[10, 10], [20]]);
    expect(rounds[1]?.params.slice(0, 3)).toEqual([[], [], []]);
    expect(rounds[1]?.params.slice(10)).toEqual([[], [], [], []]);
  });

  it('makes a round of nothing', () => {
    expect(outcomeRounds([])).toEqual([{ params: Array.from({ length: 14 }, () => []) }]);
  });
});
