// Every endpoint of the admin API over real HTTP, Redis and PostgreSQL: what it answers and what it changes.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { nextDueAt } from '../../src/domain/phase.ts';
import { MonthCalendar } from '../../src/domain/usage-month.ts';
import type { InitProgress, RingState } from '../../src/store/live-store.ts';
import { freshDatabase, freshRedis } from '../support/fresh-stores.ts';
import { type ApiUnderTest, startApi } from '../unit/api/api-under-test.ts';

let api: ApiUnderTest;

beforeAll(async () => {
  const redis = await freshRedis();
  api = await startApi({ redisUrl: redis.url, databaseUrl: await freshDatabase() });
});
afterAll(() => api.close());

const RFC_3339_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const CARDS = 3;
const iccidOf = (cardId: number) => `8986000000000000${String(cardId).padStart(4, '0')}`;

async function importCards(cardIds: readonly number[]): Promise<void> {
  const session = await api.records.cards.openImport();
  const row = { carrierId: 7, status: 1, allowanceMb: 500, realNameVerified: false };
  await session.write(cardIds.map((cardId) => ({ ...row, cardId, iccid: iccidOf(cardId) })));
  await session.close();
}

/** Builds the ring of a seeded config with these members. */
async function buildRing(configId: number, taskType: RingState['taskType'], cardIds: readonly number[]) {
  const ring = { configId, taskType };
  await api.live.rings.configure(ring, { intervalMs: 3_600_000, enabled: true });
  await api.live.rings.startGeneration(ring, 64, { activate: true });
  await api.live.rings.add(ring, cardIds);
}

async function get(path: string) {
  const reply = await api.call('GET', path);
  expect(reply).toMatchObject({ status: 200 });
  expect(reply.headers['content-type']).toMatch(/^application\/json/);
  return reply.body;
}

describe('polling-stats', () => {
  beforeAll(async () => {
    await importCards([1, 2, 3]);
    await buildRing(3, 'carddata', [1, 2, 3]);
    await api.live.work.setMaxConcurrency('carddata', 4);
    await api.live.work.pushManual('carddata', ['1', '2', '3']);
    await api.live.work.claim('carddata', { workerId: 'w1', claimNumber: 1, max: 1, leaseMs: 60_000 });
    await api.live.stats.record('carddata', 'w1', 1, { succeeded: 9, failed: 1, durationMs: 1_000 });
    const now = Date.now();
    const worker = { hostname: 'h', pid: 42, version: '1.2.3', roles: ['worker'], inFlight: 1 };
    const times = { startedAtMs: now - 60_000, heartbeatAtMs: now };
    await api.live.coordination.heartbeat(
      { workerId: 'w1', ...worker, ...times, cacheHits: 3, cacheMisses: 1 },
      60_000,
    );
  });

  const carddata = {
    task_type: 'carddata',
    due: 0,
    in_flight: 1,
    manual_length: 2,
    scheduled_cards: CARDS,
    concurrency: { current: 1, max: 4, usage_percent: 25 },
  };
  const counted = {
    total: 10,
    succeeded: 9,
    failed: 1,
    success_rate: 90,
    avg_duration_ms: 100,
    rate_per_second: expect.any(Number),
    health: 'warning',
  };

  it('tells the state of every queue', async () => {
    const { items } = await get('/api/admin/polling-stats/queues');
    expect(items.map((item: { task_type: string }) => item.task_type)).toEqual([
      'realname',
      'carddata',
      'package',
    ]);
    expect(items[1]).toMatchObject(carddata);
    expect(items[1].schedule_lag_seconds).toBeLessThan(60);
    expect(items[0]).toEqual({
      task_type: 'realname',
      queue_length: 0,
      due: 0,
      in_flight: 0,
      manual_length: 0,
      scheduled_cards: 0,
      schedule_lag_seconds: 0,
      concurrency: { current: 0, max: 100, usage_percent: 0 },
    });
  });

  it('tells how every task type does, with null where nothing was polled', async () => {
    const { items } = await get('/api/admin/polling-stats/tasks');
    expect(items[1]).toMatchObject({ ...carddata, ...counted });
    expect(items[2]).toMatchObject({
      task_type: 'package',
      total: 0,
      success_rate: null,
      avg_duration_ms: null,
    });
  });

  it('sums it all up', async () => {
    const overview = await get('/api/admin/polling-stats');
    expect(overview).toMatchObject({
      generated_at: expect.stringMatching(RFC_3339_UTC),
      version: '1.2.3',
      health: 'warning',
      cards_total: CARDS,
      init: { status: 'pending' },
      workers: [
        {
          worker_id: 'w1',
          hostname: 'h',
          pid: 42,
          roles: ['worker'],
          in_flight: 1,
          cache_hits: 3,
          cache_misses: 1,
          cache_hit_ratio: 0.75,
          started_at: expect.stringMatching(RFC_3339_UTC),
          heartbeat_at: expect.stringMatching(RFC_3339_UTC),
        },
      ],
    });
    expect(overview.tasks[1]).toMatchObject({ ...carddata, ...counted });
  });

  it('follows initialisation from pending over stuck to completed', async () => {
    expect(await get('/api/admin/polling-stats/init-progress')).toEqual({
      status: 'pending',
      total: 0,
      loaded: 0,
      percent: 0,
      batch: 0,
      batches: 0,
      started_at: null,
      updated_at: null,
      finished_at: null,
      eta_seconds: null,
    });
    const now = Date.now();
    const running: InitProgress = {
      status: 'running',
      total: 400_000,
      loaded: 100_000,
      lastCardId: 100_000,
      batch: 1,
      batches: 4,
      startedAtMs: now - 10_000,
      updatedAtMs: now,
      finishedAtMs: null,
      changeMark: '0',
    };
    await api.live.coordination.saveInitProgress(running);
    const progress = await get('/api/admin/polling-stats/init-progress');
    expect(progress).toMatchObject({
      status: 'running',
      percent: 25,
      batch: 1,
      batches: 4,
      finished_at: null,
    });
    expect(progress.started_at).toBe(new Date(now - 10_000).toISOString());
    expect(progress.eta_seconds).toBeGreaterThanOrEqual(30);
    await api.live.coordination.saveInitProgress({ ...running, updatedAtMs: now - 61_000 });
    expect(await get('/api/admin/polling-stats')).toMatchObject({
      health: 'alert',
      init: { status: 'stuck' },
    });
    await api.live.coordination.saveInitProgress({
      ...running,
      status: 'completed',
      loaded: 400_000,
      finishedAtMs: now,
    });
    expect(await get('/api/admin/polling-stats/init-progress')).toMatchObject({
      status: 'completed',
      percent: 100,
    });
  });
});

