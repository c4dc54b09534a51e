import { expect, it } from 'vitest';
import { groupByRing } from '../../../../src/engine/schedule/ring-membership.ts';
import { configOf, viewOf } from '../../../support/card-table.ts';

const card = (cardId: number, carrierId: number) => ({ cardId, carrierId, realNameVerified: false });

it('gives each card to one config of every task type that polls it', () => {
  const all = configOf(1);
  const own = configOf(2, { carrierId: 7, priority: 1 });
  const usage = configOf(3, { taskType: 'carddata' });
  const { configs, matcher } = viewOf([all, own, usage]);
  const groups = groupByRing([card(1, 7), card(2, 0), card(3, 7)], configs, matcher);
  expect([...groups]).toEqual([
    [all, [2]],
    [own, [1, 3]],
    [usage, [1, 2, 3]],
  ]);
});

it('names a config without cards too, and leaves out cards that no config polls', () => {
  const own = configOf(2, { carrierId: 7 });
  const { configs, matcher } = viewOf([own]);
  expect([...groupByRing([card(1, 0)], configs, matcher)]).toEqual([[own, []]]);
});

it('leaves out cards of a config that is not asked for', () => {
  const all = configOf(1);
  const usage = configOf(3, { taskType: 'carddata' });
  expect([...groupByRing([card(1, 0)], [usage], viewOf([all, usage]).matcher)]).toEqual([[usage, [1]]]);
});
