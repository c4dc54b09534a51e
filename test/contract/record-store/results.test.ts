// Writing poll outcomes: poll times, flags, usage months and their guard against counting twice.
import { expect, it } from 'vitest';
import type { PollOutcome } from '../../../src/domain/results/poll-outcome.ts';
import { addCards, describeBothRecordStores, range, reading } from './stores.ts';

const T = 1_795_251_272_123;

describeBothRecordStores('results', (db) => {
  const usageOf = async (cardId: number) => (await db.store.cards.byIds([cardId]))[0]?.usage;
  const records = async () => Number((await db.sql('SELECT count(*) AS count FROM usage_records'))[0]?.count);

  it('keeps the newest poll time of each task type', async () => {
    await addCards(db.store, 1);
    const polled = (taskType: PollOutcome['taskType'], polledAtMs: number) => ({
      cardId: 1,
      taskType,
      polledAtMs,
    });
    await db.store.results.write([
      polled('realname', T + 5),
      polled('realname', T + 3),
      polled('carddata', T + 1),
    ]);
    await db.store.results.write([polled('realname', T), polled('package', T + 7)]);
    expect((await db.store.cards.find('1'))?.lastPolledAtMs).toEqual({
      realname: T + 5,
      carddata: T + 1,
      package: T + 7,
    });
  });

  it('writes flags, the latest of a batch winning, and leaves absent ones alone', async () => {
    await addCards(db.store, 1, 2);
    await db.store.results.write([
      { cardId: 1, taskType: 'realname', polledAtMs: T + 2, realNameVerified: true },
      { cardId: 1, taskType: 'realname', polledAtMs: T + 1, realNameVerified: false },
      { cardId: 1, taskType: 'package', polledAtMs: T + 1, stopped: true },
      { cardId: 2, taskType: 'carddata', polledAtMs: T },
    ]);
    await db.store.results.write([{ cardId: 1, taskType: 'package', polledAtMs: T + 3, stopped: false }]);
    const cards = await db.store.cards.byIds([1, 2]);
    expect(cards.find((card) => card.cardId === 1)).toMatchObject({ realNameVerified: true, stopped: false });
    expect(cards.find((card) => card.cardId === 2)).toMatchObject({
      realNameVerified: false,
      stopped: false,
    });
  });

  it('advances usage in a month and records each changed reading', async () => {
    await addCards(db.store, 1);
    expect(await db.store.results.write([reading(1, { usedMb: 1.5, atMs: T, basedOn: null })])).toMatchObject(
      {
        staleUsage: [],
      },
    );
    expect(
      await db.store.results.write([reading(1, { usedMb: 2.25, atMs: T + 1, basedOn: T })]),
    ).toMatchObject({
      staleUsage: [],
    });
    expect(await usageOf(1)).toEqual({
      month: '2026-11',
      usedMb: 2.25,
      lastReadingMb: 2.25,
      suspectedMb: null,
      jump: null,
      readAtMs: T + 1,
    });
    expect(await db.sql('SELECT reading_mb, used_mb FROM usage_records ORDER BY recorded_at')).toEqual([
      { reading_mb: 1.5, used_mb: 1.5 },
      { reading_mb: 2.25, used_mb: 2.25 },
    ]);
  });

  it('refuses usage computed from a state that is not the newest, and writes the rest of the outcome', async () => {
    await addCards(db.store, 1, 2);
    await db.store.results.write([reading(1, { usedMb: 5, atMs: T + 10, basedOn: null })]);
    for (const basedOn of [null, T + 9, T + 11]) {
      const stale = { ...reading(1, { usedMb: 9, atMs: T + 20, basedOn }), stopped: true };
      const other = reading(2, { usedMb: 1, atMs: T + 20, basedOn: (await usageOf(2))?.readAtMs ?? null });
      expect(await db.store.results.write([stale, other])).toMatchObject({ staleUsage: [1] });
    }
    expect((await db.store.cards.find('1'))?.usage?.usedMb).toBe(5);
    expect(await db.store.cards.find('1')).toMatchObject({
      stopped: true,
      lastPolledAtMs: { carddata: T + 20 },
    });
    // One of card 1, three of card 2.
    expect(await records()).toBe(4);
  });

  it('opens a new month from the newest state of the old one, whichever month that was', async () => {
    await addCards(db.store, 1);
    await db.store.results.write([reading(1, { month: '2026-09', usedMb: 50, atMs: T, basedOn: null })]);
    const wrong = reading(1, { month: '2026-11', usedMb: 3, atMs: T + 2, basedOn: T + 1 });
    expect(await db.store.results.write([wrong])).toMatchObject({ staleUsage: [1] });
    const none = reading(1, { month: '2026-11', usedMb: 3, atMs: T + 2, basedOn: null });
    expect(await db.store.results.write([none])).toMatchObject({ staleUsage: [1] });
    const right = reading(1, { month: '2026-11', usedMb: 3, atMs: T + 2, basedOn: T });
    expect(await db.store.results.write([right])).toMatchObject({ staleUsage: [] });
    expect(await usageOf(1)).toMatchObject({ month: '2026-11', usedMb: 3 });
    // The old month is closed: what is still computed from it comes too late.
    const late = reading(1, { month: '2026-09', usedMb: 60, atMs: T + 3, basedOn: T });
    expect(await db.store.results.write([late])).toMatchObject({ staleUsage: [1] });
    expect(await db.sql('SELECT used_mb FROM card_usage ORDER BY month')).toEqual([
      { used_mb: 50 },
      { used_mb: 3 },
    ]);
  });

  it('takes several readings of one card in one batch, one after the other', async () => {
    await addCards(db.store, 1);
    const result = await db.store.results.write([
      reading(1, { month: '2026-12', usedMb: 1, atMs: T + 2, basedOn: T + 1 }),
      reading(1, { usedMb: 2, atMs: T + 1, basedOn: T }),
      reading(1, { usedMb: 1, atMs: T, basedOn: null }),
      reading(1, { month: '2026-12', usedMb: 7, atMs: T + 3, basedOn: T }),
    ]);
    expect(result).toMatchObject({ staleUsage: [1] });
    expect(await usageOf(1)).toMatchObject({ month: '2026-12', usedMb: 1 });
    expect(await records()).toBe(3);
  });

  it('lets exactly one of many writers count the same growth', async () => {
    const cards = range(200);
    await addCards(db.store, ...cards);
    await db.store.results.write(
      cards.map((id) => reading(id, { month: '2026-10', usedMb: 1, atMs: T, basedOn: null })),
    );
    const stores = await Promise.all(range(4).map(() => db.another()));
    // Half of the writers go on in the old month, half open the new one.
    const results = await Promise.all(
      stores.map((store, i) =>
        store.results.write(
          cards.map((id) =>
            reading(id, { month: i % 2 ? '2026-10' : '2026-11', usedMb: 2, atMs: T + 1 + i, basedOn: T }),
          ),
        ),
      ),
    );
    const stale = results.flatMap((result) => result.staleUsage);
    expect(stale).toHaveLength(3 * cards.length);
    expect(await records()).toBe(2 * cards.length);
    const open = await db.sql('SELECT count(*)::integer AS count FROM card_usage WHERE NOT closed');
    expect(open).toEqual([{ count: cards.length }]);
  });

  it('survives writers that take the same cards in opposite orders', async () => {
    const cards = range(300);
    await addCards(db.store, ...cards);
    const stores = await Promise.all(range(4).map(() => db.another()));
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(
        stores.map((store, i) =>
          store.results.write(
            (i % 2 ? cards : cards.toReversed()).map((cardId) => ({
              cardId,
              taskType: 'realname' as const,
              polledAtMs: T + round,
              realNameVerified: (round + i) % 2 === 0,
              stopped: i % 2 === 0,
            })),
          ),
        ),
      );
    }
    expect((await db.store.cards.find('300'))?.lastPolledAtMs).toEqual({ realname: T + 4 });
  });

  it('ignores cards that were removed meanwhile', async () => {
    await addCards(db.store, 1, 2);
    await db.store.results.write([{ cardId: 2, taskType: 'realname', polledAtMs: T }]);
    await db.sql('DELETE FROM cards WHERE card_id = 2');
    const outcomes = [1, 2].map((id) => ({
      ...reading(id, { usedMb: 1, atMs: T, basedOn: null }),
      stopped: true,
    }));
    expect(await db.store.results.write(outcomes)).toMatchObject({ staleUsage: [] });
    expect(await usageOf(1)).toMatchObject({ usedMb: 1 });
    expect(await db.sql('SELECT card_id::integer FROM card_polls')).toEqual([{ card_id: 1 }]);
    expect(await db.sql('SELECT card_id::integer FROM card_usage')).toEqual([{ card_id: 1 }]);
  });

  it('writes an empty batch', async () => {
    expect(await db.store.results.write([])).toMatchObject({ staleUsage: [] });
  });

  it('makes a missing partition when a reading needs it', async () => {
    await addCards(db.store, 1, 2);
    const result = await db.store.results.write([
      reading(1, { month: '2031-05', usedMb: 1, atMs: T, basedOn: null }),
      reading(2, { month: '2032-12', usedMb: 1, atMs: T, basedOn: null }),
    ]);
    expect(result).toMatchObject({ staleUsage: [] });
    expect(await usageOf(2)).toMatchObject({ month: '2032-12', usedMb: 1 });
    const made = await db.sql(`SELECT to_regclass('card_usage_2033_03') IS NOT NULL AS made`);
    expect(made).toEqual([{ made: true }]);
  });

  it('makes partitions once, however many ask', async () => {
    const stores = await Promise.all(range(5).map(() => db.another()));
    await Promise.all(stores.map((store) => store.results.ensurePartitions('2040-11')));
    await db.store.results.ensurePartitions('2040-12');
    const rows = await db.sql(
      `SELECT relname::text AS name FROM pg_class WHERE relname ~ '^card_usage_204[01]_..$' ORDER BY relname`,
    );
    expect(rows.map((each) => each.name)).toEqual([
      'card_usage_2040_11',
      'card_usage_2040_12',
      'card_usage_2041_01',
      'card_usage_2041_02',
      'card_usage_2041_03',
    ]);
    await expect(db.store.results.ensurePartitions('2040-13')).rejects.toMatchObject({ code: 'bad_month' });
  });
});
