// What the records say about a time that is over: alerts, changes and stops, counted and bounded.
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/domain/audit.ts';
import { describeRecordStore, row } from './stores.ts';

const NOW = Date.parse('2026-11-21T06:00:00Z');
const HOUR_MS = 3_600_000;
const NIGHT = { fromMs: NOW - 8 * HOUR_MS, toMs: NOW };
const MOST = 100;
const CAUSE = { code: 'gateway_slow', severity: 'alert', text: 'the gateway is slow', command: null };

/** Hours of the night, from 0 to 8, as SQL has them. */
const hour = (hours: number | null) =>
  hours === null ? null : new Date(NIGHT.fromMs + hours * HOUR_MS).toISOString();

describeRecordStore('a shift', (db) => {
  beforeEach(async () => {
    await db.sql('DELETE FROM alert_history');
    for (const { name } of await db.sql(
      "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'audit'::regclass",
    )) {
      await db.sql(`DROP TABLE ${name}`);
    }
  });

  describe('its alerts', () => {
    const add = (name: string, fired: number, resolved: number | null) =>
      db.sql(
        `INSERT INTO alert_history (rule_id, rule_name, rule_type, task_type, comparison, threshold, value, fired_at, resolved_at, cause)
         VALUES (3, $1, 'health', 'realname', '>', 1, 2, $2::timestamptz, $3::timestamptz, $4::jsonb)`,
        [name, hour(fired), hour(resolved), JSON.stringify(CAUSE)],
      );

    it('are those that fired at some moment of it, the latest first, with their cause', async () => {
      await add('before', -2, -1);
      await add('into', -1, 1);
      await add('within', 2, 3);
      await add('out of', 7, 9);
      await add('open', 4, null);
      await add('after', 8, null);
      const { items, ...counts } = await db.store.shift.alerts(NIGHT, MOST);
      expect(items.map(({ ruleName }) => ruleName)).toEqual(['out of', 'open', 'within', 'into']);
      expect(counts).toEqual({ fired: 3, resolved: 2, open: 2 });
      expect(items[2]).toMatchObject({
        ...{ ruleId: 3, ruleType: 'health', taskType: 'realname', cause: CAUSE, acknowledgedBy: null },
        ...{ firedAtMs: NIGHT.fromMs + 2 * HOUR_MS, resolvedAtMs: NIGHT.fromMs + 3 * HOUR_MS },
      });
      const few = await db.store.shift.alerts(NIGHT, 1);
      expect([few.items.length, few.fired]).toEqual([1, 3]);
    });

    it('are none in a night without any', async () => {
      expect(await db.store.shift.alerts(NIGHT, MOST)).toEqual({ items: [], fired: 0, resolved: 0, open: 0 });
    });
  });

  describe('its changes', () => {
    const entry = (hours: number, fields: Partial<AuditEntry> = {}): AuditEntry => ({
      atMs: NIGHT.fromMs + hours * HOUR_MS,
      ...{ name: 'anna', role: 'operator', address: null, requestId: null },
      ...{ action: 'concurrency.set', object: 'task_type realname', before: null, after: null },
      ...fields,
    });
    const append = (...entries: AuditEntry[]) => db.store.audit.append('2026-11', entries);
    const changes = (counted = 1_000, most = MOST) => db.store.shift.changes(NIGHT, counted, most);
    const DAEMON = { name: 'daemon', role: 'daemon' };

    it('are grouped by actor and action, those of operators first, with the last of each', async () => {
      await append(
        entry(7, { ...DAEMON, action: 'card.stop', object: 'card 1' }),
        entry(7.5, { ...DAEMON, action: 'card.stop', object: 'card 2' }),
        entry(7.7, { ...DAEMON, action: 'limit.adapt', after: { times: 12, limit: 5 } }),
        entry(1, { before: { max: 1 }, after: { max: 2 } }),
        entry(2, { before: { max: 2 }, after: { max: 3 } }),
        entry(3, { name: 'ben' }),
        entry(4, { name: 'ben', action: 'cards.import.end', object: 'cards' }),
        entry(-1),
        entry(8),
      );
      const { groups, ...whole } = await changes();
      expect(whole).toEqual({ total: 17, countedFromMs: null });
      expect(groups.map(({ actor, action, count, objects }) => [actor, action, count, objects])).toEqual([
        ['ben', 'concurrency.set', 1, 1],
        ['anna', 'concurrency.set', 2, 1],
        ['daemon', 'limit.adapt', 12, 1],
        ['daemon', 'card.stop', 2, 2],
      ]);
      expect(groups[1]).toMatchObject({
        ...{ object: 'task_type realname', before: { max: 2 }, after: { max: 3 }, role: 'operator' },
        ...{ firstAtMs: NIGHT.fromMs + HOUR_MS, lastAtMs: NIGHT.fromMs + 2 * HOUR_MS },
      });
      expect(groups[3]?.object).toBe('card 2');
      const few = await changes(1_000, 1);
      expect([few.groups.length, few.total]).toEqual([1, 17]);
    });

    it('are counted from a moment on, where there are too many', async () => {
      await append(entry(1), entry(2), entry(3));
      expect(await changes(2)).toMatchObject({ total: 2, countedFromMs: NIGHT.fromMs + 2 * HOUR_MS });
      expect(await changes(4)).toMatchObject({ total: 3, countedFromMs: null });
    });

    it('are none in a night without any, or with imports alone', async () => {
      const none = { groups: [], total: 0, countedFromMs: null };
      expect(await changes()).toEqual(none);
      await append(entry(1, { action: 'cards.import.end' }));
      expect(await changes()).toEqual(none);
    });
  });

  describe('its stops', () => {
    const add = (
      cardId: number,
      state: string,
      [requested, completed = null, resumed = null]: readonly [number, (number | null)?, (number | null)?],
    ) =>
      db.sql(
        `INSERT INTO card_stops (card_id, month, iccid, used_mb, state, requested_at, completed_at, resumed_at)
         VALUES ($1, '2026-11-01', $1::bigint::text, 5, $2, $3::timestamptz, $4::timestamptz, $5::timestamptz)`,
        [cardId, state, hour(requested), hour(completed), hour(resumed)],
      );
    const none = { done: 0, requested: 0, held: 0, observed: 0, dismissed: 0, resumed: 0 };

    it('are counted by carrier and by what became of them', async () => {
      const ofCarrier = (carrierId: number, ...cards: number[]) =>
        cards.map((card) => row(card, { carrierId }));
      await db.store.cards.importChunk([...ofCarrier(1, 1, 2, 3), ...ofCarrier(2, 4, 5, 6, 7, 8)]);
      await add(1, 'done', [-1, 0]);
      await add(2, 'done', [-2, -1]);
      await add(3, 'dismissed', [7]);
      await add(4, 'held', [1]);
      await add(5, 'observed', [2]);
      await add(6, 'requested', [3]);
      await add(7, 'resumed', [1, 2, 3]);
      // Not confirmed when it was resumed: no stop that was made.
      await add(8, 'resumed', [1, null, 4]);
      await add(9, 'resumed', [1, 2, 8]);
      expect(await db.store.shift.stops(NIGHT, MOST)).toEqual({
        isCut: false,
        carriers: [
          { ...none, carrierId: 2, held: 1, observed: 1, requested: 1, done: 1, resumed: 2 },
          { ...none, carrierId: 1, done: 1, dismissed: 1 },
          { ...none, carrierId: null, done: 1 },
        ],
      });
      expect(await db.store.shift.stops(NIGHT, 2)).toMatchObject({ isCut: true });
    });

    it('are none in a night without any', async () => {
      expect(await db.store.shift.stops(NIGHT, MOST)).toEqual({ isCut: false, carriers: [] });
    });
  });
});
