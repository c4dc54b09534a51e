// A daemon whose Redis user has the rights of docs/security.md and no others, INFO among those it lacks: it polls. With
// one right less it does not start, and says which.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { freshRedis } from '../support/fresh-stores.ts';
import { runCli, waitFor } from '../support/processes.ts';
import { asDocumentedUser } from '../support/redis-user.ts';
import { runDoctor } from '../support/run-doctor.ts';

const CARDS = 50;

let fleet: Fleet;
let redisUrl: string;

beforeAll(async () => {
  fleet = await Fleet.start();
  redisUrl = await asDocumentedUser(fleet.redisServer.url, [fleet.redisServer.url]);
});
afterAll(() => fleet.close());

it('polls every card', async () => {
  await fleet.startDaemon({ CARDPOLL_REDIS_URL: redisUrl });
  await fleet.importCards(CARDS);
  await fleet.setIntervals(5);
  await waitFor(async () => (await fleet.truth()).requests >= 3 * CARDS, { what: 'the gateway to be asked' });
  expect((await fleet.logged(/NOPERM|refused/)).map(({ msg }) => msg)).toEqual([]);
});

it('the doctor finds nothing wrong with its rights, and says what it may not read', async () => {
  const { statusOf, found } = await runDoctor({
    CARDPOLL_REDIS_URL: redisUrl,
    CARDPOLL_DATABASE_URL: fleet.databaseUrl,
    CARDPOLL_GATEWAY_URL: fleet.gatewayUrl,
  });
  expect([statusOf('redis'), statusOf('redis rights'), statusOf('redis memory')]).toEqual([
    'ok',
    'ok',
    'unknown',
  ]);
  expect(found('redis maxmemory-policy')?.hint).toMatch(/\+info/);
});

it('does not start where a right is missing', async () => {
  const server = await freshRedis();
  const { code, stderr } = await runCli(['daemon', '--listen', `127.0.0.1:${await freePort()}`], {
    env: {
      CARDPOLL_REDIS_URL: await asDocumentedUser(server.url, [server.url], '-zadd', '-eval'),
      CARDPOLL_DATABASE_URL: fleet.databaseUrl,
      CARDPOLL_GATEWAY_URL: fleet.gatewayUrl,
    },
  });
  expect([code, stderr]).toEqual([78, expect.stringContaining('it lacks +eval +zadd')]);
});
