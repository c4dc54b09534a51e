// Alert rules and history over real HTTP and PostgreSQL: what they answer, and every refusal.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { applyToRules } from '../../support/alert-rules.ts';
import { type ApiUnderTest, type Reply, startApi } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';

let api: ApiUnderTest;

beforeAll(async () => {
  const redis = await freshRedis();
  api = await startApi({ redisUrl: redis.url, databaseUrl: await freshDatabase() });
});
afterAll(() => api.close());

const RULES = '/api/admin/polling-alert-rules';
const HISTORY = '/api/admin/polling-alert-history';
const RFC_3339_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const RULE = {
  name: '队列积压',
  rule_type: 'queue_backlog',
  task_type: 'realname',
  threshold: 50_000,
  comparison: '>',
  is_enabled: true,
  notify_channels: ['webhook'],
  webhook_url: 'https://hooks.example.com/a?b=1',
};

const URL_OF_2048 = `https://hooks.example/${'x'.repeat(2_048 - 22)}`;

beforeEach(async () => {
  const { items } = await api.records.alerts.rules({ offset: 0, limit: 1_000 });
  for (const { id } of items) await api.records.alerts.deleteRule(id);
});

async function create(over: object = {}): Promise<Reply['body']> {
  const reply = await api.call('POST', RULES, { json: { ...RULE, ...over } });
  expect(reply).toMatchObject({ status: 201 });
  return reply.body;
}

function fieldsOf(reply: Reply): string[] {
  expect(reply.status).toBe(422);
  expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/);
  return reply.body.errors.map((error: { field: string }) => error.field);
}

