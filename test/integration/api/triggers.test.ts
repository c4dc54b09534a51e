// Manual triggers through the API alone: no instance leads and none polls, so the leader adds no cards.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { CardpollError } from '../../../src/platform/errors.ts';
import type { WorkItem } from '../../../src/store/ports/live/work-queue.ts';
import { type ApiUnderTest, type Reply, startApi } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { query } from '../../support/postgres-server.ts';

const TRIGGERS = '/api/admin/polling-manual-trigger';
const AWAY = new CardpollError('unavailable', 'live_store_unreachable', 'away');

let api: ApiUnderTest;
let triggerId: string;
let claimNumber = 0;

beforeAll(async () => {
  const databaseUrl = await freshDatabase();
  api = await startApi({ redisUrl: (await freshRedis()).url, databaseUrl });
  await query(
    databaseUrl,
    `INSERT INTO cards (card_id, iccid, carrier_id, status)
    SELECT id, '8986' || lpad(id::text, 16, '0'), id % 4, id % 3 FROM generate_series(1, 12) id`,
  );
});
afterAll(() => api.close());

const make = async (kind: string, json: object): Promise<Reply['body']> => {
  const reply = await api.call('POST', `${TRIGGERS}/${kind}`, { json: { task_type: 'realname', ...json } });
  expect(reply.status).toBe(202);
  return reply.body;
};
const batch = (...card_ids: number[]) => make('batch', { card_ids });
const post = (path: string, json: object) => api.call('POST', `${TRIGGERS}/${path}`, { json });
const cancel = (trigger_id: string) => post('cancel', { trigger_id });
const cancelAll = (json: object) => post('cancel-all', json);

beforeEach(async () => {
  await cancelAll({});
  triggerId = (await batch(1, 2, 3, 4)).trigger_id;
});
afterEach(() => {
  vi.restoreAllMocks();
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
const show = async (id = triggerId) => (await api.call('GET', `${TRIGGERS}/${id}`)).body;
const manualLength = async () => (await api.live.work.counts('realname')).manualLength;

describe('a new trigger', () => {
  beforeEach(() => cancelAll({}));

  it('a new trigger of a single card is put into the list at once', async () => {
    const made = await make('single', { card_id: 5 });
    expect(made).toMatchObject({ kind: 'single', total: 1, waiting: 1, running: 0, finished_at: null });
    const items = await claim(10);
    expect(items.map(({ cardId }) => cardId)).toEqual([5]);
    await settle(items);
    expect(await post('single', { task_type: 'realname', card_id: 99 })).toMatchObject({
      status: 404,
      body: { code: 'card_not_found', detail: expect.stringContaining('there is no card 99') },
    });
  });

  it('a new trigger of many cards has each existing card once, and names the unknown ones', async () => {
    const made = await batch(3, 99, 3, 4, 98);
    expect(made).toMatchObject({ kind: 'batch', total: 2, waiting: 2, unknown_card_ids: [99, 98] });
    const items = await claim(10);
    expect(items.map(({ cardId }) => cardId).sort()).toEqual([3, 4]);
    await settle(items);
    expect(await batch(...Array(10_000).fill(1))).toMatchObject({ total: 1 });
    const tooMany = { task_type: 'realname', card_ids: Array(10_001).fill(1) };
    expect(await post('batch', tooMany)).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'card_ids' }] },
    });
    expect(await batch(99)).toMatchObject({ status: 'completed', total: 0 });
  });

  it.each([
    [{ carrier_id: 1 }, 3],
    [{ status: 2 }, 4],
    [{ carrier_id: 1, status: 2 }, 1],
    [{}, 12],
  ])('by the condition %j selects %i cards, which the leader adds', async (condition, total) => {
    const query = Object.entries(condition)
      .map((pair) => pair.join('='))
      .join('&');
    const preview = await api.call('GET', `${TRIGGERS}/preview?${query}`);
    expect(preview.body).toEqual({ matching: total, estimated: false });
    expect(await make('by-condition', condition)).toMatchObject({
      ...{ kind: 'by_condition', total, total_estimated: false, waiting: total },
      selection: { carrier_id: null, status: null, ...condition },
    });
    expect(await manualLength()).toBe(0);
  });

  it('is accepted while the list cannot be reached, and fails with any other error', async () => {
    const push = vi.spyOn(api.live.manual, 'push').mockRejectedValueOnce(AWAY);
    expect(await batch(1, 2)).toMatchObject({ status: 'queued', waiting: 2 });
    for (const [bug, status] of [
      [new TypeError('a bug'), 500],
      [new CardpollError('busy', 'x', 'a bug'), 409],
    ] as const) {
      push.mockRejectedValueOnce(bug);
      expect((await post('batch', { task_type: 'realname', card_ids: [1] })).status).toBe(status);
    }
  });
});

