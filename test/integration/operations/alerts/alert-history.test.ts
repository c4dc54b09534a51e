// Alerts at the operations: what the history tells of them, and what an on-call does about one, with what the trail keeps.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AlertRuleFields } from '../../../../src/domain/alerts/alert-rule.ts';
import type { Actor } from '../../../../src/domain/audit.ts';
import type { Operations } from '../../../../src/operations/operations.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';

const ANNA: Actor = { name: 'anna', role: 'operator', address: null, requestId: null };
const BEN: Actor = { ...ANNA, name: 'ben' };
const CONDITION = {
  ruleType: 'queue_backlog',
  taskType: 'package',
  comparison: '>',
  threshold: 10,
} as const;
const RULE: AlertRuleFields = {
  ...CONDITION,
  name: 'Backlog',
  isEnabled: true,
  notifyChannels: ['webhook'],
  webhookUrl: 'https://hooks.example/',
  webhookSecrets: [],
  webhookFormat: null,
  webhookGrouped: false,
  cooldownSeconds: 0,
};
const ANY = { ruleId: null, state: null };
const IDS = [0, 999_999, 1.5, 2 ** 53];
const PENDING = {
  channel: 'webhook',
  event: 'alert.fired',
  status: 'pending',
  attempts: 0,
  lastError: null,
};

let stores: OperatedStores;
let history: Operations['alertHistory'];

beforeAll(async () => {
  stores = await openOperatedStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  history = stores.operations().alertHistory;
  for (const table of ['webhook_outbox', 'alert_history', 'alert_silences', 'alert_rules'])
    await stores.sql(`DELETE FROM ${table}`);
});

const notFound = (id: number) => ({
  kind: 'not_found',
  code: 'alert_not_found',
  message: `there is no alert ${id}`,
  hint: '`cardpoll alerts history` shows the ids',
});

async function apply(
  ruleId: number,
  event: { kind: 'fired'; value: number } | { kind: 'resolved'; value: number; resolution: 'recovered' },
): Promise<number> {
  const { alerts } = stores.records;
  const rule = (await alerts.toEvaluate()).find(({ id }) => id === ruleId);
  const [applied] = await alerts.apply([{ ruleId, revision: rule?.revision ?? 0, event }]);
  return applied?.alert.id ?? 0;
}

async function fired(over: Partial<AlertRuleFields> = {}): Promise<{ id: number; ruleId: number }> {
  const { id: ruleId } = await stores.records.alerts.createRule({ ...RULE, ...over });
  return { ruleId, id: await apply(ruleId, { kind: 'fired', value: 11 }) };
}

const resolve = (ruleId: number) => apply(ruleId, { kind: 'resolved', value: 3, resolution: 'recovered' });

/** Every webhook that is due fails for good. */
async function giveUp(): Promise<void> {
  const { webhooks } = stores.records.alerts;
  const claimed = await webhooks.claim({ limit: 100, limitPerUrl: 100, leaseMs: 60_000 });
  await webhooks.settle(claimed, { status: 'failed', error: 'answered 500' });
}

const page = async (number: number, pageSize = 2, filter: Parameters<typeof history.list>[0] = ANY) => {
  const { items, total } = await history.list(filter, { page: number, pageSize });
  return { ids: items.map(({ id }) => id), total };
};

