import { expect, it } from 'vitest';
import { ScoreSet } from '../../../../../src/store/memory/work/score-set.ts';
import { firstRows } from '../../../../support/effort.ts';

/** A small generator with a seed, so that a failure can be repeated. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

it.each(firstRows(1, [1, 2, 3, 4, 5]))(
  'behaves like a sorted list whatever is done to it (seed %i)',
  (seed) => {
    const random = randomFrom(seed);
    const set = new ScoreSet<number>();
    const model = new Map<number, number>();
    for (let step = 0; step < 5_000; step += 1) {
      const member = random(200);
      const action = random(10);
      if (action < 6) {
        const score = random(1_000);
        set.set(member, score);
        model.set(member, score);
      } else if (action < 9) {
        expect(set.delete(member)).toBe(model.delete(member));
      } else {
        const limit = random(300);
        const isAbove = random(4) === 0;
        const expected = [...model].filter(([, score]) => (isAbove ? score > limit + 600 : score <= limit));
        const taken = isAbove ? set.takeAbove(limit + 600) : set.takeUpTo(limit);
        expect(taken.map(({ score }) => score)).toEqual(
          expected.map(([, score]) => score).sort((a, b) => a - b),
        );
        expect(new Set(taken.map((entry) => entry.member))).toEqual(new Set(expected.map(([key]) => key)));
        for (const [key] of expected) model.delete(key);
      }
      expect(set.size).toBe(model.size);
      expect(set.scoreOf(member)).toBe(model.get(member));
      const score = random(1_000);
      const scores = [...model.values()];
      expect(set.countUpTo(score)).toBe(scores.filter((one) => one <= score).length);
      expect(set.countBelow(score)).toBe(scores.filter((one) => one < score).length);
      expect(set.lowest()?.score).toBe(model.size === 0 ? undefined : Math.min(...model.values()));
    }
  },
);

it('keeps members with the same score in the order in which they got it', () => {
  const set = new ScoreSet<string>();
  for (const member of ['a', 'b', 'c', 'd']) set.set(member, 1);
  set.set('a', 1);
  expect(set.addNew('b', 2)).toBe(false);
  expect(set.members()).toEqual(['b', 'c', 'd', 'a']);
  expect(set.takeUpTo(1, 2).map(({ member }) => member)).toEqual(['b', 'c']);
});
