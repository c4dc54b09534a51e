// Lists of alerts and stops may have those of a time: from an instant on, and before another one.
import { expect, it } from 'vitest';
import { describeRecordStore } from './stores.ts';

const FROM = Date.parse('2026-11-20T22:00:00Z');
const TO = FROM + 8 * 3_600_000;
/** Hours after the start, as SQL has them. */
const hour = (hours: number | null) =>
  hours === null ? null : new Date(FROM + hours * 3_600_000).toISOString();
const PAGE = { offset: 0, limit: 9 };

describeRecordStore('the lists', (db) => {
  it('have the alerts that fired in the time', async () => {
    await db.sql('DELETE FROM alert_history');
    for (const [name, fired, resolved] of [
      ['a', 0, 1],
      ['b', 1, null],
      ['c', 8, null],
    ] as const) {
      await db.sql(
        `INSERT INTO alert_history (rule_id, rule_name, rule_type, task_type, comparison, threshold, value, fired_at, resolved_at)
         VALUES (3, $1, 'health', 'realname', '>', 1, 2, $2::timestamptz, $3::timestamptz)`,
        [name, hour(fired), hour(resolved)],
      );
    }
    const names = async (filter: { sinceMs?: number; untilMs?: number; state?: 'firing' | 'resolved' }) => {
      const of = { ruleId: null, state: null, ...filter };
      const { items, total } = await db.store.alerts.history(of, PAGE);
      return [total, ...items.map(({ ruleName }) => ruleName)];
    };
    expect(await names({ sinceMs: FROM, untilMs: TO })).toEqual([2, 'b', 'a']);
    expect(await names({ sinceMs: FROM + 1 })).toEqual([2, 'c', 'b']);
    expect(await names({ untilMs: TO, state: 'firing' })).toEqual([1, 'b']);
    expect(await names({ untilMs: TO, state: 'resolved' })).toEqual([1, 'a']);
    expect(await names({})).toEqual([3, 'c', 'b', 'a']);
  });

  it('have the stops that were made, or requested, in the time', async () => {
    for (const [cardId, state, requested, completed] of [
      [1, 'done', -1, 0],
      [2, 'held', 1, null],
      [3, 'held', 8, null],
    ] as const) {
      await db.sql(
        `INSERT INTO card_stops (card_id, month, iccid, used_mb, state, requested_at, completed_at)
         VALUES ($1, '2026-11-01', $1::bigint::text, 5, $2, $3::timestamptz, $4::timestamptz)`,
        [cardId, state, hour(requested), hour(completed)],
      );
    }
    const cards = async (sinceMs: number | null, untilMs: number | null) => {
      const of = { state: null, carrierId: null, sinceMs, untilMs };
      const { items, total } = await db.store.stops.list(of, PAGE);
      return [total, ...items.map(({ cardId }) => cardId)];
    };
    expect(await cards(FROM, TO)).toEqual([2, 2, 1]);
    expect(await cards(null, FROM + 1)).toEqual([1, 1]);
    expect(await cards(TO, null)).toEqual([1, 3]);
  });
});
