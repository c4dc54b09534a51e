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
const CONFIG_1 = {
  id: 1,
  task_type: 'realname',
  card_condition: 'not_verified',
  carrier_id: null,
  status: 1,
};
const config = { name: 'new', task_type: 'realname', card_condition: 'any', interval_seconds: 60 };

describe('a change', () => {
  it('names its actor, and is logged', async () => {
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

  it('records the value it found, also when several come at once', async () => {
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

  const PAUSE = { seconds: 60, reason: 'x' };
  it.each<[string, string, string, object, object]>([
    [
      'concurrency.reset',
      'POST',
      '/polling-concurrency/reset',
      { task_type: 'package' },
      { object: 'task_type package' },
    ],
    [
      'config.create',
      'POST',
      '/polling-configs',
      config,
      { object: 'config 5', before: null, after: { id: 5, ...config } },
    ],
    [
      'config.update',
      'PUT',
      '/polling-configs/1',
      { interval_seconds: 61 },
      {
        object: 'config 1',
        before: { ...CONFIG_1, interval_seconds: 60 },
        after: { ...CONFIG_1, interval_seconds: 61 },
      },
    ],
    [
      'config.delete',
      'DELETE',
      '/polling-configs/4',
      {},
      { object: 'config 4', before: { id: 4 }, after: null },
    ],
    [
      'cleanup_config.update',
      'PUT',
      '/data-cleanup-configs/2',
      { retention_days: 1 },
      {
        object: 'cleanup_config 2',
        before: { target: 'card_usage', retention_days: 730, enabled: true },
        after: { target: 'card_usage', retention_days: 1, enabled: true },
      },
    ],
    [
      'cleanup.begin',
      'POST',
      '/data-cleanup/trigger',
      {},
      { object: expect.stringMatching(/^cleanup [\w-]{36}$/) },
    ],
    [
      'cleanup.cancel',
      'POST',
      '/data-cleanup/cancel',
      {},
      {
        object: expect.stringMatching(/^cleanup [\w-]{36}$/),
        before: { status: 'running' },
        after: { status: 'cancelled' },
      },
    ],
    [
      'pause.begin',
      'POST',
      '/polling-pauses',
      { task_type: 'all', ...PAUSE },
      { object: 'task_type all', before: null, after: PAUSE },
    ],
    [
      'pause.begin',
      'POST',
      '/polling-pauses',
      { task_type: 'package', seconds: 9, reason: '' },
      {
        object: 'task_type package',
        before: { pauses: [{ task_type: 'package', source: 'operator', reason: 'x' }] },
      },
    ],
    [
      'pause.end',
      'DELETE',
      '/polling-pauses?task_type=realname',
      {},
      { object: 'task_type realname', before: { pauses: [{ task_type: 'realname' }] }, after: null },
    ],
    [
      'trigger.create',
      'POST',
      '/polling-manual-trigger/single',
      { card_id: 1, task_type: 'realname' },
      { after: { kind: 'single', task_type: 'realname', total: 1, card_id: 1 } },
    ],
    [
      'trigger.create',
      'POST',
      '/polling-manual-trigger/batch',
      { card_ids: [1], task_type: 'realname' },
      { after: expect.not.objectContaining({ card_id: 1 }) },
    ],
    [
      'trigger.create',
      'POST',
      '/polling-manual-trigger/by-condition',
      { task_type: 'realname', carrier_id: 1 },
      { after: { kind: 'by_condition', selection: { carrier_id: 1, status: null }, total: 0 } },
    ],
    ['init.rebuild', 'POST', '/polling-init/rebuild', {}, { object: 'rings', before: null, after: null }],
  ])('is recorded: %s by %s %s %j', async (action, method, path, json, entry) => {
    const { status, traces } = await tracesOf(method, path, { json });
    expect(status).toBeLessThan(300);
    expect(traces).toEqual([expect.objectContaining({ name: 'anna', requestId: 'req-1', action })]);
    expect(traces[0]).toMatchObject(entry);
  });

  it('a change of a trigger that is cancelled says what it was', async () => {
    const made = await send('POST', '/polling-manual-trigger/by-condition', {
      json: { task_type: 'package' },
    });
    const json = { trigger_id: made.body.trigger_id };
    const { traces } = await tracesOf('POST', '/polling-manual-trigger/cancel', { json });
    expect(traces).toMatchObject([
      {
        action: 'trigger.cancel',
        object: `trigger ${made.body.trigger_id}`,
        before: { status: 'queued' },
        after: { status: 'cancelled' },
      },
    ]);
    const open = (await send('POST', '/polling-manual-trigger/cancel-all', { json: { dry_run: true } })).body;
    const all = await tracesOf('POST', '/polling-manual-trigger/cancel-all', { json: {} });
    expect(all.traces).toMatchObject([{ action: 'trigger.cancel_all', object: 'triggers', after: open }]);
  });

  it('a change of a rule says all but its secrets, and whether these changed', async () => {
    const { traces, body } = await tracesOf('POST', '/polling-alert-rules', { json: rule });
    const kept = {
      ...rule,
      webhook_url: 'https://8.8.8.8',
      has_webhook_secret: false,
      webhook_format: 'standard',
      webhook_grouped: false,
      cooldown_seconds: 300,
    };
    const object = `alert_rule ${body.id}`;
    expect(traces).toMatchObject([{ action: 'alert_rule.create', object, before: null }]);
    expect(traces[0]?.after).toEqual(kept);
    const path = `/polling-alert-rules/${body.id}`;
    const changeOf = async (json: object) => (await tracesOf('PUT', path, { json })).traces;
    const url = await changeOf({ webhook_url: `${rule.webhook_url}2` });
    expect(url).toMatchObject([{ action: 'alert_rule.update', object, before: kept }]);
    expect(url[0]?.after).toEqual({ ...kept, webhook_url_changed: true });
    const webhook_secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
    const secret = await changeOf({ webhook_secret });
    const signed = { ...kept, has_webhook_secret: true };
    expect(secret.map(({ after }) => after)).toEqual([{ ...signed, webhook_secret_changed: true }]);
    expect((await changeOf({ threshold: 501 }))[0]?.after).toEqual({ ...signed, threshold: 501 });
    const removed = (await tracesOf('DELETE', path)).traces;
    expect(removed).toMatchObject([
      { action: 'alert_rule.delete', object, before: { ...signed, threshold: 501 }, after: null },
    ]);
    expect(JSON.stringify([traces, url, secret, removed])).not.toMatch(/SECRET|whsec_/);
  });
});

describe('what is refused or finds nothing to end leaves no trace', () => {
  it.each<[string, number, string, Parameters<typeof send>[2]]>([
    ['PUT', 422, '/polling-concurrency/realname', { json: { max_concurrency: 0 } }],
    ['PUT', 404, '/polling-configs/999', { json: { status: 0 } }],
    ['DELETE', 404, '/polling-configs/999', {}],
    ['PUT', 412, '/polling-configs/1', { json: { status: 0 }, headers: { 'if-match': '"x"' } }],
    ['PUT', 404, '/data-cleanup-configs/999', { json: { enabled: false } }],
    ['PUT', 404, '/polling-alert-rules/999', { json: { name: 'x' } }],
    ['DELETE', 404, '/polling-alert-rules/999', {}],
    ['POST', 404, '/polling-manual-trigger/cancel', { json: { trigger_id: 'nobody' } }],
    ['POST', 404, '/polling-manual-trigger/single', { json: { card_id: 99, task_type: 'realname' } }],
    ['POST', 409, '/data-cleanup/cancel', {}],
    ['DELETE', 200, '/polling-pauses', {}],
    ['POST', 200, '/polling-manual-trigger/cancel-all', { json: { task_type: 'carddata' } }],
    ['POST', 202, '/polling-init/rebuild', {}],
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
    while ((await api.records.cleanup.step()).state !== 'idle');
    await send('DELETE', '/polling-pauses');
    await send('POST', '/polling-init/rebuild');
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

  it('tokens that expired say so, and do nothing', async () => {
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
  ])('tokens of operators do not %s %s, which is for admins', async (method, path, json) => {
    const { status, body, traces } = await tracesOf(method, path, { json, ...as(OPERATOR) });
    expect([status, body.code, traces]).toEqual([403, 'admin_only', []]);
  });

  it('tokens of operators change how polling runs', async () => {
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
