// The webhook outbox: every notification is claimed by one sender at a time, until it is delivered or given up.
import { beforeEach, describe, expect, it } from 'vitest';
import type { AlertRuleFields } from '../../../src/domain/alerts/alert-rule.ts';
import { applyToRules, ruleFields } from '../../support/alert-rules.ts';
import { describeRecordStore, range } from './stores.ts';

const ANY = { ruleId: null, state: null };
const FIELDS = ruleFields({ webhookUrl: 'http://receiver/a' });
const CLAIM = { limit: 100, limitPerUrl: 100, leaseMs: 60_000 };
const ENDED_LEASE = { ...CLAIM, leaseMs: -1 };

describeRecordStore('webhook outbox', (db) => {
  beforeEach(async () => {
    for (const table of ['webhook_outbox', 'alert_history', 'alert_rules'])
      await db.sql(`DELETE FROM ${table}`);
  });

  async function fireRules(count: number, webhookUrl = 'http://receiver/a') {
    for (const _ of range(count)) await db.store.alerts.createRule({ ...FIELDS, webhookUrl });
    return turn('fired');
  }

  const turn = (kind: 'fired' | 'resolved') =>
    applyToRules(
      db.store.alerts,
      kind === 'fired' ? { kind, value: 11 } : { kind, value: 3, resolution: 'recovered' },
    );

  const outbox = () => db.store.alerts.webhooks;
  const notifications = async () =>
    (await db.store.alerts.history(ANY, { offset: 0, limit: 10 })).items.flatMap(
      (item) => item.notifications,
    );

  it('hands out due notifications with everything that the receiver gets', async () => {
    const [fired] = await fireRules(1);
    const [delivery, ...others] = await outbox().claim(CLAIM);
    expect(others).toEqual([]);
    expect(delivery).toEqual({
      id: expect.any(Number),
      attempt: 1,
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      event: 'alert.fired',
      url: 'http://receiver/a',
      groupKey: null,
      secrets: [],
      format: null,
      alert: fired?.alert,
    });
    expect(await outbox().claim(CLAIM)).toEqual([]);
  });

  it('hands out again, under the same message id, what a dead sender had claimed', async () => {
    await fireRules(1);
    const [first] = await outbox().claim(ENDED_LEASE);
    const [second] = await outbox().claim(CLAIM);
    expect(second).toEqual({ ...first, attempt: 2 });
    if (first === undefined || second === undefined) throw new Error('nothing claimed');
    expect(await outbox().settle([first], { status: 'delivered' })).toEqual([]);
    expect(await outbox().settle([second], { status: 'delivered' })).toEqual([second.id]);
    expect(await outbox().settle([second], { status: 'failed', error: 'late' })).toEqual([]);
    expect(await outbox().claim(CLAIM)).toEqual([]);
  });

  it('ends with the alert what was answered, though not as expected, so that its end is sent, and repeats it when asked', async () => {
    await fireRules(1);
    const [fired] = await outbox().claim(CLAIM);
    if (fired === undefined) throw new Error('nothing claimed');
    const otherwise = { status: 'pending', retryInMs: 0, error: 'answered 200', answered: true } as const;
    await turn('resolved');
    expect(await outbox().claim(CLAIM)).toEqual([]);
    await outbox().settle([fired], otherwise);
    expect(await outbox().claim(CLAIM)).toMatchObject([{ event: 'alert.resolved' }]);
    expect(await notifications()).toMatchObject([
      { event: 'alert.fired', status: 'failed', attempts: 1, lastError: 'answered 200' },
      { event: 'alert.resolved', status: 'pending' },
    ]);
    expect(await outbox().redeliver(fired.alert.id)).toBe(1);
    expect(await outbox().claim(CLAIM)).toMatchObject([{ event: 'alert.fired', attempt: 2 }]);
  });

  it('repeats what was answered otherwise while its alert fires, and what was not answered also later', async () => {
    await fireRules(2);
    const [first, second] = await outbox().claim(CLAIM);
    if (first === undefined || second === undefined) throw new Error('nothing claimed');
    const outcome = { status: 'pending', retryInMs: 0, error: 'no answer' } as const;
    await outbox().settle([first], { ...outcome, answered: true });
    await outbox().settle([second], { ...outcome, answered: false });
    expect(await outbox().claim(ENDED_LEASE)).toMatchObject([{ attempt: 2 }, { attempt: 2 }]);
    await turn('resolved');
    expect(await outbox().claim(ENDED_LEASE)).toMatchObject([
      { alert: { id: second.alert.id }, event: 'alert.fired' },
      { alert: { id: first.alert.id }, event: 'alert.resolved' },
    ]);
  });

  it('keeps attempts and the last error of what is tried again, delivered and given up', async () => {
    await fireRules(1);
    const [first] = await outbox().claim(CLAIM);
    if (first === undefined) throw new Error('nothing claimed');
    await outbox().settle([first], {
      status: 'pending',
      retryInMs: 3_600_000,
      error: 'answered 500',
      answered: false,
    });
    expect(await outbox().claim(CLAIM)).toEqual([]);
    expect(await notifications()).toMatchObject([
      { status: 'pending', attempts: 1, lastError: 'answered 500' },
    ]);
    await db.sql('UPDATE webhook_outbox SET next_attempt_at = now()');
    const [second] = await outbox().claim(CLAIM);
    expect(second).toMatchObject({ attempt: 2, messageId: first.messageId });
    await outbox().settle([{ id: first.id, attempt: 2 }], { status: 'delivered' });
    expect(await notifications()).toMatchObject([
      { status: 'delivered', attempts: 2, lastError: 'answered 500' },
    ]);
  });

  it('hands out the resolution after the firing, never before', async () => {
    await fireRules(1);
    await turn('resolved');
    const [fired, ...none] = await outbox().claim(CLAIM);
    expect([fired?.event, none]).toEqual(['alert.fired', []]);
    if (fired === undefined) throw new Error('nothing claimed');
    await outbox().settle([fired], {
      status: 'pending',
      retryInMs: 60_000,
      error: 'refused',
      answered: false,
    });
    expect(await outbox().claim(CLAIM)).toEqual([]);
    await outbox().settle([fired], { status: 'failed', error: 'gave up' });
    expect(await outbox().claim(CLAIM)).toMatchObject([
      { event: 'alert.resolved', alert: { resolution: 'recovered', resolvedValue: 3 } },
    ]);
  });

  it('lets one slow receiver take only its share', async () => {
    await fireRules(5);
    await fireRules(2, 'http://other/');
    const urls = (await outbox().claim({ ...CLAIM, limitPerUrl: 3 })).map(({ url }) => url);
    expect(urls.filter((url) => url === 'http://receiver/a')).toHaveLength(3);
    expect(urls.filter((url) => url === 'http://other/')).toHaveLength(2);
    expect(await outbox().claim({ ...CLAIM, limitPerUrl: 3 }), 'its share is taken').toEqual([]);
    expect(await outbox().claim({ ...CLAIM, limit: 1 })).toHaveLength(1);
  });

  describe('grouped notifications', () => {
    const grouped = (over: Partial<AlertRuleFields> = {}) =>
      db.store.alerts.createRule({ ...FIELDS, webhookGrouped: true, ...over });
    const comeDue = () =>
      db.sql("UPDATE webhook_outbox SET next_attempt_at = next_attempt_at - interval '31 seconds'");
    const keysOf = async (request = CLAIM) => (await outbox().claim(request)).map(({ groupKey }) => groupKey);

    it('wait, and are one message with those of later passes', async () => {
      await grouped();
      await turn('fired');
      await grouped({ taskType: 'realname' });
      await turn('fired');
      expect(await outbox().claim(CLAIM), 'they wait').toEqual([]);
      await comeDue();
      const [first, second, ...none] = await keysOf();
      expect([first, none]).toEqual([expect.any(String), []]);
      expect(second).toBe(first);
    });

    it('do not join a message that may be sent before they are written', async () => {
      await grouped();
      await turn('fired');
      await db.sql(
        "UPDATE webhook_outbox SET next_attempt_at = clock_timestamp() + interval '900 milliseconds'",
      );
      await grouped();
      await turn('fired');
      await comeDue();
      const keys = await keysOf();
      expect([keys.length, new Set(keys).size]).toEqual([2, 2]);
    });

    it('go out at once, and take no others, where they wait since before the clock was set back', async () => {
      await grouped();
      await turn('fired');
      await db.sql("UPDATE webhook_outbox SET next_attempt_at = clock_timestamp() + interval '5 hours'");
      await grouped({ taskType: 'realname' });
      await turn('fired');
      const taskTypesOf = async () => (await outbox().claim(CLAIM)).map(({ alert }) => alert.taskType);
      expect(await taskTypesOf()).toEqual(['package']);
      await comeDue();
      expect(await taskTypesOf()).toEqual(['realname']);
    });

    it('are not one message with another receiver, another secret, or a rule that is not grouped', async () => {
      await grouped();
      await grouped({ webhookUrl: 'http://other/' });
      await grouped({ webhookSecrets: ['whsec_AAAA'] });
      await db.store.alerts.createRule(FIELDS);
      await turn('fired');
      expect(await keysOf(), 'the rule that is not grouped').toEqual([null]);
      await comeDue();
      const keys = await keysOf();
      expect([keys.length, new Set(keys).size]).toEqual([3, 3]);
    });

    it('are tried again together, also with those that a dead sender had claimed', async () => {
      await grouped();
      await grouped();
      await turn('fired');
      await comeDue();
      expect(await outbox().claim(ENDED_LEASE)).toHaveLength(2);
      const claimed = await outbox().claim(CLAIM);
      await outbox().settle(claimed, {
        status: 'pending',
        retryInMs: 0,
        error: 'answered 500',
        answered: false,
      });
      const again = await outbox().claim(CLAIM);
      expect(again.map(({ attempt }) => attempt)).toEqual([3, 3]);
      expect(new Set(again.map(({ groupKey }) => groupKey)).size).toBe(1);
    });

    it('count as one message of the share of a receiver', async () => {
      for (const _ of range(5)) await grouped();
      await turn('fired');
      await comeDue();
      expect(await keysOf({ ...CLAIM, limit: 1, limitPerUrl: 1 })).toHaveLength(5);
    });
  });

  it('gives each notification to one of several senders', async () => {
    await fireRules(30);
    const second = await db.another();
    const claims = await Promise.all(
      [db.store, second, db.store, second].map((store) =>
        store.alerts.webhooks.claim({ ...CLAIM, limit: 20 }),
      ),
    );
    const ids = claims.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await outbox().claim(CLAIM);
    expect(ids.length + rest.length).toBe(30);
  });
});
