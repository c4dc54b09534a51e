// Outages of the stores in the alert history, and the notices about them.
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import type { OutageNotice } from '../../../src/store/ports/records/alert-records.ts';
import { ruleFields } from '../../support/alert-rules.ts';
import { describeRecordStore } from './stores.ts';

const CAUSE = { code: 'redis', severity: 'alert', text: 'Redis does not answer a', command: 'x' } as const;
const ALL = { offset: 0, limit: 100 };
const RULE = ruleFields({
  ...{ name: 'Health', ruleType: 'health', taskType: 'realname', threshold: 1, webhookGrouped: true },
  ...{ webhookUrl: 'https://hooks.example/1', webhookSecrets: ['s'], webhookFormat: 'slack' },
});
const CLAIM = { limit: 10, limitPerUrl: 10, leaseMs: 60_000 };

describeRecordStore('outages', (db) => {
  beforeEach(async () => {
    for (const table of ['webhook_outbox', 'alert_history', 'alert_silences', 'alert_rules'])
      await db.sql(`DELETE FROM ${table}`);
  });

  const open = (notices: readonly OutageNotice[] | null, beganMsAgo = 90_000) =>
    db.store.alerts.outages.open({ cause: CAUSE, beganMsAgo, notices });
  const history = async () => (await db.store.alerts.history({ ruleId: 0, state: null }, ALL)).items;
  const noticeTo = (url: string, over: Partial<OutageNotice> = {}): OutageNotice => ({
    ...{
      url,
      secrets: [],
      format: null,
      messageId: randomUUID(),
      status: 'delivered',
      attempts: 1,
      lastError: null,
      answered: false,
    },
    ...over,
  });

  it('are opened by one of many, who queues one notice for each receiver', async () => {
    const { alerts } = db.store;
    await alerts.createRule(RULE);
    await alerts.createRule({ ...RULE, taskType: 'package' });
    await alerts.createRule({ ...RULE, webhookUrl: 'https://hooks.example/2' });
    await alerts.createRule({ ...RULE, webhookUrl: 'https://hooks.example/2', webhookSecrets: ['team b'] });
    await alerts.createRule({ ...RULE, webhookUrl: 'https://hooks.example/off', isEnabled: false });
    const silenced = await alerts.createRule({ ...RULE, webhookUrl: 'https://hooks.example/hush' });
    const scope = { ruleId: silenced.id, ruleType: null, taskType: null };
    await alerts.silences.create({ ...scope, reason: 'r', by: 'me', ends: { inSeconds: 60 } });
    const opened = await Promise.all([1, 2, 3, 4].map(() => open(null)));
    expect(opened.filter((one) => one?.isNew)).toHaveLength(1);
    expect(await open(null)).toMatchObject({ isNew: false });
    const [outage, ...others] = await history();
    expect(others).toEqual([]);
    expect(outage).toMatchObject({ ruleId: 0, ruleName: 'Stores', cause: CAUSE, resolvedAtMs: null });
    expect(Math.abs(Date.now() - 90_000 - (outage?.firedAtMs ?? 0))).toBeLessThan(60_000);
    const claimed = await alerts.webhooks.claim(CLAIM);
    expect(claimed.map(({ url, event, groupKey }) => `${url} ${event} ${groupKey}`).sort()).toEqual([
      'https://hooks.example/1 alert.fired null',
      'https://hooks.example/2 alert.fired null',
      'https://hooks.example/2 alert.fired null',
    ]);
    expect(claimed[0]).toMatchObject({ secrets: ['s'], format: 'slack', alert: { cause: CAUSE, ruleId: 0 } });
  });

  it('keep what was sent without the database, and what is left to be sent goes on', async () => {
    const { alerts } = db.store;
    await alerts.createRule(RULE);
    const waiting = noticeTo('https://hooks.example/2', {
      status: 'pending',
      attempts: 3,
      lastError: 'answered 500',
    });
    await open([noticeTo('https://hooks.example/1'), waiting]);
    await open([noticeTo('https://hooks.example/1', { status: 'failed', lastError: 'gone' })]);
    const [outage] = await history();
    expect(outage?.notifications).toMatchObject([
      { event: 'alert.fired', status: 'delivered', attempts: 1 },
      { event: 'alert.fired', status: 'pending', attempts: 3, lastError: 'answered 500' },
      { event: 'alert.fired', status: 'failed', attempts: 1, lastError: 'gone' },
    ]);
    expect(await alerts.webhooks.claim(CLAIM)).toMatchObject([
      { url: waiting.url, messageId: waiting.messageId, attempt: 4 },
    ]);
  });

  it('end when the stores began to answer, and the receivers of the first message get one more', async () => {
    const { alerts } = db.store;
    expect(await alerts.outages.close(60_000, 0)).toBe(false);
    await open([
      noticeTo('https://hooks.example/1'),
      noticeTo('https://hooks.example/1'),
      noticeTo('https://hooks.example/2'),
      noticeTo('https://hooks.example/2', { secrets: ['team b'] }),
    ]);
    expect(await alerts.outages.close(60_000, 3_600_000), 'too young').toBe(false);
    const closed = await Promise.all([1, 2, 3].map(() => alerts.outages.close(60_000, 0)));
    expect(closed.filter(Boolean)).toHaveLength(1);
    const [outage] = await history();
    expect(outage).toMatchObject({ resolution: 'recovered' });
    expect((outage?.resolvedAtMs ?? 0) - (outage?.firedAtMs ?? 0)).toBeGreaterThan(20_000);
    expect((outage?.resolvedAtMs ?? 0) - (outage?.firedAtMs ?? 0)).toBeLessThan(90_000);
    const claimed = await alerts.webhooks.claim(CLAIM);
    expect(claimed.map(({ url, event }) => `${url} ${event}`).sort()).toEqual([
      'https://hooks.example/1 alert.resolved',
      'https://hooks.example/2 alert.resolved',
      'https://hooks.example/2 alert.resolved',
    ]);
    await open(null, 1_000);
    expect(await history()).toHaveLength(2);
  });

  it('never end before they began', async () => {
    await open(null, 5_000);
    await db.store.alerts.outages.close(60_000, 0);
    const [outage] = await history();
    expect(outage?.resolvedAtMs).toBe(outage?.firedAtMs);
  });
});
