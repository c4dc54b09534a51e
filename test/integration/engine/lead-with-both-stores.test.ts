// Two engines on one real Redis and PostgreSQL, one of them by links that the test breaks: only an instance that reaches
// both stores leads, and what it does to rings follows from configs it has read under its lead.
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Engine } from '../../../src/engine/engine.ts';
import { Teardown } from '../../../src/platform/service.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { bareEngine } from '../../support/bare-engine.ts';
import { BreakableLink } from '../../support/breakable-link.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { ONE_CARD_A_CALL } from '../../support/one-card-calls.ts';
import type { RedisServer } from '../../support/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const NEW_CONFIG = {
  name: 'VIP',
  taskType: 'package',
  cardCondition: 'any',
  carrierId: 7,
  intervalSeconds: 600,
  priority: 50,
  status: 1,
} as const;

type Roles = ConstructorParameters<typeof Engine>[0]['roles'];

const log = pino({ level: 'silent' });
let databaseUrl: string;
const suite = new Teardown();

let teardown: Teardown;
/** What the test sees, by ways of its own. */
let live: LiveStore;
let records: RecordStore;
let redis: RedisServer;
let toRedis: BreakableLink;
let toPostgres: BreakableLink;
/** The first reaches the stores by the links. */
let linked: Engine;
let other: Engine;

beforeAll(async () => {
  databaseUrl = await freshDatabase();
  records = await openPostgresRecordStore({ url: databaseUrl, applicationName: 'cardpoll' });
  suite.add(() => records.close());
  await records.migrations.up();
});
afterAll(() => suite.run());

beforeEach(async () => {
  teardown = new Teardown();
  redis = await freshRedis();
  toRedis = await BreakableLink.to(redis.port);
  toPostgres = await BreakableLink.to(Number(new URL(databaseUrl).port));
  teardown.add(() => toRedis.close());
  teardown.add(() => toPostgres.close());
  live = await openRedisLiveStore({ url: redis.url });
  teardown.add(() => live.close());
  linked = await makeEngine('linked', toRedis.around(redis.url), toPostgres.around(databaseUrl), [
    'scheduler',
  ]);
  other = await makeEngine('other', redis.url, databaseUrl);
  return () => teardown.run();
});

async function makeEngine(
  instanceId: string,
  redisUrl: string,
  url: string,
  roles: Roles = ['worker', 'scheduler'],
): Promise<Engine> {
  const stores = {
    live: await openRedisLiveStore({ url: redisUrl }),
    records: await openPostgresRecordStore({ url, applicationName: 'cardpoll' }),
  };
  teardown.add(() => stores.live.close());
  teardown.add(() => stores.records.close());
  const call = () => Promise.reject(new Error('no card is due'));
  const upstream = { ...ONE_CARD_A_CALL, call };
  const engine = bareEngine({
    ...stores,
    upstream: upstream as never,
    log,
    instanceId,
    roles,
    drainTimeoutMs: 500,
  });
  teardown.add(() => engine.stop());
  return engine;
}

/** The linked one leads, the other one follows, and all rings are built. */
async function linkedLeads(): Promise<void> {
  await linked.start();
  await leads(linked);
  await other.start();
  await ringsOfConfigs();
}

async function otherLeads(): Promise<void> {
  await other.start();
  await leads(other);
  await linked.start();
  await ringsOfConfigs();
}

const leads = (engine: Engine) => waitFor(() => engine.leads, { what: 'it to lead' });

/** Waits until there is a loaded ring for every config, with its enabled flag, and for nothing else. */
async function ringsOfConfigs(): Promise<void> {
  await waitFor(async () => {
    const wanted = (await records.configs.list()).map(({ id, status }) => `${id} ${status === 1} true`);
    return (await rings()).join() === wanted.sort().join();
  });
}

async function rings(): Promise<string[]> {
  return (await live.rings.list()).map((ring) => `${ring.configId} ${ring.enabled} ${ring.loaded}`).sort();
}

/** A config is added and another one switched off. */
async function changeConfigs(): Promise<void> {
  const { id } = await records.configs.create(NEW_CONFIG);
  const [first] = (await records.configs.list()).filter((config) => config.id !== id);
  await records.configs.update(first?.id as number, { status: 0 });
  teardown.add(async () => {
    await records.configs.remove(id);
    await records.configs.update(first?.id as number, { status: 1 });
  });
}

it('PostgreSQL swallows packets of the leader: another instance leads, and the leader says why it does not', async () => {
  await linkedLeads();
  toPostgres.swallow();
  await leads(other);
  expect(linked.leads).toBe(false);
  await changeConfigs();
  await ringsOfConfigs();
  await waitFor(() => linked.problems().length > 0, { what: 'the instance to be unready' });
  expect(linked.problems()[0]).toMatch(
    /^the database could not be used for 1\d s: PostgreSQL at 127.0.0.1:\d+ /,
  );
  expect(linked.describe().databaseOutage).toMatchObject({
    reason: expect.stringContaining('PostgreSQL at'),
  });
  expect(other.problems()).toEqual([]);
  toPostgres.restore();
  await waitFor(() => linked.problems().length === 0, { what: 'the instance to be ready again' });
});

it('PostgreSQL is lost for the only instance that is left: it leads when it is back, by the configs of then', async () => {
  await otherLeads();
  toPostgres.cut();
  await changeConfigs();
  await ringsOfConfigs();
  await other.stop();
  const before = await rings();
  await waitFor(() => linked.problems().length > 0, { what: 'the instance to be unready' });
  expect([linked.leads, await rings()]).toEqual([false, before]);
  toPostgres.restore();
  await leads(linked);
  expect(await rings()).toEqual(before);
  await changeConfigs();
  await ringsOfConfigs();
});

it('Redis swallows packets of the leader: another instance leads, and the leader is unready', async () => {
  await linkedLeads();
  toRedis.swallow();
  await leads(other);
  expect(linked.leads).toBe(false);
  await changeConfigs();
  await ringsOfConfigs();
  await waitFor(() => linked.problems().length > 0, { what: 'the instance to be unready' });
  expect(linked.problems()).toEqual([expect.stringMatching(/^heartbeat: no answer for 1\d s: Redis at /)]);
  toRedis.restore();
  await waitFor(() => linked.problems().length === 0, { what: 'the instance to be ready again' });
});

it('Redis is full: a worker is unready and says so, although Redis answers the claims of its empty queues', async () => {
  await otherLeads();
  const client = new Redis(redis.url);
  teardown.add(() => void client.disconnect());
  await client.config('SET', 'maxmemory', '1mb');
  await waitFor(() => other.problems().length > 0, { what: 'the instance to be unready' });
  expect(other.problems()).toEqual([
    expect.stringMatching(
      /^heartbeat: no answer for 1\d s: Redis at .* refuses work: OOM command not allowed when used memory > 'maxmemory'$/,
    ),
  ]);
  await client.config('SET', 'maxmemory', '0');
  await waitFor(() => other.problems().length === 0, { what: 'the instance to be ready again' });
});