it('cancel empties the list itself, leaves what runs, and is made once', async () => {
  const running = await claim(1);
  const reply = await cancel(triggerId);
  expect(reply).toMatchObject({ status: 200, body: { status: 'cancelled', waiting: 0, running: 1 } });
  expect(await manualLength()).toBe(0);
  await count(running);
  await settle(running);
  expect(await show()).toMatchObject({ status: 'cancelled', running: 0, succeeded: 1, failed: 0 });
  expect(await cancel(triggerId)).toMatchObject({
    status: 409,
    body: {
      code: 'trigger_finished',
      detail: expect.stringContaining(`manual trigger ${triggerId} has already ended`),
    },
  });
});

it('triggers are cancelled while the list cannot be reached: the leader empties it', async () => {
  const remove = vi.spyOn(api.live.manual, 'remove').mockRejectedValue(AWAY);
  vi.spyOn(api.live.manual, 'running').mockRejectedValueOnce(AWAY);
  expect((await cancel(triggerId)).body).toMatchObject({ status: 'cancelled', waiting: 0 });
  await batch(3);
  expect((await cancelAll({})).body).toEqual({ triggers: 1, cards: 1 });
  expect(await manualLength()).toBe(5);
  expect((await api.records.triggers.feeding(10)).length).toBeGreaterThanOrEqual(2);
  remove.mockRejectedValue(new TypeError('a bug'));
  expect((await cancel((await batch(4)).trigger_id)).status).toBe(500);
  vi.restoreAllMocks();
  await settle(await claim(10));
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
  await cancel(triggerId);
  expect(await show()).toMatchObject({ waiting: 0, early: 0, early_until: null });
});

it('no card is both counted and running, although its lease ends after it was counted', async () => {
  const items = await claim(4);
  expect(await show()).toMatchObject({ waiting: 0, running: 4, succeeded: 0 });
  await count(items.slice(0, 3));
  expect(await show()).toMatchObject({ waiting: 0, running: 1, succeeded: 3 });
  await settle(items.slice(0, 3));
  const { trigger_id } = await make('single', { card_id: 1, task_type: 'package' });
  const list = await api.call('GET', `${TRIGGERS}?page_size=2`);
  expect(list.body.items, 'the newest first').toEqual([await show(trigger_id), await show()]);
  await count(items.slice(3));
  expect(await show()).toMatchObject({ status: 'completed', waiting: 0, running: 0, succeeded: 4 });
  await settle(items.slice(3));
});

it('cancel-all cancels what dry_run counts, and refuses what it does not know', async () => {
  await cancel(triggerId);
  const condition = await make('by-condition', { task_type: 'package' });
  await batch(1, 2);
  const over = await batch(99);
  const counted = await cancelAll({ dry_run: true });
  expect(counted).toMatchObject({ status: 200, body: { triggers: 2, cards: 14 } });
  expect((await cancelAll({ task_type: 'realname' })).body).toEqual({ triggers: 1, cards: 2 });
  expect(await manualLength()).toBe(0);
  for (const wrong of [{ tasktype: 'package' }, { task_type: 'all' }, { dry_run: 'yes' }])
    expect((await cancelAll(wrong)).status).toBe(422);
  expect((await cancelAll({})).body).toEqual({ triggers: 1, cards: 12 });
  const ended = [await show(condition.trigger_id), await show(over.trigger_id)];
  expect(ended).toMatchObject([{ status: 'cancelled', waiting: 0 }, { status: 'completed' }]);
  expect((await cancelAll({})).body).toEqual({ triggers: 0, cards: 0 });
});
