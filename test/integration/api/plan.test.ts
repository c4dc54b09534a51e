// GET /api/admin/plan over real stores: its facts, its bounds and who may ask.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { durationBucketOf } from '../../../src/domain/numbers.ts';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { cardRow } from '../../support/cards.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { setLimit } from '../../support/limits.ts';
import { instanceOf } from '../../support/polled-fleet.ts';
import { statsDelta } from '../../support/stats-delta.ts';
import { waitFor } from '../../support/wait-for.ts';

const VIEWER = 'viewer-token-viewer-token';
let api: ApiUnderTest;

beforeAll(async () => {
  api = await startApi({
    redisUrl: (await freshRedis()).url,
    databaseUrl: await freshDatabase(),
    tokens: [{ role: 'viewer', token: VIEWER }],
  });
});
afterAll(() => api.close());

const plan = (query: string) =>
  api.call('GET', `/api/admin/plan${query}`, { headers: { authorization: `Bearer ${VIEWER}` } });

it('a fleet that has polled nothing yet gets an answer that guesses nothing', async () => {
  const { status, body } = await plan('?add=2000000');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ...{ verdict: 'unknown', cards: 0, planned_cards: 2_000_000 },
    instances: { workers: 0, per_second: null, at_least: null },
  });
  expect(body.tasks[1]).toMatchObject({
    task_type: 'carddata',
    ...{ planned_per_second: null, best_per_second: null, call_ms: null, needed_concurrency: null },
  });
});

it('a fleet that polls gets the limits that the planned cards need, from what its calls took', async () => {
  const cards = Array.from({ length: 40 }, (_, at) => at + 1);
  await api.records.cards.importChunk(cards.map((id) => cardRow(id)));
  for (const { id, taskType } of await api.records.configs.list()) {
    const ring = { configId: id, taskType };
    await api.live.rings.configure(ring, { intervalMs: 3_600_000, enabled: true });
    await api.live.rings.startGeneration(ring, 64);
    if (taskType === 'carddata') await api.live.rings.add(ring, cards);
    await api.live.rings.activate(ring);
  }
  await setLimit(api.live.work, 'carddata', 4);
  const delta = { succeeded: 10, durationMs: 1_000, succeededMs: 1_000 };
  const polls = statsDelta({ ...delta, durations: { [durationBucketOf(100)]: 10 } });
  await api.live.stats.record('carddata', 'w1', 1, polls);
  const now = Date.now();
  await api.live.coordination.heartbeat(
    { ...instanceOf('w1'), roles: ['worker'], heartbeatAtMs: now },
    60_000,
  );

  // The number of cards is counted once a second.
  await waitFor(async () => (await plan('')).body.cards === cards.length);
  const { body } = await plan('?cards=4000000&interval=carddata:600');
  expect(body).toMatchObject({ verdict: 'needs', cards: 40, planned_cards: 4_000_000 });
  expect(body.tasks[1]).toMatchObject({
    ...{ interval_seconds: 600, planned_per_second: 6_666.67, call_ms: 100, call_ms_from: 'last_seconds' },
    ...{ max_concurrency: 4, needed_concurrency: 734, command: 'cardpoll concurrency set carddata 734' },
  });
  expect(body.instances.workers).toBe(1);
  expect(body.redis.used_bytes).toBeGreaterThan(0);
  expect(body.database.bytes).toBeGreaterThan(0);
});

it.each<readonly [query: string, field: string, said: string]>([
  ['?cards=1000000000000', 'cards', 'must be a whole number from 0 to 1000000000'],
  ['?add=1000000000000', 'add', 'must be a whole number from -1000000000 to 1000000000'],
  ['?add=1000000000', 'add', 'must leave 0 to 1000000000 cards in all: there are 40'],
  ['?add=-41', 'add', 'must leave 0 to 1000000000 cards in all: there are 40'],
  ['?cards=1&add=1', 'add', 'must not be given together with cards'],
  ['?cards=', 'cards', 'must be a whole number from 0 to 1000000000'],
  ...['carddata', 'flow:60', 'carddata:0', 'carddata:60,carddata:70', 'carddata:60:1', ''].map(
    (interval) => [`?interval=${interval}`, 'interval', 'must be like carddata:600,package:3600'] as const,
  ),
])('%s is refused with 422', async (query, field, said) => {
  const { status, body } = await plan(query);
  expect([status, body.code]).toEqual([422, 'invalid_field']);
  expect(body.errors).toEqual([expect.objectContaining({ field, message: expect.stringContaining(said) })]);
});
