// Every endpoint of the admin API over real HTTP, Redis and PostgreSQL: what it answers and what it changes.

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import { durationBucketOf } from '../../../src/domain/numbers.ts';
import { nextDueAt } from '../../../src/domain/schedule/phase.ts';
import { perTaskType } from '../../../src/domain/task-type.ts';
import type { InitProgress } from '../../../src/store/ports/live/coordination.ts';
import type { RingState } from '../../../src/store/ports/live/rings.ts';
import { claim, queueCards, settle } from '../../contract/live-store/stores.ts';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { cardRow } from '../../support/cards.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { setLimit } from '../../support/limits.ts';
import { instanceOf } from '../../support/polled-fleet.ts';
import { statsDelta } from '../../support/stats-delta.ts';

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
  const fields = { carrierId: 7, allowanceMb: 500 };
  await api.records.cards.importChunk(
    cardIds.map((cardId) => cardRow(cardId, { ...fields, iccid: iccidOf(cardId) })),
  );
}

/** Builds the ring of a seeded config with these members. */
async function buildRing(configId: number, taskType: RingState['taskType'], cardIds: readonly number[]) {
  const ring = { configId, taskType };
  await api.live.rings.configure(ring, { intervalMs: 3_600_000, enabled: true });
  await api.live.rings.startGeneration(ring, 64);
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
    await setLimit(api.live.work, 'carddata', 4);
    await api.live.manual.push('carddata', ['1', '2', '3']);
    await api.live.work.claim('carddata', { instanceId: 'w1', claimNumber: 1, max: 1, leaseMs: 60_000 });
    await api.live.stats.record(
      'carddata',
      'w1',
      1,
      statsDelta({
        succeeded: 9,
        failed: 1,
        durationMs: 1_000,
        durations: { [durationBucketOf(100)]: 10 },
        reasons: { timeout: 1 },
        carriers: new Map([[7, { polls: 3, failed: 1 }]]),
      }),
    );
    const now = Date.now();
    const host = { hostname: 'h', pid: 42, probeAddress: '127.0.0.1:7481' };
    const worker = { ...host, version: '1.2.3', roles: ['worker', 'scheduler'], inFlight: 1 };
    const times = { startedAtMs: now - 60_000, heartbeatAtMs: now };
    await api.live.coordination.heartbeat(
      { ...instanceOf('w1'), ...worker, ...times, cacheHits: 3, cacheMisses: 1 },
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

  it('shows the state of every queue', async () => {
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
      backoff: 0,
      scheduled_cards: 0,
      demand_per_second: 0,
      schedule_lag_seconds: 0,
      overdue_cards: 0,
      interval_seconds: null,
      achieved_interval_seconds: null,
      skipped_revolutions: 0,
      concurrency: { current: 0, max: 100, usage_percent: 0 },
      effective_concurrency: 100,
    });
  });

  it('shows how every task type does, with null where nothing was polled', async () => {
    const { items } = await get('/api/admin/polling-stats/tasks');
    expect(items[1]).toMatchObject({ ...carddata, ...counted });
    expect(items[2]).toMatchObject({
      task_type: 'package',
      total: 0,
      success_rate: null,
      avg_duration_ms: null,
    });
  });

  it('shows the median and the 95th percentile of poll durations', async () => {
    const { items } = await get('/api/admin/polling-stats/tasks');
    expect(items[1].p50_ms).toBeGreaterThan(75);
    expect(items[1].p50_ms).toBeLessThan(items[1].p95_ms);
    expect(items[1].p95_ms).toBeLessThan(130);
    expect(items[2]).toMatchObject({ p50_ms: null, p95_ms: null });
  });

  it('shows why polls fail and for which cards', async () => {
    const note = { cardId: 2, reason: 'timeout', message: 'no answer within 5000 ms', durationMs: 5_000 };
    await api.live.failures.note('realname', [note]);
    await queueCards(api.live, [2]);
    await settle(api.live, (await claim(api.live, 1)).items, 'failed', { baseMs: 1, capMs: 0 });
    const { items } = await get('/api/admin/polling-stats/failures');
    expect(items[1]).toMatchObject({
      task_type: 'carddata',
      reasons: [{ reason: 'timeout', count: 1 }],
      carriers: [{ carrier_id: 7, polls: 3, failed: 1, failed_percent: 33.33 }],
      failing_cards: 0,
      cards: [],
    });
    expect(items[0]).toMatchObject({
      task_type: 'realname',
      reasons: [],
      carriers: [],
      failing_cards: 1,
      cards: [{ card_id: 2, reason: 'timeout', message: note.message, duration_ms: 5_000, attempts: 1 }],
    });
  });

  it('shows the last minutes', async () => {
    const nowMs = Date.now();
    const numbers = { p50Ms: 10, p95Ms: 20, queueLength: 5, inFlight: 1, backoff: 2, manualLength: 0 };
    const limits = { effectiveConcurrency: 4, maxConcurrency: 4 };
    const sample = { ratePerSecond: 8, failedPerSecond: 2, ...numbers, ...limits };
    const at = (atMs: number) => ({ atMs, tasks: perTaskType(() => sample) });
    for (const ageMs of [20 * 60_000, 2_000]) await api.live.history.save('second', at(nowMs - ageMs));
    await api.live.history.save('minute', at(nowMs - 20 * 60_000));
    const seconds = await get('/api/admin/polling-stats/history');
    expect(seconds.step_seconds).toBe(1);
    expect(seconds.items).toHaveLength(1);
    expect(seconds.items[0]).toMatchObject({ at: expect.stringMatching(RFC_3339_UTC) });
    expect(seconds.items[0].tasks[2]).toEqual({
      task_type: 'package',
      rate_per_second: 8,
      failed_per_second: 2,
      success_rate: 75,
      p50_ms: 10,
      p95_ms: 20,
      queue_length: 5,
      in_flight: 1,
      backoff: 2,
      manual_length: 0,
      effective_concurrency: 4,
      max_concurrency: 4,
    });
    const minutes = await get('/api/admin/polling-stats/history?minutes=60');
    expect(minutes).toMatchObject({
      step_seconds: 60,
      items: [{ at: new Date(nowMs - 20 * 60_000).toISOString() }],
    });
    for (const wrong of ['0', '1441', 'x', '']) {
      const { status } = await api.call('GET', `/api/admin/polling-stats/history?minutes=${wrong}`);
      expect(status, wrong).toBe(422);
    }
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
          roles: ['worker', 'scheduler'],
          probe_address: '127.0.0.1:7481',
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
      reason: 'build',
      reconciliation: expect.objectContaining({
        reason: 'continuous',
        healed_missing: 0,
        requested_at: null,
      }),
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
      reason: 'build',
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
      members: null,
      achieved_interval_seconds: null,
      skipped_revolutions: 0,
      problems: expect.any(Array),
    });
  });

  it('creates, shows, changes and deletes one, and lists its problems', async () => {
    const json = { name: 'VIP', task_type: 'carddata', card_condition: 'any', interval_seconds: 300 };
    const created = await api.call('POST', '/api/admin/polling-configs', { json });
    expect(created).toMatchObject({
      status: 201,
      body: { ...json, carrier_id: null, priority: 0, status: 1 },
    });
    // The seeded config 3 has the same cards and the lower id.
    expect(created.body.problems).toEqual(['every card it matches is polled by config 3']);
    const path = `/api/admin/polling-configs/${created.body.id}`;
    expect(await get(path)).toEqual(created.body);
    const patch = {
      carrier_id: 77,
      priority: 5,
      task_type: 'package',
      card_condition: 'verified',
      name: 'V',
    };
    const changed = await api.call('PUT', path, { json: patch });
    expect(changed).toMatchObject({ status: 200, body: { ...patch, interval_seconds: 300 } });
    expect((await api.call('PUT', path, { json: { carrier_id: null } })).body.carrier_id).toBeNull();
    const deleted = await api.call('DELETE', path, {});
    expect(deleted).toMatchObject({ status: 200, body: { id: created.body.id, name: 'V' } });
    expect((await api.call('GET', path, {})).status).toBe(404);
    expect((await api.call('DELETE', path, {})).body.code).toBe('config_not_found');
  });

  it('lets the last config of a type be disabled, and says so', async () => {
    const path = '/api/admin/polling-configs/4';
    const disabled = await api.call('PUT', path, { json: { status: 0 } });
    expect(disabled).toMatchObject({ status: 200, body: { problems: ['no enabled config polls package'] } });
    expect((await api.call('PUT', path, { json: { status: 1 } })).body.problems).toEqual([]);
  });

  it('takes a request to compare everything, once', async () => {
    const first = await api.call('POST', '/api/admin/polling-init/rebuild', {});
    expect(first).toMatchObject({
      status: 202,
      body: {
        status: expect.any(String),
        reconciliation: { requested_at: expect.stringMatching(RFC_3339_UTC) },
      },
    });
    const second = await api.call('POST', '/api/admin/polling-init/rebuild', {});
    expect(second.body.reconciliation).toEqual(first.body.reconciliation);
    expect((await get('/api/admin/polling-stats/init-progress')).reconciliation).toEqual(
      first.body.reconciliation,
    );
  });

  it.each([
    [{ status: 0 }, { status: 0, interval_seconds: 1800 }],
    [{ interval_seconds: 2_592_000 }, { status: 0, interval_seconds: 2_592_000 }],
    [
      { status: 1, interval_seconds: 1 },
      { status: 1, interval_seconds: 1 },
    ],
    [{ name: 'x'.repeat(200), priority: -1_000_000 }, { priority: -1_000_000 }],
    [
      { name: 'package', priority: 1_000_000 },
      { name: 'package', priority: 1_000_000 },
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
    const next = {
      month,
      usedMb: 12.5,
      lastReadingMb: 12.5,
      suspectedMb: null,
      jump: null,
      readAtMs: POLLED_AT_MS,
    };
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
      vendor_id: null,
      used_mb_month: 12.5,
      usage_month: new MonthCalendar('Asia/Shanghai').monthOf(Date.now()),
      last_polled_at: { realname: null, carddata: new Date(POLLED_AT_MS).toISOString(), package: null },
      next_due_at: { realname: due(1), carddata: due(3), package: null },
    });
  });
});

