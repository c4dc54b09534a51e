// Every change leaves who, what, before and after; what changes nothing leaves nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashOf } from '../../../src/config/admin-tokens.ts';
import { type ApiUnderTest, type Call, startApi } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';

const ADMIN = 'a'.repeat(32);
const OPERATOR = 'o'.repeat(32);
const ROTATED = 'r'.repeat(32);
const EXPIRED = 'e'.repeat(32);
const NAMELESS = 'n'.repeat(32);
const VIEWER = 'v'.repeat(32);
const authorization = `Bearer ${ADMIN}`;

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startApi({
    redisUrl: (await freshRedis()).url,
    databaseUrl: await freshDatabase(),
    tokens: [
      { name: 'anna', role: 'admin', token: ADMIN },
      { name: 'ben', role: 'operator', token: OPERATOR },
      { name: 'ben', role: 'operator', token: `sha256:${hashOf(ROTATED)}@2999-12-31` },
      { name: 'old', role: 'admin', token: `${EXPIRED}@2026-01-31` },
      { name: 'vera', role: 'viewer', token: VIEWER },
      { role: 'operator', token: NAMELESS },
    ],
  });
  await send('POST', '/cards/import', { body: 'card_id,iccid\n1,898600000000000001\n', type: 'text/csv' });
});
afterAll(() => api.close());

async function send(
  method: string,
  path: string,
  { type, headers, ...call }: Call & { type?: string } = {},
): Promise<Awaited<ReturnType<ApiUnderTest['call']>>> {
  const contentType = type === undefined ? {} : { 'content-type': type };
  return api.call(method, `/api/admin${path}`, {
    ...call,
    headers: { authorization, 'x-request-id': 'req-1', ...contentType, ...headers },
  });
}

const NO_FILTER = { sinceMs: null, untilMs: null, actor: null, action: null, object: null };
/** The entries since `count` of them were there, oldest first. */
async function entries() {
  const { items } = await api.records.audit.list(NO_FILTER, { offset: 0, limit: 1_000 });
  return items.toReversed();
}

/** What a request leaves in the trail. */
async function tracesOf(method: string, path: string, call?: Parameters<typeof send>[2]) {
  const before = (await entries()).length;
  const { status, body } = await send(method, path, call);
  return { status, body, traces: (await entries()).slice(before) };
}

const rule = {
  name: 'slow',
  rule_type: 'avg_duration',
  task_type: 'realname',
  comparison: '>',
  threshold: 500,
  is_enabled: true,
  notify_channels: ['webhook'],
  webhook_url: 'https://8.8.8.8/hook/SECRET?token=SECRET',
};
const config = { name: 'new', task_type: 'realname', card_condition: 'any', interval_seconds: 60 };

