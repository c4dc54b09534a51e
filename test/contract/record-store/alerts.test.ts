// Alert rules, their state, their history.
import { beforeEach, describe, expect, it } from 'vitest';
import type { AlertRuleFields, AlertState } from '../../../src/domain/alerts/alert-rule.ts';
import type { AlertEvent } from '../../../src/domain/alerts/alert-transition.ts';
import type { AlertTransition } from '../../../src/store/ports/records/alert-records.ts';
import { applyToRules, ruleFields } from '../../support/alert-rules.ts';
import { type Context, describeRecordStore, range } from './stores.ts';

const ANY = { ruleId: null, state: null };
const FIELDS = ruleFields({
  ...{ name: '积压 ">" 测试', taskType: 'realname', threshold: 50_000.5, cooldownSeconds: 300 },
  webhookUrl: 'https://hooks.example/x',
});
const ALL = { offset: 0, limit: 100 };
const RECOVERED: AlertEvent = { kind: 'resolved', value: 7, resolution: 'recovered' };

async function evaluated(db: Context, ruleId: number) {
  const found = (await db.store.alerts.toEvaluate()).find(({ id }) => id === ruleId);
  if (found === undefined) throw new Error(`rule ${ruleId} is not evaluated`);
  return found;
}

async function transition(db: Context, ruleId: number, event: AlertEvent): Promise<AlertTransition> {
  return { ruleId, revision: (await evaluated(db, ruleId)).revision, event };
}

/** One by one they would take a thousand times as long; at once, some ten times. */
const LESS_THAN_ONE_BY_ONE = 300;

async function fire(db: Context, ruleId: number, value = 60_000) {
  return db.store.alerts.apply([await transition(db, ruleId, { kind: 'fired', value })]);
}