describe('polling-concurrency', () => {
  it('lists the limits', async () => {
    const list = await get('/api/admin/polling-concurrency');
    expect(list).toMatchObject({ page: 1, page_size: 20, total: 3 });
    expect(list.items[2]).toEqual({ task_type: 'package', max_concurrency: 100, current: 0 });
    expect(await get('/api/admin/polling-concurrency?page=2&page_size=2')).toMatchObject({
      items: [{ task_type: 'package' }],
      page: 2,
      page_size: 2,
      total: 3,
    });
  });

  it.each([1, 100_000, 50])('sets a limit of %d, for good and at once', async (max_concurrency) => {
    const reply = await api.call('PUT', '/api/admin/polling-concurrency/package', {
      json: { max_concurrency },
    });
    expect(reply).toMatchObject({ status: 200, body: { task_type: 'package', max_concurrency, current: 0 } });
    expect(await api.records.configs.concurrency()).toMatchObject({ package: max_concurrency });
    expect(await api.live.work.counts('package')).toMatchObject({ maxConcurrency: max_concurrency });
  });

  it('resets the running count', async () => {
    await api.live.work.setMaxConcurrency('realname', 10);
    await api.live.work.pushManual('realname', ['1', '2', '3']);
    await api.live.work.claim('realname', { workerId: 'gone', claimNumber: 1, max: 3, leaseMs: 600_000 });
    const reset = () =>
      api.call('POST', '/api/admin/polling-concurrency/reset', { json: { task_type: 'realname' } });
    expect(await reset()).toMatchObject({
      status: 200,
      body: { task_type: 'realname', previous: 3, current: 0 },
    });
    expect((await reset()).body).toEqual({ task_type: 'realname', previous: 0, current: 0 });
  });
});

describe('polling-configs', () => {
  it('lists the seeded configs', async () => {
    const list = await get('/api/admin/polling-configs');
    expect(list).toMatchObject({ page: 1, page_size: 20, total: 4 });
    expect(list.items[0]).toEqual({
      id: 1,
      name: expect.any(String),
      task_type: 'realname',
      card_condition: 'not_verified',
      carrier_id: null,
      interval_seconds: 60,
      priority: expect.any(Number),
      status: 1,
    });
  });

  it.each([
    [{ status: 0 }, { status: 0, interval_seconds: 1800 }],
    [{ interval_seconds: 2_592_000 }, { status: 0, interval_seconds: 2_592_000 }],
    [
      { status: 1, interval_seconds: 1 },
      { status: 1, interval_seconds: 1 },
    ],
  ])('takes %j', async (json, changed) => {
    const reply = await api.call('PUT', '/api/admin/polling-configs/4', { json });
    expect(reply).toMatchObject({ status: 200, body: { id: 4, task_type: 'package', ...changed } });
    expect((await get('/api/admin/polling-configs')).items[3]).toEqual(reply.body);
  });
});

