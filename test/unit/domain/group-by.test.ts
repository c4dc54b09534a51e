import { expect, it } from 'vitest';
import { groupBy } from '../../../src/domain/group-by.ts';

it('keeps keys and items in the order in which they come', () => {
  const groups = groupBy([5, 2, 1, 4, 3], (number) => number % 2);
  expect([...groups]).toEqual([
    [1, [5, 1, 3]],
    [0, [2, 4]],
  ]);
  expect(groupBy([], String).size).toBe(0);
});
