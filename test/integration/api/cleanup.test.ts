// Cleanup through the API: retentions, the preview, and one run at a time. What a run removes: the contract suite.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/platform/clock.ts';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { query } from '../../support/postgres-server.ts';

const CLEANUP = '/api/admin/data-cleanup';
const DAY_MS = 86_400_000;

let api: ApiUnderTest;

beforeAll(async () => {
  const databaseUrl = await freshDatabase();
  api = await startApi({ redisUrl: (await freshRedis()).url, databaseUrl });
  await query(
    databaseUrl,
    `INSERT INTO manual_triggers (trigger_id, kind, task_type, status, total, feeding, finished_at)
    SELECT 'old-' || n, 'batch', 'realname', 'completed', 0, false, clock_timestamp() - interval '10 years'
    FROM generate_series(1, 3) n`,
  );
});
afterAll(() => api.close());

const get = async (path: string) => (await api.call('GET', path)).body;
const post = (verb: string) => api.call('POST', `${CLEANUP}/${verb}`);
const progress = () => get(`${CLEANUP}/progress`);

async function runToTheEnd(): Promise<void> {
  while ((await api.records.cleanup.step()).state !== 'idle');
}

it('a retention is shown by its id and changed in what is given', async () => {
  const { items } = await get(`${CLEANUP}-configs`);
  expect(items.length).toBeGreaterThan(1);
  const path = `${CLEANUP}-configs/${items[1].id}`;
  expect(await get(path)).toEqual(items[1]);
  const put = (json: object) => api.call('PUT', path, { json });
  expect((await put({ retention_days: 91 })).body).toEqual({ ...items[1], retention_days: 91 });
  expect((await put({ enabled: false })).body).toEqual({ ...items[1], retention_days: 91, enabled: false });
  const { retention_days, enabled } = items[1];
  expect((await put({ retention_days, enabled })).body).toEqual(items[1]);
});

it('a preview counts what has expired, removes nothing, and trusts no clock that is years ahead', async () => {
  const { items, total_rows } = await get(`${CLEANUP}/preview`);
  const [triggers] = items.filter(({ rows }: { rows: number }) => rows > 0);
  expect([total_rows, triggers.rows, triggers.estimated]).toEqual([3, 3, false]);
  const daysAgo = (Date.now() - Date.parse(triggers.cutoff)) / DAY_MS;
  expect(Math.abs(daysAgo - triggers.retention_days)).toBeLessThan(2);
  const ahead = Date.now() + 20 * 365 * DAY_MS;
  const now = vi.spyOn(systemClock, 'now').mockReturnValue(ahead);
  const cutoffs = (await get(`${CLEANUP}/preview`)).items.map(({ cutoff }: { cutoff: string }) => cutoff);
  now.mockRestore();
  expect(cutoffs.length).toBeGreaterThan(1);
  expect(Math.max(...cutoffs.map(Date.parse))).toBeLessThan(Date.now());
});

it('runs are made one at a time, are cancelled once, and say how much they removed', async () => {
  const none = { deleted: 0, batches: 0, started_at: null, finished_at: null };
  expect(await progress()).toEqual({ run_id: null, status: 'idle', items: [], ...none });
  const { body } = await post('trigger');
  expect(await post('trigger')).toMatchObject({
    status: 409,
    body: {
      code: 'cleanup_running',
      detail: expect.stringContaining('a cleanup is already running'),
      hint: 'follow it with `cardpoll cleanup progress`',
    },
  });
  expect(await progress()).toMatchObject({ run_id: body.run_id, status: 'running', finished_at: null });
  expect(await post('cancel'), 'until its step is over').toMatchObject({ body: { status: 'running' } });
  await runToTheEnd();
  expect(await progress()).toMatchObject({ run_id: body.run_id, status: 'failed' });
  expect(await post('cancel')).toMatchObject({
    status: 409,
    body: { code: 'cleanup_not_running', detail: expect.stringContaining('no cleanup is running') },
  });
  const second = await post('trigger');
  await runToTheEnd();
  expect(await progress()).toMatchObject({
    ...{ run_id: second.body.run_id, status: 'completed', deleted: 3, finished_at: expect.any(String) },
  });
  expect(await get(`${CLEANUP}/preview`)).toMatchObject({ total_rows: 0 });
});
