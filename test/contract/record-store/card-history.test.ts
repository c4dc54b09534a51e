// What is looked up about one card: usage by month, stops, open triggers; and that no look-up reads a whole table.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { NewTrigger } from '../../../src/store/ports/records/trigger-records.ts';
import { statements } from '../../../src/store/sql/client/statements.ts';
import { UNLIMITED } from '../../support/stop-rules.ts';
import { addCards, describeRecordStore, range, reading, sim } from './stores.ts';

const T = 1_795_251_272_123;
const CARD = { cardId: 7, carrierId: 1, status: 1 };
const TRIGGERS = readFileSync(
  new URL('../../../src/store/sql/triggers/triggers.sql', import.meta.url),
  'utf8',
);
const OPEN_FOR = statements(TRIGGERS).text('openFor');

describeRecordStore('history of a card', (db) => {
  async function used(cardId: number, month: string, usedMb: number, basedOn: number | null, atMs: number) {
    await db.store.results.write([reading(cardId, { month, usedMb, atMs, basedOn })]);
  }

  it('usage by month, the latest first', async () => {
    await addCards(db.store, 7, 8);
    await used(7, '2026-09', 100, null, T);
    await used(7, '2026-10', 250.5, T, T + 1);
    await used(7, '2026-11', 3, T + 1, T + 2);
    await used(8, '2026-11', 999, null, T);
    expect(await db.store.cards.monthlyUsage(7, 2)).toEqual([
      { month: '2026-11', usedMb: 3 },
      { month: '2026-10', usedMb: 250.5 },
    ]);
    expect(await db.store.cards.monthlyUsage(7, 12)).toHaveLength(3);
    expect(await db.store.cards.monthlyUsage(9, 12)).toEqual([]);
  });

  it('stops, the latest first: done, unconfirmed, refused', async () => {
    await addCards(db.store, 7);
    await used(7, '2026-09', 1_100, null, T);
    await db.store.stops.claim(sim(7), '2026-09', 60_000, UNLIMITED);
    await db.store.stops.complete(sim(7), '2026-09');
    await used(7, '2026-10', 1_200, T, T + 1);
    await db.store.stops.claim(sim(7), '2026-10', 60_000, UNLIMITED);
    await db.store.stops.acknowledge(7, '2026-10', 1);
    await used(7, '2026-11', 1_300, T + 1, T + 2);
    await db.store.stops.claim(sim(7), '2026-11', 60_000, UNLIMITED);
    await db.store.stops.abandon(7, '2026-11', 1, 'HTTP 404', true);
    const stops = await db.store.stops.ofCard(7, 12);
    expect(stops).toMatchObject([
      { month: '2026-11', usedMb: 1_300, completedAtMs: null, unconfirmed: 0, lastError: 'HTTP 404' },
      { month: '2026-10', usedMb: 1_200, completedAtMs: null, unconfirmed: 1, attempts: 1 },
      { month: '2026-09', usedMb: 1_100, allowanceMb: 1_024, lastError: null },
    ]);
    expect(stops[2]?.completedAtMs).toBeGreaterThanOrEqual(stops[2]?.requestedAtMs ?? Number.NaN);
    expect(await db.store.stops.ofCard(7, 1)).toHaveLength(1);
    expect(await db.store.stops.ofCard(8, 12)).toEqual([]);
  });

  it('open triggers: what owes the card and what will hand it out, nothing else', async () => {
    const openFor = async (card = CARD) =>
      (await db.store.triggers.openFor(card, 10)).map(({ triggerId }) => triggerId);
    const create = (triggerId: string, cards: NewTrigger['cards'], handOut: number) =>
      db.store.triggers.create({ triggerId, taskType: 'realname', cards }, handOut);
    const selection = (carrierId: number | null, status: number | null) =>
      ({ kind: 'by_condition', selection: { carrierId, status }, total: 9, totalEstimated: false }) as const;
    await addCards(db.store, ...range(9));
    await create('owed', { kind: 'single', cardIds: [7] }, 10);
    await create('to-come', { kind: 'batch', cardIds: [1, 2, 7] }, 2);
    await create('other-cards', { kind: 'batch', cardIds: [1, 2, 3] }, 2);
    await create('handed-out-already', { kind: 'batch', cardIds: [7, 1, 2] }, 1);
    await create('matches', selection(1, null), 0);
    await create('other-carrier', selection(2, null), 0);
    await create('other-status', selection(null, 2), 0);
    await create('cancelled', { kind: 'single', cardIds: [7] }, 10);
    await db.store.triggers.cancel('cancelled');
    expect(await openFor()).toEqual(['matches', 'handed-out-already', 'to-come', 'owed']);
    await db.store.triggers.count([
      { triggerId: 'owed', cardId: 7, succeeded: true },
      { triggerId: 'handed-out-already', cardId: 7, succeeded: false },
    ]);
    expect(await openFor()).toEqual(['matches', 'to-come']);
    await db.store.triggers.handOut('matches', 7);
    await db.store.triggers.count([{ triggerId: 'matches', cardId: 7, succeeded: true }]);
    expect(await openFor()).toEqual(['to-come']);
    expect(await db.store.triggers.openFor(CARD, 1)).toHaveLength(1);
    expect(await openFor({ cardId: 8, carrierId: 3, status: 3 })).toEqual([]);
  });

  it('finds them by index among many finished triggers and cards', async () => {
    await db.sql(`INSERT INTO manual_triggers (trigger_id, kind, task_type, status, total, feeding, finished_at)
      SELECT 'old-' || i, 'single', 'realname', 'completed', 1, false, now() FROM generate_series(1, 5000) AS i`);
    await db.sql(`INSERT INTO manual_trigger_cards (trigger_id, card_id)
      SELECT 'old-' || i, i FROM generate_series(1, 2000) AS i`);
    await db.sql(`INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb)
      SELECT i, '2026-10-01', '1', 2, 1 FROM generate_series(1, 5000) AS i`);
    await db.sql(`INSERT INTO card_usage (card_id, month, used_mb, last_reading_mb, read_at)
      SELECT i, '2026-10-01', 2, 2, now() FROM generate_series(1, 5000) AS i`);
    for (const table of ['manual_triggers', 'manual_trigger_cards', 'card_stops', 'card_usage']) {
      await db.sql(`ANALYZE ${table}`);
    }
    const planOf = async (sql: string) =>
      (await db.sql(`EXPLAIN ${sql}`)).map((line) => String(line['QUERY PLAN'])).join('\n');
    const triggers = await planOf(
      OPEN_FOR.replace(/\$1/g, '7')
        .replace(/\$[23]/g, '1')
        .replace(/\$4/g, '10'),
    );
    expect(triggers).not.toMatch(/Seq Scan on manual_triggers/);
    const usage = await planOf(
      'SELECT used_mb FROM card_usage WHERE card_id = 7::bigint ORDER BY month DESC LIMIT 12',
    );
    expect(usage).not.toMatch(/Seq Scan on card_usage_2026_10/);
    const stops = await planOf(
      'SELECT used_mb FROM card_stops WHERE card_id = 7::bigint ORDER BY month DESC LIMIT 12',
    );
    expect(stops).not.toMatch(/Seq Scan/);
  });
});

describeRecordStore('the record store for the doctor', (db) => {
  it('returns the highest card id, and the state of the server', async () => {
    expect(await db.store.cards.lastId()).toBe(0);
    await addCards(db.store, 7, 9_007_199_254_740_991, 8);
    expect(await db.store.cards.lastId()).toBe(9_007_199_254_740_991);
    const server = await db.store.server();
    expect(server).toMatchObject({ readOnlyBy: null, waitsForStandby: false, standbys: 0 });
    expect(server.majorVersion).toBeGreaterThanOrEqual(14);
    expect(server.software).toMatch(new RegExp(`^PostgreSQL ${server.majorVersion}\\.\\d+$`));
    expect(server.connections).toBeLessThanOrEqual(server.maxConnections);
    expect(server.usageMonths).toEqual(expect.arrayContaining(['2026-09', '2026-10', '2026-11', '2026-12']));
  });
});
