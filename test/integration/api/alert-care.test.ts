// What an on-call does about alerts, over real HTTP and PostgreSQL: versions, secrets, tests of a webhook, another try,
// acknowledgements, silences.
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseAddressRange } from '../../../src/platform/addresses.ts';
import { applyToRules } from '../../support/alert-rules.ts';
import { type ApiUnderTest, type Call, startApi } from '../../support/api-under-test.ts';
import { answer, type BadGateway, type Behaviour, startBadGateway } from '../../support/bad-gateway.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { query } from '../../support/postgres-server.ts';

const RULES = '/api/admin/polling-alert-rules';
const HISTORY = '/api/admin/polling-alert-history';
const SILENCES = '/api/admin/polling-alert-silences';
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const NEXT_SECRET = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const RULE = {
  name: 'Backlog',
  rule_type: 'queue_backlog',
  task_type: 'package',
  threshold: 10,
  comparison: '>',
  is_enabled: true,
  notify_channels: ['webhook'],
  webhook_url: 'https://hooks.example/T0/SECRET?key=1',
};
const VIEWER = { role: 'viewer' as const, token: 'viewer-token-viewer-token' };
const OPERATOR = { role: 'operator' as const, token: 'operator-token-operator-token' };

let api: ApiUnderTest;
let closed: ApiUnderTest;
let databaseUrl: string;

beforeAll(async () => {
  databaseUrl = await freshDatabase();
  const stores = { redisUrl: (await freshRedis()).url, databaseUrl };
  const allowCidrs = [parseAddressRange('127.0.0.1')].filter((range) => range !== null);
  api = await startApi({ ...stores, allowCidrs });
  closed = await startApi({ ...stores, tokens: [VIEWER, OPERATOR] });
});
afterAll(async () => {
  await api.close();
  await closed.close();
});
beforeEach(async () => {
  const { items } = await api.records.alerts.rules({ offset: 0, limit: 1_000 });
  for (const { id } of items) await api.records.alerts.deleteRule(id);
  for (const { id } of await api.records.alerts.silences.list()) await api.records.alerts.silences.remove(id);
});

const receivers: BadGateway[] = [];
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});
async function receiver(behaviour: Behaviour): Promise<BadGateway> {
  const started = await startBadGateway(behaviour);
  receivers.push(started);
  return started;
}

async function created(over: object = {}): Promise<number> {
  return (await api.call('POST', RULES, { json: { ...RULE, ...over } })).body.id;
}

async function fired(ruleId: number): Promise<number> {
  const [applied] = await applyToRules(api.records.alerts, { kind: 'fired', value: 11 }, [ruleId]);
  return applied?.alert.id ?? 0;
}

const resolveAll = () =>
  applyToRules(api.records.alerts, { kind: 'resolved', value: 3, resolution: 'recovered' });

const as = ({ token }: { token: string }, call: Call = {}): Call => ({
  ...call,
  headers: { authorization: `Bearer ${token}`, ...call.headers },
});

