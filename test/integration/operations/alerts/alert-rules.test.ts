// Alert rules at the operations: what one may be, what is made, changed and removed of it, and what the trail keeps, where no
// secret may stand.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AlertRule } from '../../../../src/domain/alerts/alert-rule.ts';
import type { Actor } from '../../../../src/domain/audit.ts';
import { alertRuleVersion } from '../../../../src/operations/alerts/alerts.ts';
import type { Operations } from '../../../../src/operations/operations.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';

type NewRule = Parameters<Operations['alerts']['create']>[1];

const ANNA: Actor = { name: 'anna', role: 'admin', address: null, requestId: null };
const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const CONDITION = {
  name: 'Backlog',
  ruleType: 'queue_backlog',
  taskType: 'package',
  comparison: '>',
  threshold: 10,
  isEnabled: true,
} as const;
const QUIET: NewRule = { ...CONDITION, notifyChannels: [] };
const TELLING: NewRule = {
  ...CONDITION,
  notifyChannels: ['webhook'],
  webhookUrl: 'https://hooks.example:8443/T0/SECRET?key=1',
};
/** What the trail keeps of them. */
const TRACE = {
  name: 'Backlog',
  rule_type: 'queue_backlog',
  task_type: 'package',
  comparison: '>',
  threshold: 10,
  is_enabled: true,
  notify_channels: [],
  webhook_url: null,
  has_webhook_secret: false,
  webhook_format: 'standard',
  webhook_grouped: false,
  cooldown_seconds: 300,
};
const TELLING_TRACE = { ...TRACE, notify_channels: ['webhook'], webhook_url: 'https://hooks.example:8443' };
const IDS = [0, 999, 2 ** 31, 1.5];

let stores: OperatedStores;
let alerts: Operations['alerts'];

beforeAll(async () => {
  stores = await openOperatedStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  alerts = stores.operations().alerts;
  await stores.sql('DELETE FROM alert_rules');
});

const notFound = (id: number) => ({
  kind: 'not_found',
  code: 'alert_rule_not_found',
  message: `there is no alert rule ${id}`,
  hint: '`cardpoll alerts rules` shows the ids',
});

const refused = (...fields: object[]) => ({
  kind: 'invalid',
  code: 'invalid_field',
  message: 'the alert rule is not valid',
  fields,
});

const rulesKept = async () => (await alerts.list({ page: 1, pageSize: 100 })).items;
const recordOf = async (id: number) => (await stores.records.alerts.rule(id)) as AlertRule;

