import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { TASK_TYPES } from '../../../../../src/domain/task-type.ts';
import { outcomeRounds, WRITE_COLUMNS } from '../../../../../src/store/sql/results/results.ts';

function usage(usedMb: number, readAtMs: number, basedOnReadAtMs: number | null, month = '2026-11') {
  return {
    next: { month, usedMb, lastReadingMb: usedMb, suspectedMb: null, jump: null, readAtMs },
    basedOnReadAtMs,
  };
}

/** Task types these tests have no outcome of. */
const OTHERS = TASK_TYPES.slice(3);

describe('outcomeRounds', () => {
  it('makes one row a card, in card order, of everything a batch says about it', () => {
    const [round, ...more] = outcomeRounds([
      { cardId: 9, taskType: 'carddata', polledAtMs: 30, usage: usage(1.5, 30, null) },
      { cardId: 2, taskType: 'realname', polledAtMs: 20, realNameVerified: true },
      { cardId: 9, taskType: 'package', polledAtMs: 31, stopped: true },
      { cardId: 2, taskType: 'realname', polledAtMs: 10, realNameVerified: false },
    ]);
    expect(more).toEqual([]);
    expect(round).toEqual([
      [2, 9],
      [null, null],
      [true, null],
      [null, true],
      [9],
      [null],
      ['2026-11-01'],
      [1.5],
      [1.5],
      [null],
      [null],
      [null],
      [null],
      [30],
      [null],
      [2, 9],
      [null, null],
      [20, null],
      [null, 30],
      [null, 31],
      ...OTHERS.map(() => [null, null]),
    ]);
  });

  it('puts further readings of a card into rounds of their own, in the order they were taken', () => {
    const rounds = outcomeRounds([
      { cardId: 1, taskType: 'carddata', polledAtMs: 20, usage: usage(2, 20, 10, '2026-12') },
      { cardId: 1, taskType: 'carddata', polledAtMs: 10, usage: usage(1, 10, null) },
      { cardId: 2, taskType: 'carddata', polledAtMs: 10, usage: usage(5, 10, null) },
    ]);
    expect(rounds.map((round) => round[4])).toEqual([[1, 2], [1]]);
    expect(rounds.map((round) => round[13])).toEqual([[10, 10], [20]]);
    expect(rounds[1]?.slice(0, 4)).toEqual([[], [], [], []]);
    expect(rounds[1]?.slice(15)).toEqual([[], [], ...TASK_TYPES.map(() => [])]);
  });

  it('makes a round of nothing', () => {
    expect(outcomeRounds([])).toEqual([WRITE_COLUMNS.map(() => [])]);
  });

  it('gives the statement what it takes, in its order', () => {
    const file = readFileSync(
      new URL('../../../../../src/store/sql/results/results.sql', import.meta.url),
      'utf8',
    );
    const write = file.slice(file.indexOf('results.write'), file.indexOf('results.latestReading'));
    const taken: string[] = [];
    for (const [, params = '', names = ''] of write.matchAll(/unnest\(([^)]*)\)\s+AS \w \(([^)]*)\)/g)) {
      const columns = names.split(', ');
      for (const [i, param] of params.split(/,\s+/).entries()) {
        taken[Number(/^\$(\d+)::/.exec(param)?.[1]) - 1] = columns[i] as string;
      }
    }
    expect(WRITE_COLUMNS).toEqual(taken);
  });
});