describe('versions', () => {
  it('a PUT with If-Match changes what is still in that version, and nothing else', async () => {
    const url = `${RULES}/${await created()}`;
    const { etag } = (await api.call('GET', url)).headers;
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    expect((await api.call('GET', url)).headers.etag).toBe(etag);
    const put = (threshold: number, match: unknown) =>
      api.call('PUT', url, { json: { threshold }, headers: { 'if-match': String(match) } });
    const changed = await put(1, etag);
    expect(changed).toMatchObject({ status: 200, body: { threshold: 1 } });
    expect((await api.call('GET', url)).headers.etag).toBe(changed.headers.etag);
    for (const stale of [etag, '"x"', `W/${changed.headers.etag}`, 'nonsense']) {
      expect(await put(2, stale)).toMatchObject({
        status: 412,
        body: { code: 'version_changed', hint: expect.stringContaining('read it again') },
      });
    }
    expect((await api.call('GET', url)).body.threshold).toBe(1);
    expect(await put(3, `${etag}, ${changed.headers.etag}`)).toMatchObject({ status: 200 });
    expect(await put(4, '*')).toMatchObject({ status: 200 });
    // What the evaluator notes about a rule is no change of it.
    const before = (await api.call('GET', url)).headers.etag;
    await fired(Number(url.split('/').at(-1)));
    expect((await api.call('GET', url)).headers.etag).toBe(before);
  });

  it('fifty PUTs of different fields at once are all made, and of those with one ETag one is made', async () => {
    const id = await created();
    const url = `${RULES}/${id}`;
    for (let n = 1; n <= 10; n += 1) {
      const patches = [
        { name: `n${n}` },
        { threshold: n },
        { cooldown_seconds: n },
        { webhook_url: `https://h.example/${n}` },
        { is_enabled: n % 2 === 0 },
      ];
      const replies = await Promise.all(patches.map((json) => api.call('PUT', url, { json })));
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect((await api.call('GET', url)).body).toMatchObject(Object.assign({}, ...patches));
    }
    const headers = { 'if-match': String((await api.call('GET', url)).headers.etag) };
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) => api.call('PUT', url, { json: { threshold: n }, headers })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)]);
  });

  it('parts that fit one by one but not together are refused, also at once', async () => {
    const url = `${RULES}/${await created({ threshold: 50 })}`;
    const replies = await Promise.all([
      api.call('PUT', url, { json: { threshold: 500 } }),
      api.call('PUT', url, { json: { rule_type: 'success_rate' } }),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 422]);
  });
});

describe('secrets', () => {
  it('a viewer reads where a webhook goes, not what makes it secret', async () => {
    const id = await created();
    for (const path of [`${RULES}/${id}`, RULES]) {
      const seen = await closed.call('GET', path, as(VIEWER));
      expect(JSON.stringify(seen.body)).not.toMatch(/SECRET|key=/);
      expect(seen.body.items?.[0] ?? seen.body).toMatchObject({ webhook_url: 'https://hooks.example/…' });
      const { body } = await closed.call('GET', path, as(OPERATOR));
      expect(body.items?.[0] ?? body).toMatchObject({ webhook_url: RULE.webhook_url });
    }
  });

  it('a viewer reads all rules also where plain SQL left one a URL that is none', async () => {
    const id = await created();
    await query(databaseUrl, `UPDATE alert_rules SET webhook_url = 'hooks.example/SECRET'`);
    for (const path of [`${RULES}/${id}`, RULES]) {
      const { status, body } = await closed.call('GET', path, as(VIEWER));
      expect([status, (body.items?.[0] ?? body).webhook_url]).toEqual([200, '…']);
    }
  });

  it('the signing secret of a rule is written and never read', async () => {
    const rule = await api.call('POST', RULES, { json: { ...RULE, webhook_secret: SECRET } });
    expect(rule.body).toMatchObject({ has_webhook_secret: true });
    const url = `${RULES}/${rule.body.id}`;
    const put = (webhook_secret: unknown) => api.call('PUT', url, { json: { webhook_secret } });
    const replies = [rule, await put(`${NEXT_SECRET},${SECRET}`), await api.call('GET', url)];
    for (const { body } of replies) expect(JSON.stringify(body)).not.toContain('whsec_');
    for (const wrong of ['', 'whsec_short', `${SECRET},${NEXT_SECRET},${SECRET}1`, 7]) {
      const reply = await put(wrong);
      expect(reply).toMatchObject({ status: 422, body: { errors: [{ field: 'webhook_secret' }] } });
      expect(JSON.stringify(reply.body)).not.toContain(SECRET);
    }
    expect(await api.call('PUT', url, { json: { threshold: 3 } })).toMatchObject({
      body: { has_webhook_secret: true },
    });
    expect(await put(null)).toMatchObject({ status: 200, body: { has_webhook_secret: false } });
  });
});