describe('probes', () => {
  beforeEach(() => {
    api.problems = [];
  });

  it('is alive and ready', async () => {
    expect(await get('/livez')).toEqual({ status: 'ok' });
    expect(await get('/readyz')).toEqual({ status: 'ready', restraints: [] });
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
    const list = vi.spyOn(api.records.cards, 'list');
    const exported = await api.call('HEAD', '/api/admin/cards/export');
    expect(exported).toMatchObject({ status: 200, body: null, headers: { 'content-type': 'text/csv' } });
    // Nor are the cards read for it.
    expect(list).not.toHaveBeenCalled();
    list.mockRestore();
  });
});

describe('the OpenAPI document', () => {
  type Operations = Record<string, Record<string, unknown>>;

  it('is right about what is served: other methods are refused with just these in Allow', async () => {
    const { paths } = (await get('/openapi.json')) as { paths: Operations };
    for (const [path, operations] of Object.entries(paths)) {
      const methods = Object.keys(operations);
      const reply = await api.call('TRACE', path.replace('{task_type}', 'realname').replace(/\{\w+\}/, '1'));
      const allowed = String(reply.headers.allow).toLowerCase().split(', ');
      expect([path, allowed.filter((method) => method !== 'head')]).toEqual([path, methods.sort()]);
    }
  });

  it('gives numbers of a query as numbers, with their bounds', async () => {
    const { paths } = (await get('/openapi.json')) as {
      paths: Record<string, { get: { parameters: Array<{ name: string; schema: unknown }> } }>;
    };
    const { parameters } = paths['/api/admin/audit']?.get ?? { parameters: [] };
    const size = parameters.find(({ name }) => name === 'page_size');
    expect(size?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 100 });
  });

  it('describes requests, answers and problems', async () => {
    const { paths, components } = await get('/openapi.json');
    const named = ({ $ref }: { $ref: string }) => components.schemas[$ref.split('/').at(-1) ?? ''];
    const { requestBody, responses } = paths['/api/admin/polling-concurrency/{task_type}'].put;
    expect(requestBody.content['application/json'].schema).toMatchObject({
      required: ['max_concurrency'],
      properties: { max_concurrency: { type: 'integer', minimum: 1, maximum: 100_000 } },
    });
    const upload = paths['/api/admin/cards/import'].post.requestBody.content;
    expect(Object.keys(upload)).toEqual(['text/csv', 'application/x-ndjson']);
    expect(named(responses['200'].content['application/json'].schema).properties).toHaveProperty('current');
    expect(named(responses.default.content['application/problem+json'].schema).required).toContain('code');
  });
});
