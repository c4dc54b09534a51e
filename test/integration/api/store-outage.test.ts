// A store that is gone or frozen: the API says 503 by itself, stays alive, and serves again when it is back.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANSWER_WITHIN_MS } from '../../../src/api/server.ts';
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import { type ApiUnderTest, type Reply, startApi } from '../../support/api-under-test.ts';
import { freshRedis } from '../../support/fresh-stores.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import type { RedisServer } from '../../support/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

let redis: RedisServer;
let postgres: PostgresServer;
let api: ApiUnderTest;

beforeAll(async () => {
  [redis, postgres] = await Promise.all([freshRedis(), startPostgres()]);
  api = await startApi({
    redisUrl: redis.url,
    databaseUrl: await postgres.createDatabase(),
    answerWithinMs: ANSWER_WITHIN_MS,
  });
});
afterAll(async () => {
  await api.close();
  await postgres.stop();
});

async function expectUnavailable(method: string, path: string, json?: object): Promise<Reply> {
  const reply = await api.call(method, path, { json });
  expect([path, reply.status]).toEqual([path, 503]);
  expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect((await api.call('GET', '/livez')).status).toBe(200);
  return reply;
}

const backAgain = (path: string) =>
  waitFor(async () => (await api.call('GET', path)).status === 200, { what: `${path} to answer again` });

const NEED_REDIS: Array<[string, string, object?]> = [
  ['GET', '/api/admin/polling-stats'],
  ['GET', '/api/admin/polling-stats/queues'],
  ['GET', '/api/admin/polling-stats/init-progress'],
  ['GET', '/api/admin/polling-concurrency'],
  ['PUT', '/api/admin/polling-concurrency/package', { max_concurrency: 5 }],
  ['POST', '/api/admin/polling-concurrency/reset', { task_type: 'package' }],
];
const NEED_POSTGRES: Array<[string, string, object?]> = [
  ['GET', '/api/admin/polling-configs'],
  ['PUT', '/api/admin/polling-configs/1', { status: 1 }],
  ['PUT', '/api/admin/polling-concurrency/package', { max_concurrency: 5 }],
  ['GET', '/api/admin/cards/1'],
];

describe('Redis', () => {
  it('gone: what needs it answers 503, the rest goes on', async () => {
    await redis.kill();
    await Promise.all(NEED_REDIS.map((call) => expectUnavailable(...call)));
    expect((await api.call('GET', '/api/admin/polling-configs')).status).toBe(200);
    await redis.restart();
    await backAgain('/api/admin/polling-stats');
  });

  it('frozen: 503 as well', async () => {
    redis.pause();
    try {
      await Promise.all(NEED_REDIS.map((call) => expectUnavailable(...call)));
    } finally {
      redis.resume();
    }
    await backAgain('/api/admin/polling-stats');
  });
});

describe('PostgreSQL', () => {
  beforeAll(async () => {
    // Put limits in force and count the cards once, as a running daemon has.
    for (const taskType of TASK_TYPES) {
      await api.call('PUT', `/api/admin/polling-concurrency/${taskType}`, { json: { max_concurrency: 50 } });
    }
    await api.call('GET', '/api/admin/polling-stats');
  });

  it('gone: what needs it answers 503, the live numbers stay readable', async () => {
    await postgres.kill('SIGQUIT');
    await Promise.all(NEED_POSTGRES.map((call) => expectUnavailable(...call)));
    expect(await api.call('GET', '/api/admin/polling-stats')).toMatchObject({
      status: 200,
      body: { cards_total: 0 },
    });
    await postgres.restart();
    await backAgain('/api/admin/polling-configs');
  });

  it('frozen: 503 as well', async () => {
    postgres.pause();
    try {
      await Promise.all(NEED_POSTGRES.map((call) => expectUnavailable(...call)));
      expect((await api.call('GET', '/api/admin/polling-stats')).status).toBe(200);
    } finally {
      postgres.resume();
    }
    await backAgain('/api/admin/polling-configs');
  });
});

it('logs every failure as the outage it was', () => {
  const errors = api.apiLog.map((line) => line.err);
  expect(errors.length).toBeGreaterThanOrEqual(2 * (NEED_REDIS.length + NEED_POSTGRES.length));
  for (const error of errors) expect(error).toMatchObject({ name: 'CardpollError', kind: 'unavailable' });
});