describe('alert rules', () => {
  it('are created with defaults, shown, listed, changed and deleted', async () => {
    const rule = await create();
    expect(rule).toEqual({
      ...RULE,
      id: expect.any(Number),
      has_webhook_secret: false,
      webhook_format: 'standard',
      webhook_template: null,
      webhook_grouped: false,
      cooldown_seconds: 300,
      created_at: expect.stringMatching(RFC_3339_UTC),
      updated_at: expect.stringMatching(RFC_3339_UTC),
    });
    expect(await api.call('GET', `${RULES}/${rule.id}`)).toMatchObject({ status: 200, body: rule });
    const second = await create({
      ...{ name: ' b ', notify_channels: [], webhook_url: undefined },
      ...{ cooldown_seconds: 0, webhook_grouped: true },
    });
    expect(second).toMatchObject({ name: 'b', notify_channels: [], webhook_url: null, cooldown_seconds: 0 });
    expect(second).toMatchObject({ webhook_grouped: true });
    expect((await api.call('GET', RULES)).body).toEqual({
      items: [rule, second],
      page: 1,
      page_size: 20,
      total: 2,
    });
    expect((await api.call('GET', `${RULES}?page=2&page_size=1`)).body).toMatchObject({
      items: [{ id: second.id }],
      total: 2,
    });

    const changed = await api.call('PUT', `${RULES}/${rule.id}`, {
      json: { threshold: 1.5, is_enabled: false },
    });
    expect(changed).toMatchObject({ status: 200, body: { ...RULE, threshold: 1.5, is_enabled: false } });
    const whole = { ...RULE, name: 'whole', webhook_url: null, notify_channels: [], cooldown_seconds: 60 };
    expect(await api.call('PUT', `${RULES}/${rule.id}`, { json: whole })).toMatchObject({ body: whole });
    const twice = { notify_channels: ['webhook', 'webhook'], webhook_url: RULE.webhook_url };
    expect((await api.call('PUT', `${RULES}/${rule.id}`, { json: twice })).body.notify_channels).toEqual([
      'webhook',
    ]);

    expect(await api.call('DELETE', `${RULES}/${rule.id}`)).toMatchObject({ status: 204, body: null });
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const json = method === 'PUT' ? { json: { threshold: 1 } } : {};
      expect(await api.call(method, `${RULES}/${rule.id}`, json)).toMatchObject({
        status: 404,
        body: { code: 'alert_rule_not_found' },
      });
    }
  });

  it.each(['0', '-1', 'x', '1.5', '99999999999', '9999999999', '%00'])(
    'are not found under %s',
    async (id) => {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const json = method === 'PUT' ? { json: { threshold: 1 } } : {};
        expect(await api.call(method, `${RULES}/${id}`, json)).toMatchObject({ status: 404 });
      }
    },
  );

  const NAME = 'must have 1 to 100 printable characters';
  const CHANNELS = 'must be a list of channels: webhook';
  const NO_URL = 'is required when notify_channels has webhook';
  it.each([
    [{ name: '   ' }, 'name', NAME],
    [{ name: 'x'.repeat(101) }, 'name', NAME],
    [{ name: 'a\u0000b' }, 'name', NAME],
    [{ name: 'a\u202eb' }, 'name', NAME],
    [
      { rule_type: 'stop_unconfirmed', task_type: 'realname', threshold: 1 },
      'task_type',
      'must be package for stop_unconfirmed',
    ],
    [{ threshold: -1 }, 'threshold', 'must be at least 0 for queue_backlog'],
    [{ rule_type: 'success_rate', threshold: 100.1 }, 'threshold', 'must be 0 to 100 for success_rate'],
    [{ notify_channels: ['webhook', 'pigeon'] }, 'notify_channels', CHANNELS],
    [{ notify_channels: [null] }, 'notify_channels', CHANNELS],
    [{ webhook_url: null }, 'webhook_url', NO_URL],
    [{ webhook_url: undefined }, 'webhook_url', NO_URL],
    [{ webhook_url: '' }, 'webhook_url', 'must be a URL'],
    [{ webhook_url: `${URL_OF_2048}x` }, 'webhook_url', 'must have at most 2048 characters'],
    [
      { notify_channels: [], webhook_url: 'http://2130706433/' },
      'webhook_url',
      '127.0.0.1 is not a public address (webhooks.allow_cidrs lets ranges through)',
    ],
    [
      { webhook_secret: 'whsec_short' },
      'webhook_secret',
      'must be whsec_ and 24 to 64 bytes in base64, or two of these with a comma',
    ],
  ])('refuse %j: %s %s', async (over, field, message) => {
    const reply = await api.call('POST', RULES, { json: { ...RULE, ...over } });
    expect(reply).toMatchObject({
      status: 422,
      body: { detail: expect.any(String), errors: [{ field, message }] },
    });
    expect((await api.call('GET', RULES)).body.total).toBe(0);
  });

  it('name a receiver by webhook_template, also called webhook_format, which may have its own URL', async () => {
    const { id, ...rule } = await create({
      ...{
        webhook_url: undefined,
        webhook_template: 'pagerduty',
        webhook_secret: 'key-0123456789',
        webhook_grouped: true,
      },
    });
    expect(rule).toMatchObject({
      ...{ webhook_template: 'pagerduty', webhook_format: 'pagerduty', has_webhook_secret: true },
      ...{ webhook_url: 'https://events.pagerduty.com/v2/enqueue', webhook_grouped: false },
    });
    const change = (json: object) => api.call('PUT', `${RULES}/${id}`, { json });
    expect(fieldsOf(await change({ webhook_template: 'slack', webhook_format: 'wecom' }))).toEqual([
      'webhook_template',
    ]);
    expect(fieldsOf(await change({ webhook_template: 'nobody' }))).toContain('webhook_template');
    expect(fieldsOf(await change({ webhook_template: 'slack' }))).toEqual(['webhook_url', 'webhook_secret']);
    const slack = {
      webhook_format: 'slack',
      webhook_url: 'https://hooks.slack.com/services/x',
      webhook_secret: null,
    };
    expect((await change(slack)).body).toMatchObject({
      webhook_template: 'slack',
      has_webhook_secret: false,
    });
  });

  it('may name the receivers of the list, which shows no secret', async () => {
    const { body } = await api.call('GET', '/api/admin/polling-alert-receivers');
    expect(body.items).toContainEqual({
      ...{
        name: 'pagerduty',
        from: 'shipped',
        description: 'PagerDuty, Events API v2',
        signs: false,
        grouped: false,
      },
      ...{
        url: 'https://events.pagerduty.com/v2/enqueue',
        secrets: ['routing_key'],
        missing: ['routing_key'],
      },
      rule_secret: true,
    });
  });

  it('name all wrong fields at once', async () => {
    const wrong = { ...RULE, name: '', threshold: -1, webhook_url: null, webhook_secret: '' };
    const reply = await api.call('POST', RULES, { json: wrong });
    expect(fieldsOf(reply)).toEqual(['name', 'threshold', 'webhook_url', 'webhook_secret']);
    expect(reply.body.detail).toContain('the alert rule is not valid');
  });

  it.each([
    { name: 'x'.repeat(100) },
    { threshold: 0 },
    { threshold: 1e12 },
    { rule_type: 'success_rate', threshold: 100 },
    { rule_type: 'stop_unconfirmed', task_type: 'package', threshold: 9_999 },
    { cooldown_seconds: 604_800 },
    { webhook_url: URL_OF_2048 },
    { notify_channels: [] },
  ])('may be at their bounds: %j', async (over) => {
    expect(await create(over)).toMatchObject(over);
  });

  it('are checked as a whole when a part of them changes', async () => {
    const { id } = await create({ threshold: 500 });
    const put = (json: object) => api.call('PUT', `${RULES}/${id}`, { json });
    expect(fieldsOf(await put({ rule_type: 'success_rate' }))).toEqual(['threshold']);
    expect(fieldsOf(await put({ webhook_url: null }))).toEqual(['webhook_url']);
    expect(fieldsOf(await put({}))).toEqual(['body']);
    expect(fieldsOf(await put({ name: null }))).toEqual(['name']);
    expect(await put({ rule_type: 'success_rate', threshold: 90, comparison: '<' })).toMatchObject({
      status: 200,
    });
    expect(await put({ notify_channels: [], webhook_url: null })).toMatchObject({ status: 200 });
    expect(fieldsOf(await put({ notify_channels: ['webhook'] }))).toEqual(['webhook_url']);
  });
});

