// The budget of stops is kept by three daemons that are killed and cut off from their database, while the gateway refuses
// and loses some stops. Twenty such runs: test/long/stop-budget.test.ts.
import { it } from 'vitest';
import { expectBudgetKept } from '../support/budgeted-fleet.ts';

it('keeps the budget of stops over kills, cuts and lost answers', () => expectBudgetKept(1));