describe('cards', () => {
  const POLLED_AT_MS = Date.now() - 5_000;

  beforeAll(async () => {
    await importCards([501, 502]);
    await buildRing(1, 'realname', [501]);
    await buildRing(3, 'carddata', [501]);
    const month = new MonthCalendar('Asia/Shanghai').monthOf(Date.now());
    await api.records.results.ensurePartitions(month);
    const next = { month, usedMb: 12.5, lastReadingMb: 12.5, readAtMs: POLLED_AT_MS };
    await api.records.results.write([
      { cardId: 501, taskType: 'carddata', polledAtMs: POLLED_AT_MS, usage: { next, basedOnReadAtMs: null } },
    ]);
  });

  it.each([
    ['card_id', '501'],
    ['iccid', iccidOf(501)],
  ])('shows a card by %s', async (_how, key) => {
    const rings = await api.live.rings.list();
    const due = (configId: number) => {
      const ring = rings.find((one) => one.configId === configId) as RingState;
      return new Date(nextDueAt(ring, 501)).toISOString();
    };
    expect(await get(`/api/admin/cards/${key}`)).toEqual({
      card_id: 501,
      iccid: iccidOf(501),
      carrier_id: 7,
      status: 1,
      real_name_verified: false,
      stopped: false,
      allowance_mb: 500,
      used_mb_month: 12.5,
      usage_month: new MonthCalendar('Asia/Shanghai').monthOf(Date.now()),
      last_polled_at: { realname: null, carddata: new Date(POLLED_AT_MS).toISOString(), package: null },
      next_due_at: { realname: due(1), carddata: due(3), package: null },
    });
  });

  it('knows no due time for a card that is not loaded or whose config is disabled', async () => {
    const nothing = { realname: null, carddata: null, package: null };
    expect((await get('/api/admin/cards/502')).next_due_at).toEqual(nothing);
    await api.call('PUT', '/api/admin/polling-configs/1', { json: { status: 0 } });
    expect((await get('/api/admin/cards/501')).next_due_at).toMatchObject({ realname: null });
    await api.call('PUT', '/api/admin/polling-configs/1', { json: { status: 1 } });
    expect((await get('/api/admin/cards/501')).next_due_at.realname).toMatch(RFC_3339_UTC);
  });
});

describe('probes', () => {
  beforeEach(() => {
    api.problems = [];
  });

  it('is alive and ready', async () => {
    expect(await get('/livez')).toEqual({ status: 'ok' });
    expect(await get('/readyz')).toEqual({ status: 'ready' });
  });

  it('says why it is not ready, and is alive all the same', async () => {
    api.problems = ['the claim loop stands still', 'Redis does not answer'];
    const reply = await api.call('GET', '/readyz');
    expect(reply).toMatchObject({ status: 503, body: { status: 503, code: 'not_ready' } });
    expect(reply.body.detail).toBe('the claim loop stands still; Redis does not answer');
    expect(await get('/livez')).toEqual({ status: 'ok' });
  });

  it('knows its version', async () => {
    expect(await get('/version')).toEqual({
      name: 'cardpoll',
      version: '1.2.3',
      node: process.versions.node,
    });
  });

  it('answers HEAD like GET, without the body', async () => {
    expect(await api.call('HEAD', '/livez')).toMatchObject({ status: 200, body: null });
  });
});

describe('the OpenAPI document', () => {
  const SERVED = {
    '/livez': ['get'],
    '/readyz': ['get'],
    '/version': ['get'],
    '/openapi.json': ['get'],
    '/metrics': ['get'],
    '/api/admin/polling-stats': ['get'],
    '/api/admin/polling-stats/queues': ['get'],
    '/api/admin/polling-stats/tasks': ['get'],
    '/api/admin/polling-stats/init-progress': ['get'],
    '/api/admin/polling-concurrency': ['get'],
    '/api/admin/polling-concurrency/{task_type}': ['put'],
    '/api/admin/polling-concurrency/reset': ['post'],
    '/api/admin/polling-configs': ['get'],
    '/api/admin/polling-configs/{id}': ['put'],
    '/api/admin/cards/import': ['post'],
    '/api/admin/cards/{card}': ['get'],
  };
  type Operations = Record<string, Record<string, unknown>>;

  it('lists exactly the served routes', async () => {
    const { paths } = (await get('/openapi.json')) as { paths: Operations };
    const listed = Object.entries(paths).map(([path, methods]) => [path, Object.keys(methods)]);
    expect(Object.fromEntries(listed)).toEqual(SERVED);
  });

  it('is right about what is served: other methods are refused with just these in Allow', async () => {
    for (const [path, methods] of Object.entries(SERVED)) {
      const reply = await api.call('TRACE', path.replace('{task_type}', 'realname').replace(/\{\w+\}/, '1'));
      const allowed = String(reply.headers.allow).toLowerCase().split(', ');
      expect([path, allowed.filter((method) => method !== 'head')]).toEqual([path, methods]);
    }
  });

  it('describes requests, answers and problems', async () => {
    const { paths } = await get('/openapi.json');
    const { requestBody, responses } = paths['/api/admin/polling-concurrency/{task_type}'].put;
    expect(requestBody.content['application/json'].schema).toMatchObject({
      required: ['max_concurrency'],
      properties: { max_concurrency: { type: 'integer', minimum: 1, maximum: 100_000 } },
    });
    const upload = paths['/api/admin/cards/import'].post.requestBody.content;
    expect(Object.keys(upload)).toEqual(['text/csv', 'application/x-ndjson']);
    expect(responses['200'].content['application/json'].schema.properties).toHaveProperty('current');
    expect(responses.default.content['application/problem+json'].schema.required).toContain('code');
  });
});
