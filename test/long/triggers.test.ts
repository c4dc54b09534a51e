// Manual triggers on a live fleet whose schedule is off: what is triggered is polled, nothing else is, and the counts
// add up.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TASKS, type TaskType } from '../../src/domain/task-type.ts';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import type { PageBody } from '../../src/resources/schema.ts';
import type { BatchBody, TriggerBody } from '../../src/resources/triggers.ts';
import { Fleet } from '../support/fleet.ts';
import { query } from '../support/postgres-server.ts';
import { waitFor } from '../support/processes.ts';

const CARDS = 6_000;
const MANUAL = 'polling:manual:realname';

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start({ simulator: ['--latency-ms', '5'] });
  await fleet.startDaemon();
  for (const id of ['1', '2', '3', '4']) await fleet.cli('configs', 'disable', id, '--yes');
  const rows = Array.from({ length: CARDS }, (_, i) => `${i + 1},${demoIccid(i + 1)},${i % 3},${i % 2}`);
  const file = join(fleet.dir, 'cards.csv');
  writeFileSync(file, ['card_id,iccid,carrier_id,status', ...rows, ''].join('\n'));
  await fleet.cli('cards', 'import', file);
  await fleet.cli('concurrency', 'set', 'realname', '200', '--yes');
});
afterAll(() => fleet?.close());