describe('a new rule', () => {
  it('is kept with its defaults, and the trail says what it is', async () => {
    const made = await alerts.create(ANNA, QUIET);
    expect(made).toEqual({
      ...QUIET,
      id: expect.any(Number),
      webhookUrl: null,
      hasWebhookSecret: false,
      webhookFormat: 'standard',
      webhookGrouped: false,
      cooldownSeconds: 300,
      createdAt: expect.any(Date),
      updatedAt: expect.any(Date),
    });
    const { createdAtMs, updatedAtMs } = await recordOf(made.id);
    expect([made.createdAt.getTime(), made.updatedAt.getTime()]).toEqual([createdAtMs, updatedAtMs]);
    expect(await alerts.show(made.id)).toEqual(made);
    expect(await stores.lastTrace()).toMatchObject({
      name: 'anna',
      action: 'alert_rule.create',
      object: `alert_rule ${made.id}`,
      before: null,
      after: TRACE,
    });
  });

  it('keeps all that was said; its secrets are kept, but told to nobody', async () => {
    const said = {
      ...TELLING,
      name: ' Backlog ',
      notifyChannels: ['webhook', 'webhook'] as const,
      webhookGrouped: true,
      cooldownSeconds: 0,
    };
    const made = await alerts.create(ANNA, { ...said, webhookSecret: `${secretOf(2)}, ${secretOf(1)}` });
    expect(made).toMatchObject({
      ...TELLING,
      hasWebhookSecret: true,
      webhookGrouped: true,
      cooldownSeconds: 0,
    });
    const kept = await recordOf(made.id);
    expect(kept).toMatchObject({ ...TELLING, webhookSecrets: [secretOf(2), secretOf(1)] });
    const { after } = await stores.lastTrace();
    expect(after).toEqual({
      ...TELLING_TRACE,
      has_webhook_secret: true,
      webhook_grouped: true,
      cooldown_seconds: 0,
    });
    expect(JSON.stringify(made)).not.toContain('whsec_');
  });

  it.each<[string, Partial<NewRule>]>([
    ['the longest name', { name: 'x'.repeat(100) }],
    ['the least threshold', { threshold: 0 }],
    ['a threshold without an upper bound', { threshold: 1e12 }],
    ['the largest share', { ruleType: 'success_rate', threshold: 100 }],
    ['the longest cooldown', { cooldownSeconds: 604_800 }],
    ['the longest URL', { webhookUrl: `https://hooks.example/${'x'.repeat(2_048 - 22)}` }],
    ['a URL that nobody is told by', { webhookUrl: 'https://hooks.example/' }],
    ['the task type its rule type is for', { ruleType: 'stop_unconfirmed', taskType: 'package' }],
    ['the secrets of the configuration', { webhookSecret: null }],
  ])('may have %s', async (_what, over) => {
    const { webhookSecret: _, ...told } = over;
    expect(await alerts.create(ANNA, { ...QUIET, ...over })).toMatchObject(told);
  });

  it.each<[string, Partial<NewRule>, string, string]>([
    ['no name', { name: ' ' }, 'name', 'must have 1 to 100 printable characters'],
    ['too long a name', { name: 'x'.repeat(101) }, 'name', 'must have 1 to 100 printable characters'],
    ['a name that turns text round', { name: 'a\u202eb' }, 'name', 'must have 1 to 100 printable characters'],
    ['an unprintable name', { name: 'a\u0007b' }, 'name', 'must have 1 to 100 printable characters'],
    [
      'a task type its rule type is not for',
      { ruleType: 'stop_unconfirmed', taskType: 'realname' },
      'taskType',
      'must be package for stop_unconfirmed',
    ],
    ['too low a threshold', { threshold: -1 }, 'threshold', 'must be at least 0 for queue_backlog'],
    ['an endless threshold', { threshold: Infinity }, 'threshold', 'must be at least 0 for queue_backlog'],
    [
      'too large a share',
      { ruleType: 'success_rate', threshold: 100.1 },
      'threshold',
      'must be 0 to 100 for success_rate',
    ],
    [
      'a channel without a URL',
      { notifyChannels: ['webhook'], webhookUrl: null },
      'webhookUrl',
      'is required when notify_channels has webhook',
    ],
    [
      'too long a URL',
      { webhookUrl: `https://hooks.example/${'x'.repeat(2_049 - 22)}` },
      'webhookUrl',
      'must have at most 2048 characters',
    ],
    [
      'a URL that must not be called',
      { webhookUrl: 'http://127.0.0.1/' },
      'webhookUrl',
      '127.0.0.1 is not a public address (webhooks.allow_cidrs lets ranges through)',
    ],
    [
      'a secret of no form',
      { webhookSecret: 'whsec_short' },
      'webhookSecret',
      'must be whsec_ and 24 to 64 bytes in base64, or two of these with a comma',
    ],
  ])('may not have %s', async (_what, over, field, message) => {
    await expect(alerts.create(ANNA, { ...QUIET, ...over })).rejects.toMatchObject(
      refused({ field, message }),
    );
    expect(await rulesKept()).toEqual([]);
  });

  it('is told all that is wrong with it at once', async () => {
    const wrong = { ...TELLING, name: '', threshold: -1, webhookUrl: null, webhookSecret: '' };
    const fields = ['name', 'threshold', 'webhookUrl', 'webhookSecret'];
    await expect(alerts.create(ANNA, wrong)).rejects.toMatchObject(
      refused(...fields.map((field) => ({ field, message: expect.any(String) }))),
    );
  });

  it('is refused where there are as many as there may be, also when two come at once', async () => {
    const bounded = stores.operations(
      {},
      { maxOpenTriggers: 1, maxOpenConditionTriggers: 1, maxAlertRules: 2 },
    ).alerts;
    const { id } = await bounded.create(ANNA, QUIET);
    const [first, second] = await Promise.allSettled([
      bounded.create(ANNA, QUIET),
      bounded.create(ANNA, QUIET),
    ]);
    expect(first.status).toBe('fulfilled');
    expect(second).toMatchObject({
      reason: {
        kind: 'conflict',
        code: 'too_many_alert_rules',
        message: 'there are already 2 alert rules',
        hint: expect.stringContaining('api.max_alert_rules'),
      },
    });
    await bounded.remove(ANNA, id);
    expect(await bounded.create(ANNA, QUIET)).toMatchObject(QUIET);
  });
});

it('rules are listed by id, page by page', async () => {
  for (const name of ['c', 'a', 'b']) await alerts.create(ANNA, { ...QUIET, name });
  const page = async (number: number) => {
    const { items, total } = await alerts.list({ page: number, pageSize: 2 });
    return [items.map(({ name }) => name), total];
  };
  expect([await page(1), await page(2), await page(3)]).toEqual([
    [['c', 'a'], 3],
    [['b'], 3],
    [[], 3],
  ]);
  const [first] = await rulesKept();
  expect(first).toEqual(await alerts.show(first?.id ?? 0));
});

