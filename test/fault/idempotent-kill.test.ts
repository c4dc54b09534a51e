// kill -9 of the only daemon while it runs a POST with an Idempotency-Key: before its transaction commits, and between
// the commit and the stored answer. The next daemon makes the repeated request exactly once.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TriggerBody } from '../../src/api/client/client-bodies.ts';
import type { TaskType } from '../../src/domain/task-type.ts';
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

function trigger(taskType: TaskType): Promise<Response> {
  return fetch(`${fleet.daemons.at(-1)?.url}${TRIGGERS}/single`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': `killed-${taskType}` },
    body: JSON.stringify({ card_id: 1, task_type: taskType }),
  });
}

async function count(what: string): Promise<number> {
  return Number((await holder.query(`SELECT count(*) FROM ${what}`)).rows[0]?.count);
}
const made = (taskType: TaskType) => count(`manual_triggers WHERE task_type = '${taskType}'`);
const keys = () => fleet.redis.keys('polling:request:*');

it.each<[string, TaskType, boolean]>([
  ['before the commit', 'realname', false],
  ['between the commit and the stored answer', 'carddata', true],
])('a request whose daemon was killed %s is made once', async (_when, taskType, commits) => {
  // The daemon may look for the key, and waits before it stores the key: the trigger is written by then.
  await holder.query('BEGIN; LOCK TABLE made_changes IN SHARE MODE');
  const first = trigger(taskType).catch(() => null);
  await waitFor(
    async () => (await count(`pg_locks WHERE relation = 'made_changes'::regclass AND NOT granted`)) === 1,
    { what: 'the transaction to wait with its trigger' },
  );
  if (commits) {
    // Redis takes no answer, so that only the commit remains.
    await fleet.redis.call('CLIENT', 'PAUSE', '600000', 'WRITE');
    await holder.query('ROLLBACK');
    await waitFor(async () => (await made(taskType)) === 1, { what: 'the commit' });
  }
  await fleet.daemons.at(-1)?.process.stop('SIGKILL');
  await first;
  await (commits ? fleet.redis.call('CLIENT', 'UNPAUSE') : holder.query('ROLLBACK'));
  await waitFor(async () => (await count('pg_stat_activity WHERE datname = current_database()')) === 1, {
    what: 'the sessions of the killed daemon to end',
  });
  expect(await made(taskType)).toBe(commits ? 1 : 0);

  await fleet.startDaemon();
  // As long as the lost attempt might still run, it is not repeated.
  expect((await trigger(taskType)).status).toBe(409);
  // Its lease, at once instead of after a minute.
  expect(await fleet.redis.del(...(await keys()))).toBeGreaterThan(0);
  const reply = await trigger(taskType);
  expect(reply.status).toBe(202);
  const body = (await reply.json()) as TriggerBody;
  expect(body).toMatchObject({ kind: 'single', task_type: taskType, total: 1, succeeded: 0, failed: 0 });
  const again = await trigger(taskType);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(await again.json()).toEqual(body);

  expect(await made(taskType)).toBe(1);
  const audited = await fleet.get<{ total: number }>(
    `/api/admin/audit?object=${encodeURIComponent(`trigger ${body.trigger_id}`)}`,
  );
  expect(audited.total).toBe(1);
  await waitFor(
    async () => {
      const { status, succeeded } = await fleet.get<TriggerBody>(`${TRIGGERS}/${body.trigger_id}`);
      return status === 'completed' && succeeded === 1;
    },
    { what: 'the card to be polled for its trigger' },
  );
});
