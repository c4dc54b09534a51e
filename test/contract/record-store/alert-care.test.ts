// What an on-call does about alerts: silences and what they hold back, acknowledgements, another try for a webhook.
import { beforeEach, expect, it } from 'vitest';
import type { AlertRuleFields } from '../../../src/domain/alerts/alert-rule.ts';
import type { NewSilence } from '../../../src/store/ports/records/alert-records.ts';
import { applyToRules, ruleFields } from '../../support/alert-rules.ts';
import { describeRecordStore, range } from './stores.ts';

const FIELDS = ruleFields({ webhookUrl: 'http://receiver/a' });
const ANY = { ruleId: null, state: null };
const ALL = { offset: 0, limit: 100 };
const CLAIM = { limit: 100, limitPerUrl: 100, leaseMs: 60_000 };

describeRecordStore('alert care', (db) => {
  beforeEach(async () => {
    for (const table of ['webhook_outbox', 'alert_history', 'alert_silences', 'alert_rules'])
      await db.sql(`DELETE FROM ${table}`);
  });

  const alerts = () => db.store.alerts;
  const claim = async () => (await alerts().webhooks.claim(CLAIM)).map(({ event }) => event);
  const latest = async () => (await alerts().history(ANY, ALL)).items[0];
  const silence = (over: Partial<NewSilence> = {}) =>
    alerts().silences.create({
      ...{ ruleId: null, ruleType: null, taskType: 'package', reason: 'works', by: 'ann' },
      ends: { inSeconds: 3_600 },
      ...over,
    });

  const turn = (kind: 'fired' | 'resolved') =>
    applyToRules(
      alerts(),
      kind === 'fired' ? { kind, value: 11 } : { kind, value: 3, resolution: 'recovered' },
    );

  async function fire(over: Partial<AlertRuleFields> = {}) {
    const rule = await alerts().createRule({ ...FIELDS, ...over });
    const [fired] = await turn('fired');
    return { ruleId: rule.id, id: fired?.alert.id ?? 0 };
  }

  it('holds back that an alert has another cause, and forgets it when the alert ends first', async () => {
    const { id } = await fire();
    const pause = await silence();
    await db.sql("UPDATE webhook_outbox SET status = 'delivered', attempts = 1");
    const cause = { code: 'b', severity: 'alert', text: 'b', command: null, since: null } as const;
    await applyToRules(alerts(), { kind: 'changed', cause, isNews: true });
    expect(await claim()).toEqual([]);
    await turn('resolved');
    expect(await claim()).toEqual(['alert.resolved']);
    expect((await alerts().alert(id))?.notifications.map(({ status }) => status)).toEqual([
      'delivered',
      'silenced',
      'pending',
    ]);
    await alerts().silences.remove(pause.id);
    expect(await claim()).toEqual([]);
  });

  it('keeps every one of fifty changes of different fields that are made at once', async () => {
    const { id } = await alerts().createRule(FIELDS);
    const second = await db.another();
    for (const n of range(10)) {
      await Promise.all([
        alerts().updateRule(id, (rule) => ({ ...rule, name: `n${n}` })),
        second.alerts.updateRule(id, (rule) => ({ ...rule, threshold: n })),
        alerts().updateRule(id, (rule) => ({ ...rule, cooldownSeconds: n })),
        second.alerts.updateRule(id, (rule) => ({ ...rule, webhookUrl: `http://receiver/${n}` })),
        alerts().updateRule(id, (rule) => ({ ...rule, isEnabled: n % 2 === 0 })),
      ]);
      expect(await alerts().rule(id)).toMatchObject({
        ...{ name: `n${n}`, threshold: n, cooldownSeconds: n, isEnabled: n % 2 === 0 },
        webhookUrl: `http://receiver/${n}`,
      });
    }
    const refused = alerts().updateRule(id, () => {
      throw new Error('not like this');
    });
    await expect(refused).rejects.toThrow('not like this');
    expect(await alerts().rule(id)).toMatchObject({ name: 'n10' });
  });

  it('makes a time of change that was never there before', async () => {
    const { id, updatedAtMs } = await alerts().createRule(FIELDS);
    const times = [updatedAtMs];
    for (const _ of range(20)) times.push((await alerts().updateRule(id, (rule) => rule))?.updatedAtMs ?? 0);
    expect(new Set(times).size).toBe(21);
  });

  it.each([
    ['a task type', { taskType: 'package' }, true],
    ['another task type', { taskType: 'realname' }, false],
    ['a rule type', { taskType: null, ruleType: 'queue_backlog' }, true],
    ['a rule type of another task type', { taskType: 'realname', ruleType: 'queue_backlog' }, false],
  ] as const)('silences %s', async (_, over, silenced) => {
    await silence(over);
    await fire();
    expect(await latest()).toMatchObject({ silenced, notifications: [{ status: 'pending', attempts: 0 }] });
    expect(await claim()).toEqual(silenced ? [] : ['alert.fired']);
  });

  it('silences one rule, which is listed and ended by id, and goes with its rule', async () => {
    const { ruleId } = await fire();
    const made = await silence({ ruleId, taskType: null });
    expect(made).toMatchObject({ ruleId, ruleType: null, taskType: null, reason: 'works', by: 'ann' });
    expect(made.untilMs - made.sinceMs).toBeGreaterThan(3_590_000);
    expect(await alerts().silences.list()).toEqual([made]);
    expect(await alerts().silences.remove(made.id)).toEqual(made);
    expect(await alerts().silences.remove(made.id)).toBeNull();
    await silence({ ruleId, taskType: null });
    await alerts().deleteRule(ruleId);
    await turn('resolved');
    expect(await alerts().silences.list()).toEqual([]);
    await expect(silence({ ruleId })).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('sends the firing of an alert that still fires when its silence ends', async () => {
    const { id } = await silence({ ends: { atMs: Date.now() + 3_600_000 } });
    await fire();
    expect(await claim()).toEqual([]);
    await db.sql('UPDATE alert_silences SET ends_at = now()');
    expect(await alerts().silences.list()).toEqual([]);
    expect(await latest()).toMatchObject({ silenced: false });
    expect(await claim()).toEqual(['alert.fired']);
    await silence();
    expect(await db.sql('SELECT id FROM alert_silences')).not.toContainEqual({ id });
  });

  it('sends nothing about an alert that was resolved before the end of its silence', async () => {
    await silence();
    await fire();
    await turn('resolved');
    expect(await latest()).toMatchObject({
      silenced: true,
      resolution: 'recovered',
      notifications: [{ event: 'alert.fired', status: 'silenced', attempts: 0 }],
    });
    await db.sql('DELETE FROM alert_silences');
    expect(await claim()).toEqual([]);
    expect(await latest()).toMatchObject({ silenced: true });
  });

  it('sends the resolution of an alert whose firing was sent, or tried, before the silence', async () => {
    await fire();
    const [firing] = await alerts().webhooks.claim({ ...CLAIM, leaseMs: -1 });
    await silence();
    expect(await claim(), 'the attempt goes on').toEqual(['alert.fired']);
    await alerts().webhooks.settle([{ id: firing?.id ?? 0, attempt: 2 }], { status: 'delivered' });
    await turn('resolved');
    expect(await claim()).toEqual(['alert.resolved']);
  });

  it('notes who acknowledged an alert first, while it fires', async () => {
    const { id } = await fire();
    await alerts().acknowledge(id, 'ann', 'on it');
    await alerts().acknowledge(id, 'bob', 'me too');
    expect(await alerts().alert(id)).toMatchObject({ acknowledgedBy: 'ann', acknowledgedReason: 'on it' });
    expect((await alerts().alert(id))?.acknowledgedAtMs).toBeGreaterThan(0);
    await turn('resolved');
    const again = (await turn('fired'))[0]?.alert.id ?? 0;
    await turn('resolved');
    await alerts().acknowledge(again, 'bob', '');
    expect(await alerts().alert(again)).toMatchObject({ acknowledgedAtMs: null, acknowledgedBy: null });
    expect(await alerts().alert(again + 1)).toBeNull();
  });

  it('lists what fires and what is over apart, and counts by kind what fires', async () => {
    const over = await fire({ name: 'over' });
    await turn('resolved');
    await alerts().deleteRule(over.ruleId);
    const open = await fire({ taskType: 'carddata' });
    await fire();
    await alerts().acknowledge(open.id, 'ann', '');
    await silence();
    const idsOf = async (state: 'firing' | 'resolved') =>
      (await alerts().history({ ruleId: null, state }, ALL)).items.map(({ id }) => id);
    expect(await idsOf('resolved')).toEqual([over.id]);
    expect((await alerts().history({ ruleId: open.ruleId, state: 'firing' }, ALL)).total).toBe(1);
    expect(await idsOf('firing')).toHaveLength(2);
    const counts = [...(await alerts().firing())].sort((a, b) => a.taskType.localeCompare(b.taskType));
    expect(counts).toEqual([
      { ruleType: 'queue_backlog', taskType: 'carddata', firing: 1, silenced: 0, acknowledged: 1 },
      { ruleType: 'queue_backlog', taskType: 'package', firing: 1, silenced: 1, acknowledged: 0 },
    ]);
  });

  it('tries once more what was given up, and nothing else', async () => {
    const { id } = await fire();
    expect(await alerts().webhooks.redeliver(id)).toBe(0);
    const [first] = await alerts().webhooks.claim(CLAIM);
    if (first === undefined) throw new Error('nothing claimed');
    await alerts().webhooks.settle([first], { status: 'failed', error: 'gone' });
    expect([await alerts().webhooks.pending(), await claim()]).toEqual([0, []]);
    expect(await alerts().webhooks.redeliver(id)).toBe(1);
    expect(await alerts().webhooks.pending()).toBe(1);
    expect(await alerts().webhooks.claim(CLAIM)).toMatchObject([{ attempt: 2, messageId: first.messageId }]);
  });

  it('tries once more at the URL that the rule has now, and of one without at what it had', async () => {
    const { id, ruleId } = await fire();
    const failing = async () => {
      const [claimed] = await alerts().webhooks.claim(CLAIM);
      await alerts().webhooks.settle(claimed === undefined ? [] : [claimed], {
        status: 'failed',
        error: 'gone',
      });
      return claimed?.url;
    };
    await failing();
    await alerts().updateRule(ruleId, (rule) => ({ ...rule, webhookUrl: 'https://hooks.example/corrected' }));
    await alerts().webhooks.redeliver(id);
    expect(await failing()).toBe('https://hooks.example/corrected');
    await alerts().updateRule(ruleId, (rule) => ({ ...rule, webhookUrl: null, notifyChannels: [] }));
    await alerts().webhooks.redeliver(id);
    expect(await failing()).toBe('https://hooks.example/corrected');
  });

  it('signs with what the rule has now, and of a rule that is gone with what it had', async () => {
    const { ruleId } = await fire({ webhookSecrets: ['whsec_old'] });
    await alerts().updateRule(ruleId, (rule) => ({ ...rule, webhookSecrets: ['whsec_new', 'whsec_old'] }));
    const [fired] = await alerts().webhooks.claim(CLAIM);
    expect(fired?.secrets).toEqual(['whsec_new', 'whsec_old']);
    await alerts().webhooks.settle([{ id: fired?.id ?? 0, attempt: 1 }], { status: 'delivered' });
    await alerts().deleteRule(ruleId);
    await turn('resolved');
    expect(await alerts().webhooks.claim(CLAIM)).toMatchObject([{ secrets: ['whsec_new', 'whsec_old'] }]);
  });
});