describe('alert history', () => {
  it('is paged, newest first, by rule, and stays when the rule goes', async () => {
    const first = await create();
    const second = await create({ name: 'second', notify_channels: [], webhook_url: undefined });
    const { alerts } = api.records;
    await applyToRules(alerts, { kind: 'fired', value: 60_000 });
    const { body } = await api.call('GET', `${HISTORY}?rule_id=${first.id}`);
    expect(body).toEqual({
      page: 1,
      page_size: 20,
      total: 1,
      items: [
        {
          id: expect.any(Number),
          rule_id: first.id,
          rule_name: RULE.name,
          rule_type: 'queue_backlog',
          task_type: 'realname',
          comparison: '>',
          threshold: 50_000,
          value: 60_000,
          cause: null,
          cause_since: null,
          earlier_causes: [],
          fired_at: expect.stringMatching(RFC_3339_UTC),
          resolved_at: null,
          resolution: null,
          resolved_value: null,
          acknowledged_at: null,
          acknowledged_by: null,
          acknowledged_reason: null,
          silenced: false,
          notifications: [
            { channel: 'webhook', event: 'alert.fired', status: 'pending', attempts: 0, last_error: null },
          ],
        },
      ],
    });
    const [open] = body.items;
    await applyToRules(alerts, { kind: 'resolved', value: 3, resolution: 'recovered' }, [first.id]);
    expect((await api.call('GET', `${HISTORY}?state=resolved`)).body.items).toEqual([
      {
        ...open,
        ...{ resolved_at: expect.stringMatching(RFC_3339_UTC), resolution: 'recovered', resolved_value: 3 },
        notifications: [...open.notifications, { ...open.notifications[0], event: 'alert.resolved' }],
      },
    ]);
    await api.call('DELETE', `${RULES}/${first.id}`);
    const page = await api.call('GET', `${HISTORY}?page=1&page_size=1`);
    expect(page.body).toMatchObject({ page_size: 1, total: 2, items: [{ rule_id: second.id }] });
    expect((await api.call('GET', `${HISTORY}?page=2&page_size=1`)).body.items).toMatchObject([
      { rule_id: first.id, rule_name: RULE.name },
    ]);
    expect((await api.call('GET', `${HISTORY}?rule_id=9999999999`)).body).toMatchObject({
      items: [],
      total: 0,
    });
  });

  it.each([
    ['rule_id=0', 'rule_id'],
    ['rule_id=x', 'rule_id'],
    ['rule_id=1&rule_id=2', 'rule_id'],
    ['page=0', 'page'],
    ['page_size=101', 'page_size'],
  ])('refuses the query %s', async (query, field) => {
    expect(fieldsOf(await api.call('GET', `${HISTORY}?${query}`))).toEqual([field]);
  });
});