describe('a test of a webhook', () => {
  it('arrives at once, signed with both secrets of the rule, and the answer shows its result', async () => {
    const receiving = await receiver(answer(204, ''));
    const webhook_url = `${receiving.url}/hook`;
    const id = await created({ webhook_url, webhook_secret: `${NEXT_SECRET},${SECRET}` });
    const reply = await api.call('POST', `${RULES}/${id}/test`);
    expect(reply).toMatchObject({ status: 200, body: { delivered: true, status: 204, error: null } });
    expect(reply.body.duration_ms).toBeGreaterThanOrEqual(0);
    const [request] = receiving.requests;
    for (const secret of [SECRET, NEXT_SECRET]) {
      const told = new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {});
      expect(told).toMatchObject({ event: 'alert.test', id: 0, rule: { id, name: RULE.name }, value: 10 });
    }
    expect((await api.call('GET', `${HISTORY}?rule_id=${id}`)).body.total).toBe(0);
  });

  it('says why it did not arrive', async () => {
    const failing = await created({ webhook_url: (await receiver(answer(500, ''))).url });
    expect((await api.call('POST', `${RULES}/${failing}/test`)).body).toMatchObject({
      ...{ delivered: false, status: 500, error: 'answered 500' },
    });
    const gone = await startBadGateway(answer(200, ''));
    await gone.close();
    const silent = await created({ webhook_url: gone.url });
    expect((await api.call('POST', `${RULES}/${silent}/test`)).body).toMatchObject({
      ...{ delivered: false, status: null, error: expect.stringContaining('ECONNREFUSED') },
    });
    // Only an instance that allows this address may have stored it.
    expect((await closed.call('POST', `${RULES}/${silent}/test`, as(OPERATOR))).body).toMatchObject({
      ...{ delivered: false, status: null, duration_ms: expect.any(Number) },
      error: expect.stringContaining('127.0.0.1 is not a public address'),
    });
    const trace = await api.lastTrace();
    expect(trace).toMatchObject({
      ...{ action: 'alert_rule.test', object: `alert_rule ${silent}`, before: null },
      after: { webhook_url: new URL(gone.url).origin },
    });
    const without = await created({ notify_channels: [], webhook_url: null });
    expect(await api.call('POST', `${RULES}/${without}/test`)).toMatchObject({
      status: 409,
      body: {
        code: 'rule_without_webhook',
        detail: expect.stringContaining(`alert rule ${without} has no webhook`),
        hint: `\`cardpoll alerts rules update ${without} --webhook-url URL\` gives it one`,
      },
    });
    expect((await api.lastTrace()).action, 'a refused test leaves no trace').toBe('alert_rule.create');
  });
});