async function post<T>(path: string, body: unknown): Promise<{ status: number; body: T }> {
  const response = await fetch(`${fleet.daemons.at(-1)?.url}/api/admin/polling-manual-trigger${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as T };
}

const show = (id: string) => fleet.get<TriggerBody>(`/api/admin/polling-manual-trigger/${id}`);

function over(id: string): Promise<TriggerBody> {
  return waitFor(
    async () => {
      const trigger = await show(id);
      return trigger.status === 'completed' ? trigger : null;
    },
    { everyMs: 50, what: `trigger ${id} to be completed` },
  );
}

async function removeCards(first: number, last: number): Promise<void> {
  await query(fleet.databaseUrl, 'DELETE FROM cards WHERE card_id BETWEEN $1 AND $2', [first, last]);
}

/** Waits until the worker log tells exactly these completed polls of the type. */
async function expectPolled(taskType: TaskType, cardIds: readonly number[]): Promise<void> {
  const polled = async () => {
    const lines = await fleet.logged(TASKS[taskType].completed);
    return lines.map((line) => Number(line.card_id)).sort((one, other) => one - other);
  };
  await waitFor(async () => (await polled()).length >= cardIds.length, { what: 'the polls to be logged' });
  expect(await polled()).toEqual(cardIds);
}

describe('single', () => {
  it('polls the card, once, although its config is disabled', async () => {
    const before = (await fleet.truth()).requests;
    const { status, body } = await post<TriggerBody>('/single', { card_id: 42, task_type: 'carddata' });
    expect(status).toBe(202);
    expect(body).toEqual({
      trigger_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      kind: 'single',
      task_type: 'carddata',
      status: 'queued',
      selection: null,
      total: 1,
      total_estimated: false,
      waiting: 1,
      running: 0,
      succeeded: 0,
      failed: 0,
      early: 0,
      early_until: null,
      created_at: expect.stringMatching(/Z$/),
      finished_at: null,
    });
    const done = await over(body.trigger_id);
    expect(done).toMatchObject({ total: 1, waiting: 0, running: 0, succeeded: 1, failed: 0 });
    expect(Date.parse(done.finished_at ?? '')).toBeGreaterThanOrEqual(Date.parse(done.created_at));
    expect((await fleet.truth()).requests - before).toBe(1);
    await expectPolled('carddata', [42]);
  });
});

describe('batch', () => {
  it('polls the known cards once each and lists the others', async () => {
    const { status, body } = await post<BatchBody>('/batch', {
      card_ids: [7, 999_999, 3, 7, 9_007_199_254_740_991, 5],
      task_type: 'package',
    });
    expect(status).toBe(202);
    expect(body).toMatchObject({
      kind: 'batch',
      total: 3,
      waiting: 3,
      unknown_card_ids: [999_999, 9_007_199_254_740_991],
    });
    expect(await over(body.trigger_id)).toMatchObject({ total: 3, succeeded: 3, failed: 0, waiting: 0 });
    await expectPolled('package', [3, 5, 7]);
  });

  it('counts a card that was removed meanwhile as failed', async () => {
    await fleet.cli('concurrency', 'set', 'package', '1', '--yes');
    const { body } = await post<BatchBody>('/batch', {
      card_ids: Array.from({ length: 2_000 }, (_, i) => i + 1),
      task_type: 'package',
    });
    await removeCards(1_991, 2_000);
    await fleet.cli('concurrency', 'set', 'package', '200', '--yes');
    expect(await over(body.trigger_id)).toMatchObject({ total: 2_000, succeeded: 1_990, failed: 10 });
  });
});

describe('by-condition', () => {
  it('polls exactly the cards that match', async () => {
    const { status, body } = await post<TriggerBody>('/by-condition', {
      task_type: 'realname',
      carrier_id: 1,
      status: 0,
    });
    const expected = Array.from({ length: CARDS }, (_, i) => i)
      .filter((i) => i % 3 === 1 && i % 2 === 0)
      .map((i) => i + 1)
      .filter((id) => id < 1_991 || id > 2_000);
    expect(status).toBe(202);
    expect(body).toMatchObject({
      kind: 'by_condition',
      selection: { carrier_id: 1, status: 0 },
      total: expected.length,
      waiting: expected.length,
    });
    expect(await over(body.trigger_id)).toMatchObject({ total: expected.length, succeeded: expected.length });
    await expectPolled('realname', expected);
  });

  it('is over when nothing matches', async () => {
    const { body } = await post<TriggerBody>('/by-condition', { task_type: 'realname', carrier_id: 99 });
    expect(await over(body.trigger_id)).toMatchObject({ total: 0, succeeded: 0, failed: 0 });
  });
});

describe('cancel', () => {
  it('empties the manual list, and counts what ran all the same', async () => {
    await fleet.cli('concurrency', 'set', 'realname', '1', '--yes');
    const before = (await fleet.truth()).requests;
    const { body } = await post<TriggerBody>('/by-condition', { task_type: 'realname', status: 1 });
    const { body: other } = await post<TriggerBody>('/single', { card_id: 1, task_type: 'realname' });
    await waitFor(async () => (await show(body.trigger_id)).succeeded > 0, { what: 'the first results' });
    expect(await fleet.redis.llen(MANUAL)).toBeGreaterThan(1_000);
    const { status, body: cancelled } = await post<TriggerBody>('/cancel', { trigger_id: body.trigger_id });
    expect(status).toBe(200);
    expect(cancelled).toMatchObject({ status: 'cancelled', waiting: 0 });
    const entries = async () =>
      (await fleet.redis.lrange(MANUAL, 0, -1)).filter((entry) => entry.endsWith(body.trigger_id));
    await waitFor(async () => (await entries()).length === 0, { what: 'an empty list' });
    expect(await over(other.trigger_id)).toMatchObject({ succeeded: 1 });
    await fleet.cli('concurrency', 'set', 'realname', '200', '--yes');
    expect(
      await over((await post<TriggerBody>('/single', { card_id: 2, task_type: 'realname' })).body.trigger_id),
    ).toMatchObject({
      succeeded: 1,
    });
    const last = await waitFor(
      async () => {
        const trigger = await show(body.trigger_id);
        return trigger.running === 0 ? trigger : null;
      },
      { what: 'the running card to be counted' },
    );
    expect(last).toMatchObject({ status: 'cancelled', waiting: 0, failed: 0 });
    // Every poll of its cards was counted, that of the card under way too, and none came after; two others were triggered.
    expect((await fleet.truth()).requests - before).toBe(last.succeeded + 2);
    expect(last.succeeded).toBeLessThan(last.total);
  });

  it('is refused for what is over or unknown', async () => {
    const { items } = await fleet.get<PageBody<TriggerBody>>(
      '/api/admin/polling-manual-trigger?page_size=100',
    );
    for (const status of ['completed', 'cancelled']) {
      const id = items.find((item) => item.status === status)?.trigger_id;
      expect(await post('/cancel', { trigger_id: id })).toMatchObject({
        status: 409,
        body: { code: 'trigger_finished' },
      });
    }
    for (const id of ['0123456789abcdef', 'no such\u0000id']) {
      expect(await post('/cancel', { trigger_id: id })).toMatchObject({ status: 404 });
    }
  });
});

describe('the manual list', () => {
  it('takes bare card ids from an operator, and gets rid of what is none', async () => {
    const before = (await fleet.truth()).requests;
    await fleet.redis.rpush(MANUAL, '5', 'abc', '99999999999999999999', '-1', '', '6:\u0000:x');
    await waitFor(async () => (await fleet.truth()).requests - before === 2, {
      what: 'both cards to be polled',
    });
    await waitFor(async () => (await fleet.redis.zcard('polling:manual:leases:realname')) === 0, {
      what: 'everything to be settled',
    });
    expect(await fleet.redis.llen(MANUAL)).toBe(0);
  });
});