describe('the history', () => {
  it('tells of an alert from its firing to its end', async () => {
    const { id, ruleId } = await fired();
    const open = {
      ...{ id, ruleId, ruleName: 'Backlog', ...CONDITION, value: 11, firedAt: expect.any(Date), cause: null },
      ...{ resolvedAt: null, resolution: null, resolvedValue: null },
      ...{ acknowledgedAt: null, acknowledgedBy: null, acknowledgedReason: null },
      silenced: false,
      notifications: [PENDING],
    };
    expect(await history.list(ANY, { page: 1, pageSize: 10 })).toEqual({ items: [open], total: 1 });
    await resolve(ruleId);
    const [over] = (await history.list(ANY, { page: 1, pageSize: 10 })).items;
    expect(over).toEqual({
      ...open,
      ...{ resolvedAt: expect.any(Date), resolution: 'recovered', resolvedValue: 3 },
      notifications: [PENDING, { ...PENDING, event: 'alert.resolved' }],
    });
    const record = await stores.records.alerts.alert(id);
    expect([over?.firedAt.getTime(), over?.resolvedAt?.getTime()]).toEqual([
      record?.firedAtMs,
      record?.resolvedAtMs,
    ]);
  });

  it('is paged, newest first, by rule and by state', async () => {
    const first = await fired();
    await resolve(first.ruleId);
    const second = await fired();
    const third = await fired();
    expect(await page(1)).toEqual({ ids: [third.id, second.id], total: 3 });
    expect(await page(2)).toEqual({ ids: [first.id], total: 3 });
    expect(await page(1, 10, { ...ANY, ruleId: second.ruleId })).toEqual({ ids: [second.id], total: 1 });
    expect(await page(1, 10, { ...ANY, state: 'resolved' })).toEqual({ ids: [first.id], total: 1 });
  });

  it.each([0, 2 ** 31, 1.5])('knows no alert of a rule %d, which cannot be', async (ruleId) => {
    await fired();
    expect(await page(1, 10, { ...ANY, ruleId })).toEqual({ ids: [], total: 0 });
  });

  it('counts what fires by kind, and what is still to be told', async () => {
    expect(await history.counts()).toEqual({ kinds: [], pendingWebhooks: 0 });
    await fired();
    const { id } = await fired();
    await fired({ ruleType: 'avg_duration', notifyChannels: [], webhookUrl: null });
    await history.acknowledge(ANNA, id, 'on it');
    const { kinds, pendingWebhooks } = await history.counts();
    expect(pendingWebhooks).toBe(2);
    expect(kinds).toHaveLength(2);
    expect(kinds).toEqual(
      expect.arrayContaining([
        { ruleType: 'queue_backlog', taskType: 'package', firing: 2, silenced: 0, acknowledged: 1 },
        { ruleType: 'avg_duration', taskType: 'package', firing: 1, silenced: 0, acknowledged: 0 },
      ]),
    );
  });
});

describe('an acknowledgement', () => {
  it('says who acknowledged an alert; the first one stays', async () => {
    const { id } = await fired();
    const said = await history.acknowledge(ANNA, id, 'on it');
    expect(said).toMatchObject({
      id,
      acknowledgedAt: expect.any(Date),
      acknowledgedBy: 'anna',
      acknowledgedReason: 'on it',
    });
    const trace = await stores.lastTrace();
    expect(trace).toMatchObject({
      name: 'anna',
      action: 'alert.acknowledge',
      object: `alert ${id}`,
      before: null,
      after: { reason: 'on it' },
    });
    expect(await history.acknowledge(BEN, id, 'me too')).toEqual(said);
    expect(await stores.lastTrace(), 'what changes nothing leaves no trace').toEqual(trace);
  });

  it('is refused for an alert that is over, unless somebody was at it', async () => {
    const left = await fired();
    const seen = await fired();
    await history.acknowledge(ANNA, seen.id, 'on it');
    const trace = await stores.lastTrace();
    for (const { ruleId } of [left, seen]) await resolve(ruleId);
    await expect(history.acknowledge(BEN, left.id, 'late')).rejects.toMatchObject({
      kind: 'conflict',
      code: 'alert_resolved',
      message: `alert ${left.id} is already resolved`,
    });
    expect(await history.acknowledge(BEN, seen.id, 'late')).toMatchObject({ acknowledgedBy: 'anna' });
    expect(await stores.lastTrace()).toEqual(trace);
  });

  it.each(IDS)('of an alert that is not there is refused: %d', async (id) => {
    await expect(history.acknowledge(ANNA, id, 'x')).rejects.toMatchObject(notFound(id));
  });
});

describe('another try', () => {
  it('is made of what was given up, and the trail says what that was', async () => {
    const { id } = await fired();
    const other = await fired();
    await giveUp();
    const again = { ...PENDING, attempts: 1, lastError: 'answered 500' };
    expect(await history.redeliver(ANNA, id)).toMatchObject({ id, notifications: [again] });
    expect((await history.counts()).pendingWebhooks, 'of no other alert').toBe(1);
    const { attempts, status: _, lastError: last_error, ...notification } = again;
    expect(await stores.lastTrace()).toMatchObject({
      action: 'alert.redeliver',
      object: `alert ${id}`,
      before: { notifications: [{ ...notification, status: 'failed', attempts, last_error }] },
      after: { count: 1 },
    });
    expect(other.id).not.toBe(id);
  });

  it('is refused where nothing was given up', async () => {
    const { id } = await fired();
    const trace = await stores.lastTrace().catch(() => null);
    await expect(history.redeliver(ANNA, id)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'nothing_to_redeliver',
      message: `alert ${id} has no failed notification`,
      hint: expect.stringContaining('cardpoll alerts history'),
    });
    expect(await stores.lastTrace().catch(() => null)).toEqual(trace);
  });

  it.each(IDS)('for an alert that is not there is refused: %d', async (id) => {
    await expect(history.redeliver(ANNA, id)).rejects.toMatchObject(notFound(id));
  });
});
