// A live store whose clock was ahead: what it dated is refused, and what it counted in a month to come goes back to the
// present one (docs/decisions/0004-usage-month.md).
import { beforeEach, expect, it } from 'vitest';
import type { PollOutcome } from '../../../src/domain/results/poll-outcome.ts';
import { addCards, describeRecordStore, range, reading } from './stores.ts';

const DAY_MS = 86_400_000;
const MONTHS = { present: '2026-11', latest: '2026-11', afterCardId: 0, limit: 1_000 };
/** In the present month, and a minute before the next reading of the test. */
const T = Date.parse('2026-11-20T00:00:00Z');

describeRecordStore('a clock ahead', (db) => {
  const usageOf = async (cardId: number) => (await db.store.cards.byIds([cardId]))[0]?.usage;
  const rows = () =>
    db.sql(
      `SELECT card_id::integer, to_char(month, 'YYYY-MM') AS month, used_mb, closed FROM card_usage ORDER BY 1, 2`,
    );
  const partitions = async () =>
    (await db.sql(`SELECT count(*)::integer AS count FROM pg_inherits`))[0]?.count;

  beforeEach(() => db.store.results.ensurePartitions('2027-01'));

  /** Read in November, then by a clock that was 45 days ahead. */
  async function countedAhead(...cardIds: number[]): Promise<void> {
    await addCards(db.store, ...cardIds);
    await db.store.results.write(cardIds.map((id) => reading(id, { usedMb: 500, atMs: T, basedOn: null })));
    await db.store.results.write(
      cardIds.map((id) => ({
        ...reading(id, { month: '2027-01', usedMb: 100, atMs: T + 60_000, basedOn: T }),
      })),
    );
    // The clock was ahead when it was read.
    await db.sql(
      `UPDATE card_usage SET read_at = read_at + interval '45 days', last_reading_mb = 600 WHERE month = '2027-01-01'`,
    );
  }

  it('dates no reading: what is an hour ahead is refused, and makes no month', async () => {
    const nowMs = Math.floor(await db.store.now());
    await addCards(db.store, 1, 2, 3);
    const before = await partitions();
    const result = await db.store.results.write([
      reading(1, { usedMb: 5, atMs: nowMs + 1_800_000, basedOn: null }),
      reading(2, { month: '2041-03', usedMb: 5, atMs: nowMs + 15 * 365 * DAY_MS, basedOn: null }),
      reading(3, { month: '2026-11', usedMb: 5, atMs: nowMs + 4_000_000, basedOn: null }),
    ]);
    expect(result.staleUsage.toSorted()).toEqual([2, 3]);
    expect(await rows()).toMatchObject([{ card_id: 1 }]);
    expect(await partitions()).toBe(before);
    expect(await db.sql('SELECT card_id::integer FROM usage_records')).toEqual([{ card_id: 1 }]);
  });

  it('gives its months back: what was used counts once, and the card goes on', async () => {
    await countedAhead(1, 2);
    expect(await db.store.results.foldBack(MONTHS)).toEqual([1, 2]);
    expect(await rows()).toEqual([
      { card_id: 1, month: '2026-11', used_mb: 600, closed: false },
      { card_id: 2, month: '2026-11', used_mb: 600, closed: false },
    ]);
    const usage = await usageOf(1);
    expect(usage).toMatchObject({ month: '2026-11', usedMb: 600, lastReadingMb: 600, suspectedMb: null });
    const atMs = Math.floor(await db.store.now());
    const basedOn = usage?.readAtMs as number;
    expect(basedOn).toBeLessThan(atMs);
    expect(await db.store.results.write([reading(1, { usedMb: 640, atMs, basedOn })])).toMatchObject({
      staleUsage: [],
    });
    expect(await usageOf(1)).toMatchObject({ month: '2026-11', usedMb: 640 });
  });

  it('gives back once, however often and from however many it is asked', async () => {
    await countedAhead(...range(200));
    const stores = await Promise.all(range(3).map(() => db.another()));
    const repaired = await Promise.all(stores.map((store) => store.results.foldBack(MONTHS)));
    expect(repaired.flat().toSorted((a, b) => a - b)).toEqual(range(200));
    expect(await db.store.results.foldBack(MONTHS)).toEqual([]);
    expect((await rows()).filter(({ used_mb }) => used_mb !== 600)).toEqual([]);
  });

  it('gives back in card order, as many as asked for', async () => {
    await countedAhead(...range(5));
    expect(await db.store.results.foldBack({ ...MONTHS, limit: 2 })).toEqual([1, 2]);
    expect(await db.store.results.foldBack({ ...MONTHS, afterCardId: 2, limit: 2 })).toEqual([3, 4]);
    expect(await db.store.results.foldBack({ ...MONTHS, afterCardId: 4 })).toEqual([5]);
  });

  it('gives back several months, and opens the present one where the card had none', async () => {
    await addCards(db.store, 1);
    await db.store.results.write([
      reading(1, { month: '2026-10', usedMb: 70, atMs: T, basedOn: null }),
      reading(1, { month: '2027-01', usedMb: 10, atMs: T + 1, basedOn: T }),
      reading(1, { month: '2027-02', usedMb: 20, atMs: T + 2, basedOn: T + 1 }),
    ]);
    await db.store.results.foldBack(MONTHS);
    expect(await rows()).toEqual([
      { card_id: 1, month: '2026-10', used_mb: 70, closed: true },
      { card_id: 1, month: '2026-11', used_mb: 30, closed: false },
    ]);
    expect(await usageOf(1)).toMatchObject({ lastReadingMb: 20, readAtMs: T + 1 });
  });

  it('gives back no jump, whose months are now one', async () => {
    await addCards(db.store, 1);
    const jump = { fromMb: 10, fromUsedMb: 10, atMs: T };
    for (const outcome of [
      reading(1, { month: '2026-11', usedMb: 700, atMs: T, basedOn: null }),
      reading(1, { month: '2027-01', usedMb: 20_000, atMs: T + 1, basedOn: T }),
    ]) {
      const usage = { ...outcome.usage, next: { ...outcome.usage?.next, jump } } as PollOutcome['usage'];
      await db.store.results.write([{ ...outcome, usage } as PollOutcome]);
    }
    expect((await usageOf(1))?.jump).toEqual(jump);
    await db.store.results.foldBack(MONTHS);
    expect(await usageOf(1)).toMatchObject({ month: '2026-11', usedMb: 20_700, jump: null });
    expect(await db.sql('SELECT previous_reading_mb AS mb FROM card_usage')).toEqual([{ mb: 700 }]);
  });

  it('leaves a month alone that has begun in some time zone', async () => {
    await addCards(db.store, 1);
    await db.store.results.write([reading(1, { month: '2026-12', usedMb: 10, atMs: T, basedOn: null })]);
    expect(await db.store.results.foldBack({ ...MONTHS, latest: '2026-12' })).toEqual([]);
    expect(await usageOf(1)).toMatchObject({ month: '2026-12' });
  });

  it('lets no writer count again that knew the month to come', async () => {
    await countedAhead(1);
    const known = (await usageOf(1))?.readAtMs as number;
    const late = (month: string) => reading(1, { month, usedMb: 110, atMs: T + 120_000, basedOn: known });
    await db.store.results.foldBack(MONTHS);
    expect(await db.store.results.write([late('2027-01')])).toMatchObject({ staleUsage: [1] });
    expect(await db.store.results.write([late('2026-11')])).toMatchObject({ staleUsage: [1] });
    expect(await usageOf(1)).toMatchObject({ month: '2026-11', usedMb: 600 });
  });

  it('counts everything once while others write in the next month', async () => {
    const cards = range(60);
    await countedAhead(...cards);
    const writer = await db.another();
    let counted = 0;
    const write = async (cardId: number) => {
      const [card] = await writer.cards.byIds([cardId]);
      const usage = card?.usage;
      if (usage == null) return;
      // As an instance of release 0.2.0 may: it stays in the month that is open.
      const next = { ...usage, usedMb: usage.usedMb + 1, readAtMs: Math.max(usage.readAtMs, T) + 1 };
      if (next.readAtMs > (await writer.now())) next.readAtMs = T + 200_000;
      const { staleUsage } = await writer.results.write([
        {
          cardId,
          taskType: 'carddata',
          polledAtMs: T,
          usage: { next, basedOnReadAtMs: usage.readAtMs },
        },
      ]);
      if (staleUsage.length === 0) counted += 1;
    };
    await Promise.all([
      (async () => {
        for (let round = 0; round < 3; round += 1) for (const card of cards) await write(card);
      })(),
      (async () => {
        for (let from = 0; from < 60; from += 6)
          await db.store.results.foldBack({ ...MONTHS, afterCardId: from, limit: 6 });
      })(),
    ]);
    await db.store.results.foldBack(MONTHS);
    const found = await rows();
    expect(found).toHaveLength(60);
    expect(found.reduce((sum, { used_mb }) => sum + Number(used_mb), 0)).toBe(60 * 600 + counted);
    expect(counted).toBeGreaterThan(0);
  });

  it('gives a stop back too, so that the card can be stopped when that month comes', async () => {
    await countedAhead(1, 2);
    await db.sql(
      `INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state) VALUES
       (1, '2027-01-01', 'a', 9, 8, 'done'), (2, '2027-01-01', 'b', 9, 8, 'done'), (2, '2026-11-01', 'b', 7, 6, 'requested')`,
    );
    await db.store.results.foldBack(MONTHS);
    expect(
      await db.sql(
        `SELECT card_id::integer, to_char(month, 'YYYY-MM') AS month, state FROM card_stops ORDER BY 1, 2`,
      ),
    ).toEqual([
      { card_id: 1, month: '2026-11', state: 'done' },
      { card_id: 2, month: '2026-11', state: 'requested' },
    ]);
  });
});
