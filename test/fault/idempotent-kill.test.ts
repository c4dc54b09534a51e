// kill -9 of the only daemon while it runs a POST with an Idempotency-Key: before its transaction commits, between the commit
// and the answer, and between an effect in Redis and the note of it. The next daemon makes the repeated request exactly once.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TaskType } from '../../src/domain/task-type.ts';
import type { TriggerBody } from '../../src/resources/triggers.ts';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';

const TRIGGERS = '/api/admin/polling-manual-trigger';

let fleet: Fleet;
let holder: pg.Client;

beforeAll(async () => {
  fleet = await Fleet.start({ env: { CARDPOLL_LEASE_MS: '3000', CARDPOLL_GATEWAY_TIMEOUT_MS: '1000' } });
  holder = new pg.Client(fleet.databaseUrl);
  await holder.connect();
  await fleet.startDaemon();
  await fleet.importCards(1);
});
afterAll(async () => {
  await holder?.end();
  fleet?.close();
});

function post(path: string, key: string, json: object): Promise<Response> {
  return fetch(`${fleet.daemons.at(-1)?.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(json),
  });
}
const trigger = (taskType: TaskType) =>
  post(`${TRIGGERS}/single`, `killed-${taskType}`, { card_id: 1, task_type: taskType });

async function count(what: string): Promise<number> {
  return Number((await holder.query(`SELECT count(*) FROM ${what}`)).rows[0]?.count);
}
const made = (taskType: TaskType) => count(`manual_triggers WHERE task_type = '${taskType}'`);
const audited = async (query: string) =>
  (await fleet.get<{ total: number }>(`/api/admin/audit?${query}`)).total;

/** A daemon may look for a key, and waits before it stores the key: its change is made by then. */
async function holdTheNote(): Promise<void> {
  await holder.query('BEGIN; LOCK TABLE made_changes IN SHARE MODE');
}
async function noteWaits(): Promise<void> {
  const waiting = `pg_locks WHERE relation = 'made_changes'::regclass AND NOT granted`;
  await waitFor(async () => (await count(waiting)) === 1, { what: 'the change to wait for its note' });
}
async function kill(): Promise<void> {
  await fleet.daemons.at(-1)?.process.stop('SIGKILL');
}
async function sessionsEnd(): Promise<void> {
  await waitFor(async () => (await count('pg_stat_activity WHERE datname = current_database()')) === 1, {
    what: 'the sessions of the killed daemon to end',
  });
}

it.each<[string, TaskType, boolean]>([
  ['before the commit', 'realname', false],
  ['between the commit and the answer', 'carddata', true],
])('a request whose daemon was killed %s is made once', async (_when, taskType, commits) => {
  await holdTheNote();
  const first = trigger(taskType).catch(() => null);
  await noteWaits();
  if (commits) {
    // Redis takes no cards of the trigger, so the answer waits after the commit.
    await fleet.redis.call('CLIENT', 'PAUSE', '600000', 'WRITE');
    await holder.query('ROLLBACK');
    await waitFor(async () => (await made(taskType)) === 1, { what: 'the commit' });
  }
  await kill();
  await first;
  await (commits ? fleet.redis.call('CLIENT', 'UNPAUSE') : holder.query('ROLLBACK'));
  await sessionsEnd();
  expect(await made(taskType)).toBe(commits ? 1 : 0);

  await fleet.startDaemon();
  const reply = await trigger(taskType);
  expect([reply.status, reply.headers.get('idempotent-replayed')]).toEqual([202, commits ? 'true' : null]);
  const body = (await reply.json()) as TriggerBody;
  expect(body).toMatchObject({ kind: 'single', task_type: taskType, total: 1, succeeded: 0, failed: 0 });
  const again = await trigger(taskType);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(await again.json()).toEqual(body);

  expect(await made(taskType)).toBe(1);
  expect(await audited(`object=${encodeURIComponent(`trigger ${body.trigger_id}`)}`)).toBe(1);
  await waitFor(
    async () => {
      const { status, succeeded } = await fleet.get<TriggerBody>(`${TRIGGERS}/${body.trigger_id}`);
      return status === 'completed' && succeeded === 1;
    },
    { what: 'the card to be polled for its trigger' },
  );
});

it('a pause whose daemon was killed before the note of it is made again, and is the same pause', async () => {
  const pause = () =>
    post('/api/admin/polling-pauses', 'killed-pause', { task_type: 'package', seconds: 600, reason: 'x' });
  await holdTheNote();
  const first = pause().catch(() => null);
  await noteWaits();
  await kill();
  await first;
  await holder.query('ROLLBACK');
  await sessionsEnd();

  await fleet.startDaemon();
  const pauses = () => fleet.get<{ items: object[] }>('/api/admin/polling-pauses');
  expect((await pauses()).items).toMatchObject([{ task_type: 'package', reason: 'x' }]);
  const reply = await pause();
  expect([reply.status, reply.headers.get('idempotent-replayed')]).toEqual([201, null]);
  const body = await reply.json();
  const again = await pause();
  expect([again.headers.get('idempotent-replayed'), await again.json()]).toEqual(['true', body]);
  expect((await pauses()).items).toEqual((body as { items: object[] }).items);
  expect(await audited('action=pause.begin'), 'each was announced').toBe(2);
});