describeRecordStore('alerts', (db) => {
  beforeEach(async () => {
    for (const table of ['webhook_outbox', 'alert_history', 'alert_rules'])
      await db.sql(`DELETE FROM ${table}`);
  });

  describe('rules', () => {
    it('are kept, listed, replaced and deleted', async () => {
      const { alerts } = db.store;
      const rule = await alerts.createRule(FIELDS);
      expect(rule).toMatchObject(FIELDS);
      expect(Math.abs(rule.createdAtMs - Date.now())).toBeLessThan(60_000);
      expect(await alerts.rule(rule.id)).toEqual(rule);

      const others: AlertRuleFields = { ...FIELDS, name: 'b', notifyChannels: [], webhookUrl: null };
      const second = await alerts.createRule(others);
      expect(await alerts.rules(ALL)).toEqual({ items: [rule, second], total: 2 });
      expect(await alerts.rules({ offset: 1, limit: 1 })).toEqual({ items: [second], total: 2 });
      expect(await alerts.rules({ offset: 5, limit: 1 })).toEqual({ items: [], total: 2 });

      const changed = await alerts.updateRule(rule.id, () => ({ ...others, isEnabled: false, threshold: 1 }));
      expect(changed).toMatchObject({ ...others, id: rule.id, isEnabled: false, threshold: 1 });
      expect(changed?.createdAtMs).toBe(rule.createdAtMs);
      expect(await alerts.deleteRule(rule.id)).toBe(true);
      expect(await alerts.deleteRule(rule.id)).toBe(false);
      expect(await alerts.rule(rule.id)).toBeNull();
      expect(await alerts.updateRule(rule.id, () => others)).toBeNull();
      expect((await alerts.rules(ALL)).total).toBe(1);
    });

    it('cannot name a channel without its address', async () => {
      const broken = { ...FIELDS, webhookUrl: null };
      await expect(db.store.alerts.createRule(broken)).rejects.toMatchObject({ kind: 'invalid' });
    });

    it('are evaluated while enabled or firing', async () => {
      const { alerts } = db.store;
      const { id } = await alerts.createRule(FIELDS);
      const quiet = await alerts.createRule({ ...FIELDS, isEnabled: false });
      expect(await evaluated(db, id)).toMatchObject({
        isDeleted: false,
        firing: null,
        sinceFiredMs: null,
        rule: { ruleType: 'queue_backlog', threshold: 50_000.5, cooldownSeconds: 300, isEnabled: true },
      });
      expect((await alerts.toEvaluate()).map((rule) => rule.id)).not.toContain(quiet.id);
      await fire(db, id);
      await alerts.updateRule(id, () => ({ ...FIELDS, isEnabled: false }));
      expect(await evaluated(db, id)).toMatchObject({ rule: { isEnabled: false } });
    });
  });

  describe('transitions', () => {
    it('fire and resolve once, with state, history and notifications', async () => {
      const { id } = await db.store.alerts.createRule(FIELDS);
      const [fired] = await fire(db, id);
      expect(fired).toMatchObject({
        kind: 'fired',
        alert: { ruleId: id, ruleName: FIELDS.name, value: 60_000, threshold: 50_000.5, resolvedAtMs: null },
      });
      expect(await fire(db, id), 'firing again while it fires').toEqual([]);
      const firing = await evaluated(db, id);
      expect(firing.firing).toMatchObject({ ruleType: 'queue_backlog', comparison: '>' });
      expect(firing.sinceFiredMs).toBeGreaterThanOrEqual(0);
      expect(firing.sinceFiredMs).toBeLessThan(30_000);

      const [resolved] = await db.store.alerts.apply([await transition(db, id, RECOVERED)]);
      expect(resolved).toMatchObject({
        kind: 'resolved',
        alert: { id: fired?.alert.id, resolution: 'recovered', resolvedValue: 7, value: 60_000 },
      });
      expect((await evaluated(db, id)).firing).toBeNull();
      const { items, total } = await db.store.alerts.history(ANY, ALL);
      expect(total).toBe(1);
      expect(items).toMatchObject([
        {
          ...resolved?.alert,
          notifications: [
            { channel: 'webhook', event: 'alert.fired', status: 'pending', attempts: 0, lastError: null },
            { channel: 'webhook', event: 'alert.resolved', status: 'pending', attempts: 0, lastError: null },
          ],
        },
      ]);
    });

    it('leave a history that is read by rule and by state, the newest first, in pages', async () => {
      const { alerts } = db.store;
      const [a, b] = [await alerts.createRule(FIELDS), await alerts.createRule({ ...FIELDS, name: 'b' })];
      for (const { id } of [a, b, a]) {
        await alerts.apply([await transition(db, id, { kind: 'fired', value: 60_000 })]);
        if (id === b.id) continue;
        await alerts.apply([await transition(db, id, RECOVERED)]);
        await db.sql('UPDATE alert_rules SET last_fired_at = NULL');
      }
      const read = async (ruleId: number | null, state: AlertState | null, slice = ALL) => {
        const { items, total } = await alerts.history({ ruleId, state }, slice);
        return [
          total,
          ...items.map(
            (item) => `${item.ruleName === 'b' ? 'b' : 'a'}${item.resolvedAtMs === null ? '!' : ''}`,
          ),
        ];
      };
      expect(await read(null, null)).toEqual([3, 'a', 'b!', 'a']);
      expect(await read(null, 'firing')).toEqual([1, 'b!']);
      expect(await read(null, 'resolved')).toEqual([2, 'a', 'a']);
      expect(await read(a.id, null)).toEqual([2, 'a', 'a']);
      expect(await read(a.id, 'firing')).toEqual([0]);
      expect(await read(b.id, 'firing')).toEqual([1, 'b!']);
      expect(await read(null, null, { offset: 1, limit: 1 })).toEqual([3, 'b!']);
      expect(await read(null, 'firing', { offset: 1, limit: 1 })).toEqual([1]);
    });

    it('count once when two instances evaluate the same state at the same time', async () => {
      const rules = await Promise.all(range(20).map(() => db.store.alerts.createRule(FIELDS)));
      const second = await db.another();
      const fires = await Promise.all(
        rules.map(({ id }) => transition(db, id, { kind: 'fired', value: 60_000 })),
      );
      const applied = await Promise.all(
        [db.store, second, db.store, second].map((store) => store.alerts.apply(fires)),
      );
      expect(applied.flat()).toHaveLength(20);
      expect((await db.store.alerts.history(ANY, ALL)).total).toBe(20);
    });

    it('are left out when the rule was edited or deleted meanwhile', async () => {
      const { id } = await db.store.alerts.createRule(FIELDS);
      const stale = await transition(db, id, { kind: 'fired', value: 60_000 });
      await db.store.alerts.updateRule(id, () => ({ ...FIELDS, threshold: 100_000 }));
      expect(await db.store.alerts.apply([stale])).toEqual([]);
      const again = await transition(db, id, { kind: 'fired', value: 110_000 });
      await db.store.alerts.deleteRule(id);
      expect(await db.store.alerts.apply([again])).toEqual([]);
      expect((await db.store.alerts.history(ANY, ALL)).total).toBe(0);
      expect(await db.store.alerts.apply([])).toEqual([]);
    });

    it('keep the cooldown over a new name and forget it with a new condition', async () => {
      const { id } = await db.store.alerts.createRule(FIELDS);
      await fire(db, id);
      await db.store.alerts.updateRule(id, () => ({ ...FIELDS, name: 'new' }));
      expect((await evaluated(db, id)).sinceFiredMs).not.toBeNull();
      await db.store.alerts.updateRule(id, () => ({ ...FIELDS, threshold: 1 }));
      expect(await evaluated(db, id)).toMatchObject({ sinceFiredMs: null, firing: { threshold: 50_000.5 } });
    });

    it('name the causes that cool down, each for its own time', async () => {
      const { id } = await db.store.alerts.createRule({ ...FIELDS, cooldownSeconds: 300 });
      for (const code of ['gateway_slow', 'breaker_open']) {
        const cause = { code, severity: 'alert', text: code, command: '', since: null } as const;
        await db.store.alerts.apply([await transition(db, id, { kind: 'fired', value: 2, cause })]);
        await db.store.alerts.apply([await transition(db, id, RECOVERED)]);
      }
      const { coolingCauses } = await evaluated(db, id);
      expect([...coolingCauses].sort()).toEqual(['breaker_open', 'gateway_slow']);
      await db.store.alerts.updateRule(id, () => ({ ...FIELDS, cooldownSeconds: 0 }));
      expect((await evaluated(db, id)).coolingCauses).toEqual([]);
    });

    it('give an open alert another cause, and report it unless a message that waits will say it', async () => {
      const { id } = await db.store.alerts.createRule(FIELDS);
      const cause = (code: string, kind: 'token' | null = null) =>
        ({ code, kind, severity: 'alert', text: code, command: null, since: new Date(7_000) }) as const;
      const change = async (to: ReturnType<typeof cause>, isNews = true) =>
        db.store.alerts.apply([await transition(db, id, { kind: 'changed', cause: to, isNews })]);
      const told = async () =>
        (await db.store.alerts.history(ANY, ALL)).items.flatMap(({ notifications }) =>
          notifications.map(({ event, status }) => `${event} ${status}`),
        );
      expect(await change(cause('a')), 'nothing is open').toEqual([]);
      await db.store.alerts.apply([await transition(db, id, { kind: 'fired', value: 2, cause: cause('a') })]);
      expect((await evaluated(db, id)).reportedCauses).toMatchObject([{ code: 'a', kind: null }]);
      const [changed] = await change(cause('b', 'token'));
      const { since: _, ...saved } = cause('b', 'token');
      expect(changed).toMatchObject({
        kind: 'changed',
        alert: { cause: saved, causeSinceMs: 7_000, earlierCauses: [{ code: 'a' }], resolvedAtMs: null },
      });
      expect(await told(), 'the first message says it').toEqual(['alert.fired pending']);
      await db.store.alerts.webhooks.claim({ limit: 9, limitPerUrl: 9, leaseMs: 60_000 });
      await change(cause('c'));
      expect(await told(), 'the first message is on its way').toEqual([
        'alert.fired pending',
        'alert.changed pending',
      ]);
      await db.sql("UPDATE webhook_outbox SET status = 'delivered', claimed_until = NULL");
      await change(cause('b', 'token'), false);
      expect((await evaluated(db, id)).reportedCauses.map(({ code }) => code)).toEqual(['b', 'a', 'b', 'c']);
      expect([...(await evaluated(db, id)).coolingCauses].sort()).toEqual(['a', 'c', 'token', 'token']);
      expect(await told()).toEqual(['alert.fired delivered', 'alert.changed delivered']);
      await db.store.alerts.apply([await transition(db, id, RECOVERED)]);
      expect((await evaluated(db, id)).reportedCauses).toEqual([]);
    });

    it('end the alert of a deleted rule, whose history stays', async () => {
      const { id } = await db.store.alerts.createRule(FIELDS);
      await fire(db, id);
      expect(await db.store.alerts.deleteRule(id)).toBe(true);
      expect(await db.store.alerts.rules(ALL)).toEqual({ items: [], total: 0 });
      expect(await evaluated(db, id)).toMatchObject({ isDeleted: true });
      const gone: AlertEvent = { kind: 'resolved', value: null, resolution: 'rule_deleted' };
      expect(await db.store.alerts.apply([await transition(db, id, gone)])).toHaveLength(1);
      expect(await db.store.alerts.toEvaluate()).toEqual([]);
      expect(await db.sql('SELECT id FROM alert_rules')).toEqual([]);
      const { items } = await db.store.alerts.history({ ...ANY, ruleId: id }, ALL);
      expect(items).toMatchObject([
        { ruleName: FIELDS.name, resolution: 'rule_deleted', resolvedValue: null },
      ]);
      expect(items[0]?.notifications.map(({ event }) => event)).toEqual(['alert.fired', 'alert.resolved']);
    });

    it('resolve a rule whose open alert was cleaned out of the history', async () => {
      const { id } = await db.store.alerts.createRule(FIELDS);
      await fire(db, id);
      await db.sql('DELETE FROM alert_history');
      expect((await evaluated(db, id)).firing).toMatchObject({
        ruleType: 'queue_backlog',
        threshold: 50_000.5,
      });
      expect(await db.store.alerts.apply([await transition(db, id, RECOVERED)])).toEqual([]);
      expect((await evaluated(db, id)).firing).toBeNull();
      expect(await db.sql('SELECT id FROM webhook_outbox')).toEqual([]);
    });

    it('go to no webhook without the channel', async () => {
      const { id } = await db.store.alerts.createRule({ ...FIELDS, notifyChannels: [] });
      await fire(db, id);
      const { items } = await db.store.alerts.history(ANY, ALL);
      expect(items).toMatchObject([{ notifications: [] }]);
    });

    it('a thousand transitions take far less than a thousand times one', async () => {
      const ratios: number[] = [];
      // Three times: whatever else the machine does may hold up one of them.
      for (const _ of [1, 2, 3]) {
        for (const table of ['webhook_outbox', 'alert_history', 'alert_rules'])
          await db.sql(`DELETE FROM ${table}`);
        const one = await db.store.alerts.createRule(FIELDS);
        const oneFrom = performance.now();
        await fire(db, one.id);
        const oneMs = performance.now() - oneFrom;
        await db.sql(
          `INSERT INTO alert_rules (name, rule_type, task_type, comparison, threshold, is_enabled, notify_channels,
             webhook_url, cooldown_seconds)
           SELECT 'r' || n, 'queue_backlog', 'realname', '>', 1, true, '{webhook}', 'http://x/', 0
           FROM generate_series(1, 1000) n`,
        );
        const startedAt = performance.now();
        const applied = await applyToRules(db.store.alerts, { kind: 'fired', value: 2 });
        ratios.push((performance.now() - startedAt) / oneMs);
        expect(applied).toHaveLength(1_000);
      }
      expect(Math.min(...ratios)).toBeLessThan(LESS_THAN_ONE_BY_ONE);
    });
  });

  it('lists history newest first, in pages, of one rule or all', async () => {
    const first = await db.store.alerts.createRule(FIELDS);
    const second = await db.store.alerts.createRule({ ...FIELDS, name: 'second' });
    const ids: number[] = [];
    for (const rule of [first, second, first]) {
      const [applied] = await fire(db, rule.id);
      ids.unshift(applied?.alert.id ?? 0);
      await db.store.alerts.apply([await transition(db, rule.id, RECOVERED)]);
    }
    const idsOf = async (ruleId: number | null, offset: number, limit: number) => {
      const { items, total } = await db.store.alerts.history({ ...ANY, ruleId }, { offset, limit });
      return [items.map(({ id }) => id), total];
    };
    expect(await idsOf(null, 0, 2)).toEqual([ids.slice(0, 2), 3]);
    expect(await idsOf(null, 2, 2)).toEqual([ids.slice(2), 3]);
    expect(await idsOf(second.id, 0, 10)).toEqual([[ids[1]], 1]);
    expect(await idsOf(1_000_000, 0, 10)).toEqual([[], 0]);
  });
});
