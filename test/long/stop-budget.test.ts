// Twenty runs of a fleet in trouble, each drawn from its seed: the budget of stops is kept in every one.
import { it } from 'vitest';
import { expectBudgetKept } from '../support/budgeted-fleet.ts';

it.each(Array.from({ length: 20 }, (_, i) => i + 1))('seed %i', (seed) => expectBudgetKept(seed));

it('ten daemons', () => expectBudgetKept(21, 10));
