// Three daemons at a gateway that allows 50 calls a second, by the gateway's own count. test/long/pace.test.ts does this for longer,
// with a killed daemon and a restarted Redis.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ALLOWED, CALLS_PER_SECOND, PacedFleet } from '../support/paced-fleet.ts';

const CALLS = 15 * CALLS_PER_SECOND;
const POLLED = ['realname', 'flow', 'card_status'];

let paced: PacedFleet;
beforeAll(async () => {
  paced = await PacedFleet.start();
});
afterAll(() => paced.close());

it('makes as many calls as are allowed, no more, and as many for each type', async () => {
  paced.forget();
  await paced.called(CALLS);
  const { record } = paced;
  record.expectWithin(ALLOWED);
  expect(record.total / (ALLOWED.perMs * record.spanMs), 'share of the rate').toBeGreaterThan(0.85);
  for (const name of POLLED)
    expect(record.of(name), name).toBeGreaterThan((0.8 * record.total) / POLLED.length);
});
