// What is put into force, for every combination of what is of record and what the live store has.
import { describe, expect, it } from 'vitest';
import {
  missingInForce,
  type PauseOfRecord,
  type RecordedLimits,
  type SeenInForce,
} from '../../../../src/domain/limits/in-force.ts';
import { sum } from '../../../../src/domain/numbers.ts';
import { perTaskType, TASK_TYPES } from '../../../../src/domain/task-type.ts';

const PAUSE: PauseOfRecord = { id: '7', lastsMs: 600_000, leftMs: 60_000, reason: 'maintenance', by: 'ann' };
const RECORD: RecordedLimits = { maxConcurrency: 5, pause: null };
const IN_FORCE: SeenInForce = { isInForce: true, maxConcurrency: 5, leaderLimit: null, held: 0, pause: null };

/** What is missing of one task type while the others are as they should be. */
function missing(record: Partial<RecordedLimits>, seen: Partial<SeenInForce>) {
  const all = missingInForce(
    { ...perTaskType(() => RECORD), realname: { ...RECORD, ...record } },
    { ...perTaskType(() => IN_FORCE), realname: { ...IN_FORCE, ...seen } },
    null,
  );
  expect([all.carddata, all.package]).toEqual([null, null]);
  return all.realname;
}

it('nothing is missing where the live store has what is of record', () => {
  expect(missing({}, {})).toBeNull();
  expect(missing({ pause: PAUSE }, { pause: { id: PAUSE.id } })).toBeNull();
  expect(missing({}, { leaderLimit: 3 })).toBeNull();
});

it.each([null, 1, 40, 100_000])('the limit of record is put in where the live store has %j', (present) => {
  expect(missing({}, { maxConcurrency: present })).toEqual({
    maxConcurrency: 5,
    leaderLimit: null,
    pause: 'kept',
  });
});

it('all is put in at the begin of another life of the live store, also what it has already', () => {
  expect(missing({}, { isInForce: false, leaderLimit: 3 })).toEqual({
    maxConcurrency: 5,
    leaderLimit: 3,
    pause: 'kept',
  });
});

describe('a pause', () => {
  const OTHER = { id: '6' };
  const OF_OLD_RELEASE = { id: null };
  it.each<[string, PauseOfRecord | null, SeenInForce['pause'], unknown]>([
    ['that was lost is put in', PAUSE, null, PAUSE],
    ['that was replaced is put in for the former one', PAUSE, OTHER, PAUSE],
    ['takes the place of one that an older release set', PAUSE, OF_OLD_RELEASE, PAUSE],
    ['that was ended ends', null, OTHER, 'ended'],
    ['of an older release, which keeps no record, goes on', null, OF_OLD_RELEASE, null],
    ['that is nearly over is not put in again', { ...PAUSE, leftMs: 9_999 }, null, null],
    [
      'that is nearly over replaces a former one all the same',
      { ...PAUSE, leftMs: 9_999 },
      OTHER,
      { id: '7' },
    ],
  ])('%s', (_, pause, present, wanted) => {
    const found = missing({ pause }, { pause: present });
    if (wanted === null) expect(found).toBeNull();
    else if (typeof wanted === 'string') expect(found?.pause).toBe(wanted);
    else expect(found?.pause).toMatchObject(wanted as object);
  });
});

describe('a ceiling', () => {
  const shares = (ceiling: number, seen: (i: number) => Partial<SeenInForce>) => {
    const record = perTaskType(() => ({ ...RECORD, maxConcurrency: 500 }));
    const present = Object.fromEntries(
      TASK_TYPES.map((type, i) => [type, { ...IN_FORCE, maxConcurrency: 500, ...seen(i) }]),
    ) as ReturnType<typeof perTaskType<SeenInForce>>;
    const found = missingInForce(record, present, ceiling);
    return TASK_TYPES.map((type) => found[type]?.leaderLimit ?? present[type].leaderLimit);
  };

  it.each([
    [31, 10],
    [2, 1],
  ])('a ceiling of %i gives each type %i until the leader divides it by need', (ceiling, share) => {
    expect(shares(ceiling, () => ({ leaderLimit: null }))).toEqual(TASK_TYPES.map(() => share));
  });

  it('gives a type in another life of the store what its calls take, and at most an equal part', () => {
    const lost = (held: readonly number[]) => (i: number) => ({ isInForce: false, held: held[i] ?? 0 });
    expect(shares(9, lost([0, 1, 6]))).toEqual([0, 1, 3]);
    expect(shares(2, lost([0, 0, 2])), 'a ceiling below the number of types').toEqual([1, 1, 1]);
  });

  it('leaves a type out of account that is in another life and calls nothing', () => {
    const seen = [{ leaderLimit: 20 }, { isInForce: false, leaderLimit: 30 }, { leaderLimit: 10 }];
    expect(shares(30, (i) => seen[i] ?? {})).toEqual([20, 0, 10]);
  });

  it('leaves the shares alone that the leader divided', () => {
    expect(shares(30, (i) => ({ leaderLimit: [20, 6, 4][i] ?? 0 }))).toEqual([20, 6, 4]);
  });

  it('lowers what a leader with a higher one left', () => {
    expect(shares(30, (i) => ({ leaderLimit: [30, 30, 5][i] ?? 0 }))).toEqual([10, 10, 5]);
  });

  it('is kept in every combination of lives and shares', () => {
    const values = [null, 1, 9, 10, 11, 30];
    for (const a of values)
      for (const b of values)
        for (const c of values)
          for (const lives of [0, 1, 2, 7]) {
            const given = shares(30, (i) => ({
              isInForce: (lives & (1 << i)) === 0,
              leaderLimit: [a, b, c][i] ?? null,
            }));
            expect(
              sum(given.map((one) => one ?? Number.POSITIVE_INFINITY)),
              String(given),
            ).toBeLessThanOrEqual(30);
          }
  });
});