describe('alerts', () => {
  it('are acknowledged once, while they fire', async () => {
    const rule = await created();
    const id = await fired(rule);
    const acknowledge = (json?: object) =>
      api.call('POST', `${HISTORY}/${id}/acknowledge`, json === undefined ? {} : { json });
    expect(await acknowledge({ reason: 'a\u001b[31m' })).toMatchObject({ status: 422 });
    expect(await acknowledge({ reason: 'a\u2066b' })).toMatchObject({ status: 422 });
    const first = await acknowledge({ reason: 'on it' });
    expect(first).toMatchObject({
      status: 200,
      body: { acknowledged_by: 'local', acknowledged_reason: 'on it', acknowledged_at: expect.any(String) },
    });
    const trace = await api.lastTrace();
    expect(trace).toMatchObject({
      ...{ action: 'alert.acknowledge', object: `alert ${id}`, before: null, after: { reason: 'on it' } },
    });
    expect((await acknowledge()).body).toEqual(first.body);
    expect(await api.lastTrace(), 'a repeat leaves no trace').toEqual(trace);
    expect((await api.call('GET', `${HISTORY}?state=firing&rule_id=${rule}`)).body).toMatchObject({
      items: [first.body],
      total: 1,
    });
    expect((await api.call('GET', `${HISTORY}?state=resolved&rule_id=${rule}`)).body.total).toBe(0);
    expect(await api.call('GET', `${HISTORY}?state=open`)).toMatchObject({ status: 422 });
    const left = await fired(await created());
    await resolveAll();
    expect(await acknowledge({ reason: 'late' }), 'of one that was acknowledged').toMatchObject({
      body: { acknowledged_reason: 'on it', resolution: 'recovered' },
    });
    expect(await api.call('POST', `${HISTORY}/${left}/acknowledge`)).toMatchObject({
      status: 409,
      body: {
        code: 'alert_resolved',
        detail: expect.stringContaining(`alert ${left} is already resolved`),
      },
    });
  });

  it('have their webhook tried once more when it was given up', async () => {
    const id = await fired(await created());
    const other = await created();
    await fired(other);
    const redeliver = () => api.call('POST', `${HISTORY}/${id}/redeliver`);
    expect(await redeliver()).toMatchObject({
      status: 409,
      body: {
        code: 'nothing_to_redeliver',
        detail: expect.stringContaining(`alert ${id} has no failed notification`),
        hint: expect.stringContaining('cardpoll alerts history'),
      },
    });
    const { webhooks } = api.records.alerts;
    const claimed = await webhooks.claim({ limit: 100, limitPerUrl: 100, leaseMs: 60_000 });
    await webhooks.settle(claimed, { status: 'failed', error: 'answered 500' });
    expect(await redeliver()).toMatchObject({
      status: 202,
      body: { id, notifications: [{ status: 'pending', attempts: 1, last_error: 'answered 500' }] },
    });
    const { items } = (await api.call('GET', `${HISTORY}?rule_id=${other}`)).body;
    expect(items).toMatchObject([{ notifications: [{ status: 'failed' }] }]);
    expect(await api.lastTrace()).toMatchObject({
      action: 'alert.redeliver',
      object: `alert ${id}`,
      before: { notifications: [{ event: 'alert.fired', status: 'failed', attempts: 1 }] },
      after: { count: 1 },
    });
  });

  it('are silenced by rule, rule type or task type, for so long or until a time', async () => {
    const rule = await created();
    const post = (json: object) => api.call('POST', SILENCES, { json });
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const made = await post({ rule_id: rule, until, reason: 'works' });
    expect(made).toMatchObject({
      status: 201,
      body: { rule_id: rule, rule_type: null, task_type: null, reason: 'works', by: 'local', until },
    });
    expect(await api.lastTrace()).toMatchObject({
      ...{ action: 'silence.begin', object: `silence ${made.body.id}`, before: null, after: made.body },
    });
    await fired(rule);
    expect((await api.call('GET', `${HISTORY}?rule_id=${rule}`)).body.items).toMatchObject([
      { silenced: true },
    ]);
    const others = [
      await post({ rule_type: 'success_rate', seconds: 10 }),
      await post({ task_type: 'package', seconds: 2_678_400 }),
      await post({ rule_id: rule, rule_type: 'queue_backlog', task_type: 'package', seconds: 60 }),
    ];
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect((await api.call('GET', SILENCES)).body.items).toEqual([made, ...others].map(({ body }) => body));
    const lasting = Date.parse(others[1]?.body.until) - Date.parse(others[1]?.body.since);
    expect(lasting).toBe(2_678_400_000);
    const end = () => api.call('DELETE', `${SILENCES}/${made.body.id}`);
    expect(await end()).toMatchObject({ status: 200, body: made.body });
    const trace = await api.lastTrace();
    expect(trace).toMatchObject({ action: 'silence.end', before: made.body, after: null });
    expect(await end()).toMatchObject({
      status: 404,
      body: {
        code: 'silence_not_found',
        detail: expect.stringContaining(`there is no silence ${made.body.id}, or it has ended`),
        hint: '`cardpoll alerts silences` shows the ids',
      },
    });
    expect(await api.lastTrace()).toEqual(trace);
  });

  const NO_SCOPE = 'is required when neither rule_type nor task_type is given';
  const NO_END = 'is required, or until instead of it';
  it.each([
    [{ seconds: 60 }, 'rule_id', NO_SCOPE],
    [{ task_type: 'package' }, 'seconds', NO_END],
    [{ task_type: 'package', seconds: 60, until: '2030-01-01T00:00:00Z' }, 'seconds', NO_END],
    [
      { task_type: 'package', until: '2020-01-01T00:00:00Z' },
      'until',
      'must be a time within the next 31 days',
    ],
    [
      { task_type: 'package', until: '2999-01-01T00:00:00Z' },
      'until',
      'must be a time within the next 31 days',
    ],
    [{ task_type: 'package', until: 'tomorrow' }, 'until', 'must be a time like 2026-11-22T08:00:00Z'],
    [{ rule_id: 999_999, seconds: 60 }, 'rule_id', 'there is no alert rule 999999'],
  ])('refuse the silence %j: %s %s', async (json, field, message) => {
    expect(await api.call('POST', SILENCES, { json })).toMatchObject({
      status: 422,
      body: { errors: [{ field, message }] },
    });
  });
});
