// Three daemons at a gateway that allows a few calls a second, by the gateway's own count. test/long/pace.test.ts does this with more
// calls and for longer, with a killed daemon and a restarted Redis.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PacedFleet } from '../support/paced-fleet.ts';

/** Few calls and a large burst: a busy machine keeps up with them. */
const ALLOWED = { perSecond: 10, burst: 10 };
const CALLS = 15 * ALLOWED.perSecond;
const POLLED = ['realname', 'flow', 'card_status'];

let paced: PacedFleet;
beforeAll(async () => {
  paced = await PacedFleet.start(ALLOWED);
});
afterAll(() => paced.close());

it('makes as many calls as are allowed, never more, and starves no type', async () => {
  paced.forget();
  await paced.called(CALLS);
  const { record, allowed } = paced;
  record.expectWithin(allowed);
  expect(record.total / (allowed.perMs * record.spanMs), 'share of the rate').toBeGreaterThan(0.85);
  for (const name of POLLED)
    expect(record.of(name), name).toBeGreaterThan((0.8 * record.total) / POLLED.length);
});

it('says at the start, of the limits and of the capacity that the rate limit is what is short', async () => {
  const { fleet } = paced;
  const said = (await fleet.logged('the rate limits do not allow the polling configs')).map(
    ({ reason }) => reason,
  );
  expect(said).toContainEqual(
    expect.stringMatching(
      /^realname: 3\.\d+ calls a second \(of 10\) allow 600 cards every .*; configured: 5 s$/,
    ),
  );
  const limits = JSON.parse((await fleet.cli('concurrency', 'list', '-o', 'json')).stdout);
  expect(limits.items.map(({ reason }: { reason: string }) => reason)).toContain(
    'calls wait for the rate limit of 10 a second',
  );
  expect((await fleet.cli('stats')).stdout).toContain('by the rate limits');
});
