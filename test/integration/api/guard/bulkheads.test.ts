// Expensive requests at a time, over real HTTP and a database that is held up.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiUnderTest, startApi } from '../../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../../support/fresh-stores.ts';

const PREVIEW = '/api/admin/polling-manual-trigger/preview';

let api: ApiUnderTest;
let database: pg.Client;

beforeAll(async () => {
  const databaseUrl = await freshDatabase();
  api = await startApi({ redisUrl: (await freshRedis()).url, databaseUrl });
  database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await api.close();
});

it('further counts are refused with 429 and a time, equal ones share one, and others go on', async () => {
  const preview = (carrier: number) => api.call('GET', `${PREVIEW}?carrier_id=${carrier}`);
  await database.query('BEGIN');
  await database.query('LOCK TABLE cards IN ACCESS EXCLUSIVE MODE');
  const served = [1, 2, 1, 2, 1].map(preview);
  const refused = await Promise.all([3, 4].map(preview));
  for (const reply of refused) {
    expect(reply).toMatchObject({ status: 429, body: { code: 'too_busy' } });
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
  }
  expect((await api.call('GET', '/api/admin/polling-configs')).status).toBe(200);
  await database.query('COMMIT');
  for (const reply of await Promise.all(served)) expect(reply.status).toBe(200);
  expect((await preview(3)).status).toBe(200);
  const { body } = await api.call('GET', '/metrics');
  expect(body).toContain('cardpoll_http_refused_total{reason="bulkhead"} 2');
});

it.each([
  ['a preview', PREVIEW, 400],
  ['the preview of a cleanup', '/api/admin/data-cleanup/preview', 400],
  ['the statistics', '/api/admin/polling-stats', 250],
  ['the history', '/api/admin/polling-stats/history?minutes=5', 250],
])('a client that asks again at once for %s waits', async (_, path, everyMs) => {
  await api.call('GET', path);
  const startedMs = performance.now();
  const shared = await Promise.all([1, 2, 3].map(() => api.call('GET', path)));
  await api.call('GET', path);
  expect(shared.map(({ status }) => status)).toEqual([200, 200, 200]);
  // The first pause began before the clock of this test.
  expect(performance.now() - startedMs).toBeGreaterThan(everyMs);
});

it('statistics show a change that was made before they were asked for', async () => {
  for (const limit of [11, 12, 13]) {
    const change = { json: { max_concurrency: limit } };
    await api.call('PUT', '/api/admin/polling-concurrency/realname', change);
    const { body } = await api.call('GET', '/api/admin/polling-stats/queues');
    expect(body.items[0]).toMatchObject({ task_type: 'realname', concurrency: { max: limit } });
  }
});

it('the API description has an ETag, and is not sent to those who have it', async () => {
  const whole = await api.call('GET', '/openapi.json');
  const { etag } = whole.headers as { etag: string };
  expect([whole.status, whole.body.openapi, etag]).toEqual([
    200,
    '3.1.0',
    expect.stringMatching(/^"[\w-]+"$/),
  ]);
  const known = await api.call('GET', '/openapi.json', { headers: { 'if-none-match': etag } });
  expect([known.status, known.body, known.headers.etag]).toEqual([304, null, etag]);
  expect(known.headers['cache-control']).toBe('no-cache');
});

it('exports are complete, as many as may run at a time', async () => {
  await database.query(
    `INSERT INTO cards (card_id, iccid, carrier_id, status, real_name_verified)
     SELECT id, '8986' || lpad(id::text, 16, '0'), 1, 1, false FROM generate_series(1, 2500) AS id`,
  );
  const exports = await Promise.all(
    Array.from({ length: 8 }, () => api.call('GET', '/api/admin/cards/export')),
  );
  for (const { status, body } of exports)
    expect([status, body.trim().split('\n').length]).toEqual([200, 2_501]);
});
