// Two databases and one Redis: the second fleet is refused with both names, at its start and when it took the Redis after all
// was lost; a database that takes the place of another one adopts its Redis.
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cliHere } from '../support/cli-here.ts';
import { Fleet } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { freshDatabase } from '../support/fresh-stores.ts';
import { query } from '../support/postgres-server.ts';
import { runCli, waitFor } from '../support/processes.ts';
import { runDoctor } from '../support/run-doctor.ts';

const CARDS = 20;

let fleet: Fleet;
let others: Record<string, string>;
const nameOf = (url: string) => new URL(url).pathname.slice(1);

async function idOf(databaseUrl: string): Promise<string> {
  const [row] = await query(databaseUrl, 'SELECT fleet_id::text AS id FROM fleet');
  return row?.id;
}

beforeAll(async () => {
  fleet = await Fleet.start();
  await fleet.startDaemon();
  await fleet.importCards(CARDS);
  others = {
    CARDPOLL_REDIS_URL: fleet.redisServer.url,
    CARDPOLL_DATABASE_URL: await freshDatabase(),
    CARDPOLL_GATEWAY_URL: fleet.gatewayUrl,
    CARDPOLL_LISTEN: `127.0.0.1:${await freePort()}`,
  };
});
afterAll(() => fleet.close());

it('the second one does not start, and names both fleets', async () => {
  const { code, stderr } = await runCli(['daemon'], { env: others });
  expect(code).toBe(78);
  expect(stderr).toMatch(
    new RegExp(
      `belongs to the fleet "${nameOf(fleet.databaseUrl)}".*is the fleet "${nameOf(others.CARDPOLL_DATABASE_URL ?? '')}"`,
    ),
  );
  expect(stderr).toContain('cardpoll init adopt');
});

it('the doctor says so, and looks no further', async () => {
  const { code, found, statusOf } = await runDoctor(others);
  expect([code, statusOf('redis fleet'), statusOf('fleet')]).toEqual([1, 'failed', 'skipped']);
  expect(found('redis fleet')?.command).toBe('cardpoll init adopt');
});

it('adopting is refused while the first one polls', async () => {
  const { code, stderr } = await cliHere(['init', 'adopt', '--yes'], { env: others });
  expect([code, stderr]).toEqual([
    75,
    expect.stringContaining('still polls with this Redis (instances alive: 1)'),
  ]);
});

it('a Redis that lost everything is its own again', async () => {
  await fleet.redis.flushall();
  const id = await idOf(fleet.databaseUrl);
  await waitFor(async () => (await fleet.redis.get('polling:fleet'))?.startsWith(id), { what: 'the mark' });
  await waitFor(() => fleet.redis.exists('polling:rings:realname'), { what: 'the rings' });
});

it('an instance whose Redis became another one’s ends', async () => {
  await fleet.redis.set('polling:fleet', '00000000-0000-0000-0000-000000000000 another');
  const daemon = fleet.daemons[0];
  expect(await daemon?.process.ended()).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('"another" (00000000)'),
  });
});

it('adopting asks, removes what was there and is in the audit trail; then the daemon polls', async () => {
  const asked = await cliHere(['init', 'adopt'], { env: others });
  expect([asked.code, asked.stderr]).toEqual([64, expect.stringContaining('--yes')]);
  const plan = await runCli(['init', 'adopt', '--dry-run'], { env: others });
  expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining('"another" (00000000)')]);
  expect(await fleet.redis.exists('polling:rings:realname')).toBe(1);

  const done = await waitFor(
    async () => {
      const result = await cliHere(['init', 'adopt', '--yes', '-o', 'json'], { env: others });
      return result.code === 75 ? null : result;
    },
    { what: 'the first daemon to be forgotten' },
  );
  const id = await idOf(others.CARDPOLL_DATABASE_URL ?? '');
  expect([done.code, JSON.parse(done.stdout)]).toMatchObject([
    0,
    { fleet: { id }, before: { name: 'another' } },
  ]);
  const redis = new Redis(fleet.redisServer.url);
  expect(await redis.keys('*')).toEqual(['polling:fleet']);
  redis.disconnect();
  expect((await cliHere(['init', 'adopt'], { env: others })).code, 'nothing is left to ask about').toBe(0);

  await fleet.startDaemon(others);
  await fleet.importCards(CARDS);
  await waitFor(async () => (await fleet.truth()).requests > 0, { what: 'polls' });
  const { items } = await fleet.get<{ items: { action: string; actor: string }[] }>(
    '/api/admin/audit?action=fleet.adopt',
  );
  expect(items).toMatchObject([{ action: 'fleet.adopt', actor: 'local' }]);
});
