// Manual triggers through the API alone: no instance leads and none polls, so nobody helps.
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { WorkItem } from '../../../src/store/ports/live/work-queue.ts';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';

const TRIGGERS = '/api/admin/polling-manual-trigger';

let api: ApiUnderTest;
let triggerId: string;
let claimNumber = 0;

beforeAll(async () => {
  const databaseUrl = await freshDatabase();
  api = await startApi({ redisUrl: (await freshRedis()).url, databaseUrl });
  const sql = new pg.Client({ connectionString: databaseUrl });
  await sql.connect();
  await sql.query(`INSERT INTO cards (card_id, iccid)
    SELECT id, '8986' || lpad(id::text, 16, '0') FROM generate_series(1, 4) id`);
  await sql.end();
});
afterAll(() => api.close());

beforeEach(async () => {
  const json = { card_ids: [1, 2, 3, 4], task_type: 'realname' };
  triggerId = (await api.call('POST', `${TRIGGERS}/batch`, { json })).body.trigger_id;
});

async function claim(max: number): Promise<readonly WorkItem[]> {
  claimNumber += 1;
  const request = { instanceId: 'w', claimNumber, max, leaseMs: 60_000 };
  return (await api.live.work.claim('realname', request)).items;
}

const count = (items: readonly WorkItem[]) =>
  api.records.triggers.count(items.map(({ cardId }) => ({ triggerId, cardId, succeeded: true })));
const settle = (items: readonly WorkItem[]) =>
  api.live.work.settle(
    'realname',
    items.map((item) => ({ item, verdict: 'done', random: 0 })),
    { baseMs: 0, capMs: 0 },
  );
const show = async () => (await api.call('GET', `${TRIGGERS}/${triggerId}`)).body;

it('cancel empties the list itself, and leaves what runs', async () => {
  const running = await claim(1);
  const reply = await api.call('POST', `${TRIGGERS}/cancel`, { json: { trigger_id: triggerId } });
  expect(reply).toMatchObject({ status: 200, body: { status: 'cancelled', waiting: 0, running: 1 } });
  expect((await api.live.work.counts('realname')).manualLength).toBe(0);
  await count(running);
  await settle(running);
  expect(await show()).toMatchObject({ status: 'cancelled', running: 0, succeeded: 1, failed: 0 });
});

it('shows how many cards are too early for the gateway, and until when', async () => {
  expect(await show()).toMatchObject({ waiting: 4, early: 0, early_until: null });
  const early = [600_000, 900_000].map((waitMs, i) => ({ triggerId, cardId: i + 1, waitMs }));
  await api.records.triggers.defer(early);
  const body = await show();
  expect(body).toMatchObject({ waiting: 4, early: 2 });
  expect(Date.parse(body.early_until)).toBeGreaterThan(Date.now() + 700_000);
  const { items } = (await api.call('GET', TRIGGERS)).body;
  expect(items[0]).toEqual(body);
  await api.call('POST', `${TRIGGERS}/cancel`, { json: { trigger_id: triggerId } });
  expect(await show()).toMatchObject({ waiting: 0, early: 0, early_until: null });
});

it('no card is both counted and running, although its lease ends after it was counted', async () => {
  const items = await claim(4);
  expect(await show()).toMatchObject({ waiting: 0, running: 4, succeeded: 0 });
  await count(items.slice(0, 3));
  expect(await show()).toMatchObject({ waiting: 0, running: 1, succeeded: 3 });
  await settle(items.slice(0, 3));
  expect(await show()).toMatchObject({ waiting: 0, running: 1, succeeded: 3 });
  await count(items.slice(3));
  expect(await show()).toMatchObject({ status: 'completed', waiting: 0, running: 0, succeeded: 4 });
  await settle(items.slice(3));
});

it('cancel-all cancels what dry_run counts, and refuses what it does not know', async () => {
  const cancelAll = (json: object) => api.call('POST', `${TRIGGERS}/cancel-all`, { json });
  await cancelAll({});
  await api.call('POST', `${TRIGGERS}/by-condition`, { json: { task_type: 'package' } });
  await api.call('POST', `${TRIGGERS}/batch`, { json: { card_ids: [1, 2], task_type: 'realname' } });
  const counted = await cancelAll({ dry_run: true });
  expect(counted).toMatchObject({ status: 200, body: { triggers: 2, cards: 6 } });
  expect((await cancelAll({ task_type: 'realname' })).body).toEqual({ triggers: 1, cards: 2 });
  expect((await api.live.work.counts('realname')).manualLength).toBe(0);
  for (const wrong of [{ tasktype: 'package' }, { task_type: 'all' }, { dry_run: 'yes' }])
    expect((await cancelAll(wrong)).status).toBe(422);
  expect((await cancelAll({ dry_run: true })).body).toEqual({ triggers: 1, cards: 4 });
});
