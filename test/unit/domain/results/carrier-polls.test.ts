import { expect, it } from 'vitest';
import { sumOfCarriers } from '../../../../src/domain/results/carrier-polls.ts';

const carriers = (...all: ReadonlyArray<[carrierId: number, polls: number, failed: number]>) =>
  new Map(all.map(([carrierId, polls, failed]) => [carrierId, { polls, failed }]));

it('adds up by carrier', () => {
  const first = carriers([7, 10, 3], [0, 1, 0]);
  const second = carriers([7, 5, 1], [-2, 4, 4]);
  expect(sumOfCarriers([first, second])).toEqual(carriers([7, 15, 4], [0, 1, 0], [-2, 4, 4]));
  expect(first, 'what was added is left as it was').toEqual(carriers([7, 10, 3], [0, 1, 0]));
  expect(sumOfCarriers([])).toEqual(new Map());
});

it('names the first carriers, and counts on for these', () => {
  const first = carriers([7, 10, 3], [8, 1, 0]);
  const second = carriers([9, 5, 5], [7, 5, 1]);
  expect(sumOfCarriers([first, second], 2)).toEqual(carriers([7, 15, 4], [8, 1, 0]));
});
