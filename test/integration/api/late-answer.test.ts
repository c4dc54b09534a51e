// POST with an Idempotency-Key whose work outlives its 503: a repeat waits for its end, and gets what came of it. A table lock
// makes the store slow.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../../../src/api/client/client.ts';
import { ANSWER_WITHIN_MS } from '../../../src/api/server.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { AlertRuleRequest } from '../../../src/resources/alerts.ts';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { BreakableLink } from '../../support/breakable-link.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { waitFor } from '../../support/wait-for.ts';

const RULES = '/api/admin/polling-alert-rules';
const rule = (name: string) => ({
  name,
  rule_type: 'queue_backlog',
  task_type: 'realname',
  comparison: '>',
  threshold: 5,
  is_enabled: true,
  notify_channels: [],
});

let api: ApiUnderTest;
let redisUrl: string;
let databaseUrl: string;

beforeAll(async () => {
  databaseUrl = await freshDatabase();
  redisUrl = (await freshRedis()).url;
  api = await startApi({ redisUrl, databaseUrl, answerWithinMs: ANSWER_WITHIN_MS });
});
afterAll(() => api.close());

/** Runs `meanwhile` while nobody can write alert rules. */
async function whileLocked(meanwhile: (blocker: pg.Client) => Promise<void>): Promise<void> {
  const blocker = new pg.Client({ connectionString: databaseUrl });
  await blocker.connect();
  await blocker.query('BEGIN');
  await blocker.query('LOCK TABLE alert_rules IN ACCESS EXCLUSIVE MODE');
  try {
    await meanwhile(blocker);
  } finally {
    await blocker.end();
  }
}

const post = (key: string, name: string) =>
  api.call('POST', RULES, { json: rule(name), headers: { 'idempotency-key': key } });

const rulesNamed = async (name: string) => {
  const { body } = await api.call('GET', `${RULES}?page_size=100`);
  return body.items.filter((item: { name: string }) => item.name === name);
};

it('a repeat waits behind the first, runs nothing, and gets the answer of the first in the end', async () => {
  await whileLocked(async () => {
    const first = await post('slow-1', 'slow');
    expect(first).toMatchObject({ status: 503, body: { code: 'store_timeout' } });
    expect(first.body.hint).toContain('Idempotency-Key');
    expect(await post('slow-1', 'slow')).toMatchObject({ status: 503, body: { code: 'store_timeout' } });
  });
  const answer = await post('slow-1', 'slow');
  expect(answer).toMatchObject({
    status: 201,
    headers: { 'idempotent-replayed': 'true' },
    body: { name: 'slow', rule_type: 'queue_backlog' },
  });
  expect(await rulesNamed('slow')).toEqual([answer.body]);
});

it('work that failed after all may be done by a repeat', async () => {
  await whileLocked(async (blocker) => {
    expect((await post('slow-2', 'refused')).status).toBe(503);
    // PostgreSQL gives the statement up, as it does by itself after its lock timeout.
    await blocker.query(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
  });
  const answer = await post('slow-2', 'refused');
  expect(answer).toMatchObject({ status: 201, body: { name: 'refused' } });
  expect(answer.headers).not.toHaveProperty('idempotent-replayed');
  expect(await rulesNamed('refused')).toHaveLength(1);
});

it('the client waits for the work, which is done once', async () => {
  let asked = 0;
  const sleep = (ms: number, signal?: AbortSignal) => {
    asked += 1;
    return systemClock.sleep(ms, signal);
  };
  const { signal } = new AbortController();
  const { url } = api.server;
  const client = apiClient({
    url,
    token: null,
    tokenFrom: null,
    timeoutMs: 600_000,
    signal,
    clock: { sleep },
  });
  let created: unknown = null;
  await whileLocked(async () => {
    created = client.createAlertRule(rule('waited for') as AlertRuleRequest);
    await waitFor(() => asked > 1);
  });
  expect(await created).toMatchObject({ body: { name: 'waited for' } });
  expect(await rulesNamed('waited for')).toHaveLength(1);
});

it('a repeat is refused while the database is away, and gets its answer when the database is back', async () => {
  const link = await BreakableLink.to(Number(new URL(databaseUrl).port));
  const linked = await startApi({ redisUrl, databaseUrl: link.around(databaseUrl) });
  const pause = (key: string) =>
    linked.call('POST', '/api/admin/polling-pauses', {
      json: { task_type: 'realname', seconds: 600, reason: key },
      headers: { 'idempotency-key': key },
    });
  const first = await pause('made');
  expect(first.status).toBe(201);
  link.cut();
  // Nothing says whether it was made, so it is not made.
  for (const key of ['made', 'another']) expect(await pause(key)).toMatchObject({ status: 503 });
  link.restore();
  expect(await pause('made')).toMatchObject({
    status: 201,
    body: first.body,
    headers: { 'idempotent-replayed': 'true' },
  });
  expect((await linked.call('GET', '/api/admin/polling-pauses')).body.items).toMatchObject([
    { task_type: 'realname', source: 'operator', reason: 'made' },
  ]);
  await linked.close();
  await link.close();
});
