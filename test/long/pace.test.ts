// The pace of three daemons over two minutes, by the gateway's own count: while nothing happens, while a daemon is killed, and while
// Redis restarts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PacedFleet } from '../support/paced-fleet.ts';

const POLLED = ['realname', 'flow', 'card_status'];
const ALLOWED = { perSecond: 50, burst: 50 };
const calls = (seconds: number) => seconds * ALLOWED.perSecond;

let paced: PacedFleet;
beforeAll(async () => {
  paced = await PacedFleet.start(ALLOWED);
  paced.forget();
});
afterAll(() => paced.close());

function expectShared(from: readonly number[]): void {
  const { record } = paced;
  const total = record.total - from.reduce((sum, one) => sum + one, 0);
  POLLED.forEach((name, i) => {
    expect(record.of(name) - (from[i] ?? 0), name).toBeGreaterThan((0.8 * total) / POLLED.length);
  });
}

it('stays within the rate and uses it, through a killed daemon and a restarted Redis', async () => {
  const { record, fleet, allowed } = paced;
  await paced.called(calls(40));
  expect(record.total / (allowed.perMs * record.spanMs), 'share of the rate').toBeGreaterThan(0.85);
  expectShared([]);

  const [victim] = fleet.daemons;
  victim?.process.signal('SIGKILL');
  const atKill = POLLED.map((name) => record.of(name));
  await paced.called(record.total + calls(30));
  expectShared(atKill);

  await fleet.redisServer.restart();
  await paced.polling();
  const atRestart = POLLED.map((name) => record.of(name));
  const restartedAt = record.spanMs;
  const before = record.total;
  await paced.called(before + calls(50));
  const used = (record.total - before) / (allowed.perMs * (record.spanMs - restartedAt));
  expect(used, 'share of the rate after the restart').toBeGreaterThan(0.85);
  expectShared(atRestart);

  record.expectWithin(allowed);
});

it('says at the start, of the limits and of the capacity that the rate limit is what is short', async () => {
  const { fleet } = paced;
  const said = (await fleet.logged('the rate limits do not allow the polling configs')).map(
    ({ reason }) => reason,
  );
  expect(said).toContainEqual(
    expect.stringMatching(/^realname: 16\.\d+ of 50 calls a second allow 600 cards every .*, not every 5 s$/),
  );
  const limits = JSON.parse((await fleet.cli('concurrency', 'list', '-o', 'json')).stdout);
  expect(limits.items.map(({ reason }: { reason: string }) => reason)).toContain(
    'calls wait for the rate limit of 50 a second',
  );
  expect((await fleet.cli('stats')).stdout).toContain('by the rate limits');
});
