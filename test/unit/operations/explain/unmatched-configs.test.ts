// Why the other configs of a task type do not poll a card: unmatched-configs.ts. Carriers and priorities are in
// task-explanation.test.ts.
import { expect, it } from 'vitest';
import { otherConfigsOf } from '../../../../src/operations/explain/unmatched-configs.ts';
import { configOf } from '../../../support/card-table.ts';

const CARD = { cardId: 1, carrierId: 1, realNameVerified: true };
const TIE = 'has the same priority 4, and the config with the lower id wins';

it.each([
  [{ cardCondition: 'not_verified' } as const, 'is for cards not verified, the card is verified'],
  [{ cardCondition: 'verified', priority: 4 } as const, TIE],
  [{ carrierId: 1, priority: 3 }, 'has priority 3, less than 4'],
])('of a verified card, %j', (differing, reason) => {
  const taking = configOf(1, { priority: 4 });
  const others = [taking, configOf(2, differing)];
  expect(otherConfigsOf(others, taking, CARD)).toEqual([{ id: 2, name: 'config 2', reason }]);
});

it('names all of them where none takes the card', () => {
  const configs = [configOf(1, { carrierId: 2 }), configOf(2, { cardCondition: 'not_verified' })];
  expect(otherConfigsOf(configs, null, CARD).map(({ id }) => id)).toEqual([1, 2]);
});