describe('a change of a rule', () => {
  it('leaves the rest as it is, and the trail says what it was', async () => {
    const made = await alerts.create(ANNA, { ...TELLING, webhookSecret: secretOf(1) });
    const patch = { threshold: 20, isEnabled: false, name: undefined };
    const changed = await alerts.update(ANNA, made.id, patch, null);
    expect(changed).toEqual({ ...made, threshold: 20, isEnabled: false, updatedAt: expect.any(Date) });
    expect(await alerts.show(made.id)).toEqual(changed);
    expect((await recordOf(made.id)).webhookSecrets).toEqual([secretOf(1)]);
    const trace = { ...TELLING_TRACE, has_webhook_secret: true };
    const { action, object, before, after } = await stores.lastTrace();
    expect({ action, object, before, after }).toEqual({
      action: 'alert_rule.update',
      object: `alert_rule ${made.id}`,
      before: trace,
      after: { ...trace, threshold: 20, is_enabled: false },
    });
  });

  it('of URL or secret is told in the trail, not what they are', async () => {
    const { id } = await alerts.create(ANNA, { ...TELLING, webhookSecret: secretOf(1) });
    const trace = { ...TELLING_TRACE, has_webhook_secret: true };
    await alerts.update(ANNA, id, { webhookUrl: 'https://hooks.example:8443/T0/OTHER' }, null);
    expect((await stores.lastTrace()).after).toEqual({ ...trace, webhook_url_changed: true });
    expect(await alerts.update(ANNA, id, { webhookSecret: secretOf(2) }, null)).toMatchObject({
      hasWebhookSecret: true,
    });
    expect((await stores.lastTrace()).after).toEqual({ ...trace, webhook_secret_changed: true });
    expect(await alerts.update(ANNA, id, { webhookSecret: null }, null)).toMatchObject({
      hasWebhookSecret: false,
    });
    expect((await recordOf(id)).webhookSecrets).toEqual([]);
  });

  it('is judged with what stays', async () => {
    const { id } = await alerts.create(ANNA, { ...TELLING, threshold: 500 });
    for (const [patch, field] of [
      [{ ruleType: 'success_rate' }, 'threshold'],
      [{ webhookUrl: null }, 'webhookUrl'],
      [{ webhookSecret: 'x' }, 'webhookSecret'],
    ] as const)
      await expect(alerts.update(ANNA, id, patch, null)).rejects.toMatchObject(
        refused(expect.objectContaining({ field })),
      );
    expect(await alerts.show(id)).toMatchObject({ ...TELLING, threshold: 500 });
  });

  it('is made only in the version that was seen', async () => {
    const made = await alerts.create(ANNA, QUIET);
    const seen = alertRuleVersion(made);
    expect(alertRuleVersion(await recordOf(made.id)), 'of the record too').toBe(seen);
    const changed = await alerts.update(ANNA, made.id, { threshold: 11 }, [seen]);
    await expect(alerts.update(ANNA, made.id, { threshold: 12 }, [seen])).rejects.toMatchObject({
      kind: 'conflict',
      code: 'version_changed',
    });
    expect(await alerts.show(made.id)).toEqual(changed);
  });

  it.each(IDS)('that is not there is refused: %d', async (id) => {
    await expect(alerts.update(ANNA, id, { threshold: 1 }, null)).rejects.toMatchObject(notFound(id));
  });
});

describe('removing a rule', () => {
  it('leaves in the trail what it was', async () => {
    const { id } = await alerts.create(ANNA, TELLING);
    await alerts.remove(ANNA, id);
    await expect(alerts.show(id)).rejects.toMatchObject(notFound(id));
    expect(await stores.lastTrace()).toMatchObject({
      action: 'alert_rule.delete',
      object: `alert_rule ${id}`,
      before: TELLING_TRACE,
      after: null,
    });
  });

  it.each(IDS)('that is not there is refused: %d', async (id) => {
    await expect(alerts.remove(ANNA, id)).rejects.toMatchObject(notFound(id));
    await expect(alerts.show(id)).rejects.toMatchObject(notFound(id));
  });
});

describe('a test of a webhook', () => {
  it('tells what came of it, and the trail where it went', async () => {
    // An operator without the guard put it there.
    const { id } = await alerts.create(ANNA, TELLING);
    await stores.sql(`UPDATE alert_rules SET webhook_url = 'http://127.0.0.1:1/T0/SECRET' WHERE id = ${id}`);
    expect(await alerts.test(ANNA, id)).toEqual({
      delivered: false,
      status: null,
      error: expect.stringContaining('127.0.0.1 is not a public address'),
      durationMs: expect.any(Number),
    });
    const { action, object, before, after } = await stores.lastTrace();
    expect({ action, object, before, after }).toEqual({
      action: 'alert_rule.test',
      object: `alert_rule ${id}`,
      before: null,
      after: { webhook_url: 'http://127.0.0.1:1' },
    });
  });

  it('that is not there is refused', async () => {
    const { id } = await alerts.create(ANNA, QUIET);
    const known = await stores.lastTrace();
    await expect(alerts.test(ANNA, id)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'rule_without_webhook',
      message: `alert rule ${id} has no webhook`,
      hint: `\`cardpoll alerts rules update ${id} --webhook-url URL\` gives it one`,
    });
    await expect(alerts.test(ANNA, 999)).rejects.toMatchObject(notFound(999));
    expect(await stores.lastTrace()).toEqual(known);
  });
});
