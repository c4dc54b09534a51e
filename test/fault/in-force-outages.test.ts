// What operators set, while a store does not take part: PostgreSQL is away when Redis is new, Redis refuses writes, and
// operators set limits while the leader compares.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { NOT_IN_FORCE } from '../../src/domain/limits/in-force.ts';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import { BreakableLink } from '../support/breakable-link.ts';
import { cliHere } from '../support/cli-here.ts';
import type { Fleet } from '../support/fleet.ts';
import { type LimitedFleet, startLimitedFleet, triggersWait, turns } from '../support/limited-fleet.ts';
import { exceeding, type LimitedGateway } from '../support/limited-gateway.ts';
import { putBack } from '../support/operators-orders.ts';
import { query } from '../support/postgres-server.ts';
import { waitFor } from '../support/processes.ts';

const CEILING = 9;

let limited: LimitedFleet;
let fleet: Fleet;
let gateway: LimitedGateway;
let toDatabase: BreakableLink;

beforeAll(async () => {
  limited = await startLimitedFleet({
    ceiling: CEILING,
    timeoutMs: 30_000,
    async through({ databaseUrl }) {
      toDatabase = await BreakableLink.to(Number(new URL(databaseUrl).port));
      return { CARDPOLL_DATABASE_URL: toDatabase.around(databaseUrl) };
    },
  });
  ({ fleet, gateway } = limited);
});
afterAll(async () => {
  await limited.close();
  await toDatabase.close();
});

const limitInForce = () => fleet.redis.get('polling:concurrency:config:carddata');

async function limitOfRecord(): Promise<string> {
  const [row] = await query(
    fleet.databaseUrl,
    "SELECT max_concurrency::text AS of_record FROM concurrency_configs WHERE task_type = 'carddata'",
  );
  return String(row?.of_record);
}

/** As an operator does at one of the daemons. */
async function setLimit(daemon: number, limit: number): Promise<Response> {
  return fetch(`${fleet.daemons[daemon]?.url}/api/admin/polling-concurrency/carddata`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ max_concurrency: limit }),
  });
}

it('orders of two operators at a time end in the newest one of record, and none counts as a repair', async () => {
  const orders = [0, 1].map(async (daemon) => {
    for (let limit = 1; limit <= 20; limit += 1) {
      expect((await setLimit(daemon, limit + daemon * 20)).status).toBe(200);
    }
  });
  await Promise.all(orders);
  expect(await limitInForce()).toBe(await limitOfRecord());
  await turns(fleet.redis);
  expect(await limitInForce()).toBe(await limitOfRecord());
  expect(await putBack(fleet)).toEqual([]);
});

it('a Redis that refuses writes: an order is recorded, says so, and comes into force by itself', async () => {
  const env = { CARDPOLL_URL: fleet.daemons[0]?.url };
  await fleet.redis.config('SET', 'min-replicas-to-write', '1');
  for (const order of [
    ['concurrency', 'set', 'carddata', '7', '--yes'],
    ['pause', 'realname', '--for', '1h'],
  ]) {
    const { code, stderr } = await cliHere(order, { env });
    expect(code, stderr).toBe(69);
    expect(stderr).toMatch(/recorded, but not in force yet: .*NOREPLICAS.*comes into force by itself/);
  }
  expect(await limitOfRecord()).toBe('7');
  expect(await limitInForce()).not.toBe('7');
  expect(await fleet.redis.exists('polling:pauses:realname')).toBe(0);

  await fleet.redis.config('SET', 'min-replicas-to-write', '0');
  await waitFor(async () => (await limitInForce()) === '7', { what: 'the limit to be in force' });
  await waitFor(async () => (await fleet.redis.exists('polling:pauses:realname')) === 1, {
    what: 'the pause to be in force',
  });
  await fleet.cli('resume');
  await limited.calls(5);
});

it('a new Redis while PostgreSQL is away: nothing is polled, and instances and health say why', async () => {
  await triggersWait(fleet.redis);
  await fleet.redis.save();
  // As a dashboard has: the number of cards is known, which PostgreSQL does not say now.
  for (const { url } of fleet.daemons)
    expect((await fetch(`${url}/api/admin/polling-stats`)).status).toBe(200);
  toDatabase.cut();
  await fleet.redisServer.kill();
  // With all of its work, in another life.
  await fleet.redisServer.start();
  gateway.mark();
  for (const { url } of fleet.daemons) {
    await waitFor(
      async () => {
        const { restraints } = (await (await fetch(`${url}/readyz`)).json()) as { restraints: string[] };
        return TASK_TYPES.every((type) => restraints.includes(`${type}: ${NOT_IN_FORCE}`));
      },
      { everyMs: 100, what: 'an instance to say why it polls nothing' },
    );
  }
  await waitFor(() => gateway.inFlight.all === 0, { what: 'the calls of before to end' });
  const { all } = gateway.begun;
  await triggersWait(fleet.redis);
  await turns(fleet.redis);
  await waitFor(
    async () => {
      const { health_reasons } = await fleet.get<{ health_reasons: Array<{ code: string; text: string }> }>(
        '/api/admin/polling-stats',
      );
      return health_reasons.some(({ code, text }) => code === 'not_in_force' && text.includes(NOT_IN_FORCE));
    },
    { everyMs: 100, what: 'health to say that nothing is in force' },
  );
  expect(gateway.begun.all).toBe(all);
  toDatabase.restore();
  await limited.calls(5);
  expect(exceeding(gateway.most, { all: CEILING })).toEqual([]);
});