describe('a change', () => {
  it('names its actor, and stands in the log', async () => {
    const { traces } = await tracesOf('PUT', '/polling-concurrency/realname', {
      json: { max_concurrency: 77 },
    });
    expect(traces).toMatchObject([
      {
        name: 'anna',
        role: 'admin',
        address: '127.0.0.1',
        requestId: 'req-1',
        action: 'concurrency.set',
        object: 'task_type realname',
        before: { max_concurrency: 100 },
        after: { max_concurrency: 77 },
      },
    ]);
    expect(api.auditLog.at(-1)).toMatchObject({
      actor: 'anna',
      request_id: 'req-1',
      action: 'concurrency.set',
      before: { max_concurrency: 100 },
      after: { max_concurrency: 77 },
    });
  });

  it('tells the value it found, also when several come at once', async () => {
    const known = (await entries()).length;
    const limits = Array.from({ length: 12 }, (_, i) => 100 + i);
    const replies = await Promise.all(
      limits.map((max_concurrency) =>
        send('PUT', '/polling-concurrency/carddata', { json: { max_concurrency } }),
      ),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    const traces = (await entries()).slice(known);
    const values = traces.map(({ before, after }) => [before, after] as Array<{ max_concurrency: number }>);
    expect(values.map(([, after]) => after?.max_concurrency).sort()).toEqual(limits);
    expect(values.slice(1).map(([before]) => before)).toEqual(values.slice(0, -1).map(([, after]) => after));
  });

  it.each<[string, string, string, Parameters<typeof send>[2]]>([
    ['concurrency.reset', 'POST', '/polling-concurrency/reset', { json: { task_type: 'package' } }],
    ['config.create', 'POST', '/polling-configs', { json: config }],
    ['config.update', 'PUT', '/polling-configs/1', { json: { interval_seconds: 61 } }],
    ['config.delete', 'DELETE', '/polling-configs/4', {}],
    ['cleanup_config.update', 'PUT', '/data-cleanup-configs/1', { json: { retention_days: 90 } }],
    ['cleanup.begin', 'POST', '/data-cleanup/trigger', {}],
    ['cleanup.cancel', 'POST', '/data-cleanup/cancel', {}],
    ['pause.begin', 'POST', '/polling-pauses', { json: { task_type: 'all', seconds: 60, reason: 'x' } }],
    ['pause.end', 'DELETE', '/polling-pauses', {}],
    [
      'trigger.create',
      'POST',
      '/polling-manual-trigger/single',
      { json: { card_id: 1, task_type: 'realname' } },
    ],
    [
      'trigger.create',
      'POST',
      '/polling-manual-trigger/batch',
      { json: { card_ids: [1], task_type: 'realname' } },
    ],
    ['trigger.create', 'POST', '/polling-manual-trigger/by-condition', { json: { task_type: 'realname' } }],
    ['init.rebuild', 'POST', '/polling-init/rebuild', {}],
  ])('is recorded: %s', async (action, method, path, call) => {
    const { status, traces } = await tracesOf(method, path, call);
    expect(status).toBeLessThan(300);
    expect(traces.map((trace) => trace.action)).toEqual([action]);
    expect(traces[0]).toMatchObject({ name: 'anna', requestId: 'req-1' });
  });

  it('shows the retention that was cut', async () => {
    const { traces } = await tracesOf('PUT', '/data-cleanup-configs/2', { json: { retention_days: 1 } });
    expect(traces).toMatchObject([
      {
        object: 'cleanup_config 2',
        before: { target: 'card_usage', retention_days: 730, enabled: true },
        after: { target: 'card_usage', retention_days: 1, enabled: true },
      },
    ]);
  });

  it('of a trigger that is cancelled says what it was', async () => {
    const made = await send('POST', '/polling-manual-trigger/by-condition', {
      json: { task_type: 'package' },
    });
    const json = { trigger_id: made.body.trigger_id };
    const { traces } = await tracesOf('POST', '/polling-manual-trigger/cancel', { json });
    expect(traces).toMatchObject([
      { action: 'trigger.cancel', object: `trigger ${made.body.trigger_id}`, after: { status: 'cancelled' } },
    ]);
  });

  it('of an import leaves its beginning and its counts; a dry run and a file without cards leave nothing', async () => {
    const csv = (text: string, path = '/cards/import') =>
      tracesOf('POST', path, { body: text, type: 'text/csv' });
    const { traces } = await csv('card_id,iccid\n2,898600000000000002\nx,y\n');
    expect(traces).toMatchObject([
      { action: 'cards.import.begin', after: { format: 'csv' } },
      { action: 'cards.import.end', after: { received: 2, inserted: 1, rejected: 1 } },
    ]);
    expect((await csv('card_id,iccid\n3,898600000000000003\n', '/cards/import?dry_run=true')).traces).toEqual(
      [],
    );
    expect((await csv('nonsense\n')).traces).toEqual([]);
  });

  it('of a rule shows no secret of its URL, and that it changed', async () => {
    const created = await tracesOf('POST', '/polling-alert-rules', { json: rule });
    expect(created.traces).toMatchObject([
      {
        action: 'alert_rule.create',
        before: null,
        after: { name: 'slow', webhook_url: 'https://8.8.8.8' },
      },
    ]);
    const path = `/polling-alert-rules/${created.body.id}`;
    const changed = await tracesOf('PUT', path, { json: { webhook_url: `${rule.webhook_url}2` } });
    expect(changed.traces).toMatchObject([
      {
        action: 'alert_rule.update',
        after: { webhook_url: 'https://8.8.8.8', webhook_url_changed: true },
      },
    ]);
    const removed = await tracesOf('DELETE', path);
    expect(removed.traces).toMatchObject([
      { action: 'alert_rule.delete', before: { name: 'slow' }, after: null },
    ]);
    expect(JSON.stringify([created, changed, removed].map(({ traces }) => traces))).not.toContain('SECRET');
  });
});

describe('what is refused or finds nothing to end leaves no trace', () => {
  it.each<[string, number, string, Parameters<typeof send>[2]]>([
    ['PUT', 422, '/polling-concurrency/realname', { json: { max_concurrency: 0 } }],
    ['PUT', 404, '/polling-configs/999', { json: { status: 0 } }],
    ['DELETE', 404, '/polling-configs/999', {}],
    ['PUT', 404, '/data-cleanup-configs/999', { json: { enabled: false } }],
    ['PUT', 404, '/polling-alert-rules/999', { json: { name: 'x' } }],
    ['DELETE', 404, '/polling-alert-rules/999', {}],
    ['POST', 404, '/polling-manual-trigger/cancel', { json: { trigger_id: 'nobody' } }],
    ['POST', 404, '/polling-manual-trigger/single', { json: { card_id: 99, task_type: 'realname' } }],
    ['POST', 409, '/data-cleanup/cancel', {}],
    ['DELETE', 200, '/polling-pauses', {}],
    [
      'PUT',
      403,
      '/polling-concurrency/realname',
      {
        json: { max_concurrency: 5 },
        headers: { authorization: `Bearer ${VIEWER}` },
      },
    ],
  ])('%s %i %s', async (method, expected, path, call) => {
    await api.operations.cleanup.progress();
    while ((await api.records.cleanup.step()).state !== 'idle');
    const { status, traces } = await tracesOf(method, path, call);
    expect(status).toBe(expected);
    expect(traces).toEqual([]);
  });

  it('a repeat by its key', async () => {
    const repeated = { json: { task_type: 'package' }, headers: { 'idempotency-key': 'once' } };
    const first = await tracesOf('POST', '/polling-concurrency/reset', repeated);
    const second = await tracesOf('POST', '/polling-concurrency/reset', repeated);
    expect([first.traces.length, second.traces.length, second.status]).toEqual([1, 0, 200]);
  });
});

it('a change that did not come about after all says so', async () => {
  const actor = { name: 'anna', role: 'admin', address: null, requestId: null };
  const change = { action: 'pause.begin', object: 'task_type all', before: null, after: { seconds: 1 } };
  const known = (await entries()).length;
  const failed = api.operations.audit.announce(actor, change, async () => {
    throw new Error('the live store went away');
  });
  await expect(failed).rejects.toThrow('went away');
  expect((await entries()).slice(known)).toMatchObject([
    { action: 'pause.begin', after: { seconds: 1 } },
    { action: 'pause.begin.failed', after: { error: 'the live store went away' } },
  ]);
});

describe('tokens', () => {
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const whoami = async (token: string) => (await send('GET', '/whoami', as(token))).body;

  it('have names and roles; two of one name are both valid', async () => {
    expect(await whoami(ADMIN)).toEqual({ name: 'anna', role: 'admin' });
    expect(await whoami(OPERATOR)).toEqual({ name: 'ben', role: 'operator' });
    expect(await whoami(ROTATED)).toEqual({ name: 'ben', role: 'operator' });
    expect(await whoami(VIEWER)).toEqual({ name: 'vera', role: 'viewer' });
  });

  it('without a name let an operator do all there was to do', async () => {
    expect(await whoami(NAMELESS)).toEqual({
      name: `operator-${hashOf(NAMELESS).slice(0, 6)}`,
      role: 'admin',
    });
  });

  it('that expired say so, and do nothing', async () => {
    const json = { max_concurrency: 9 };
    const { status, body, traces } = await tracesOf('PUT', '/polling-concurrency/realname', {
      json,
      ...as(EXPIRED),
    });
    expect([status, traces]).toEqual([401, []]);
    expect(body).toMatchObject({
      code: 'token_expired',
      detail: 'the admin token of old expired: 2026-01-31 was its last day',
    });
  });

  it('given as a hash cannot be used as a token', async () => {
    expect((await send('GET', '/whoami', as(hashOf(ROTATED)))).status).toBe(401);
  });

  it.each<[string, string, object | undefined]>([
    ['PUT', '/data-cleanup-configs/3', { retention_days: 9 }],
    ['POST', '/polling-configs', config],
    ['PUT', '/polling-configs/2', { status: 0 }],
    ['DELETE', '/polling-configs/2', undefined],
    ['DELETE', '/polling-alert-rules/1', undefined],
  ])('of operators do not %s %s, which is for admins', async (method, path, json) => {
    const { status, body, traces } = await tracesOf(method, path, { json, ...as(OPERATOR) });
    expect([status, body.code, traces]).toEqual([403, 'admin_only', []]);
  });

  it('of operators change how polling runs', async () => {
    const json = { max_concurrency: 44 };
    const { status, traces } = await tracesOf('PUT', '/polling-concurrency/realname', {
      json,
      ...as(ROTATED),
    });
    expect([status, traces[0]?.name]).toEqual([200, 'ben']);
  });
});

describe('GET /audit', () => {
  const list = async (query: string) => (await send('GET', `/audit?${query}`)).body;

  it('answers entries as the contract has them, newest first', async () => {
    await send('PUT', '/polling-concurrency/package', { json: { max_concurrency: 31 } });
    await send('PUT', '/polling-concurrency/package', { json: { max_concurrency: 32 } });
    const { items, page, page_size, total } = await list('action=concurrency.set&page_size=2');
    expect([page, page_size, total > 2]).toEqual([1, 2, true]);
    expect(items[0]).toEqual({
      id: expect.any(Number),
      at: expect.stringMatching(/^20.*Z$/),
      actor: 'anna',
      role: 'admin',
      address: '127.0.0.1',
      request_id: 'req-1',
      action: 'concurrency.set',
      object: 'task_type package',
      before: { max_concurrency: 31 },
      after: { max_concurrency: 32 },
    });
    expect((await list('action=concurrency.set&page_size=1&page=2')).items[0].after).toEqual({
      max_concurrency: 31,
    });
  });

  it('filters by time, actor and action', async () => {
    const { items } = await list('page_size=100');
    const middle = items[Math.floor(items.length / 2)].at;
    const ids = (found: { id: number }[]) => found.map(({ id }) => id);
    const since = (await list(`page_size=100&since=${middle}`)).items;
    const until = (await list(`page_size=100&until=${encodeURIComponent(middle.replace('Z', '+00:00'))}`))
      .items;
    expect(ids([...since, ...until])).toEqual(ids(items));
    expect(since.every(({ at }: { at: string }) => at >= middle)).toBe(true);
    expect((await list('actor=nobody')).total).toBe(0);
    expect((await list('actor=anna')).total).toBeGreaterThan(0);
  });

  it.each(['since=yesterday', 'until=1h', 'actor=', 'action=%00', 'page=0'])('refuses %s', async (query) => {
    expect((await send('GET', `/audit?${query}`)).status).toBe(422);
  });
});
