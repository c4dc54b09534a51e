// Reading cards: pages, by id, by iccid.
import { expect, it } from 'vitest';
import type { CardFilter } from '../../../src/domain/cards/card-filter.ts';
import {
  addCards,
  ascending,
  describeBothRecordStores,
  describeRecordStore,
  iccidOf,
  range,
  reading,
  row,
} from './stores.ts';

describeBothRecordStores('cards', (db) => {
  it('pages through all cards in id order', async () => {
    await addCards(db.store, ...range(250).reverse());
    const seen: number[] = [];
    for (let after = 0; ; after = seen.at(-1) as number) {
      const page = await db.store.cards.page(after, 100);
      seen.push(...page.map((card) => card.cardId));
      if (page.length < 100) break;
    }
    expect(seen).toEqual(range(250));
    expect(await db.store.cards.count()).toBe(250);
    expect(await db.store.cards.estimate()).toBe(250);
    expect((await db.store.cards.page(0, 1))[0]).toEqual({
      cardId: 1,
      carrierId: 1,
      realNameVerified: false,
    });
  });

  it('gives whole cards by id and leaves out unknown ones', async () => {
    const big = Number.MAX_SAFE_INTEGER;
    await addCards(db.store, 1, 2, big);
    await db.store.results.write([reading(2, { usedMb: 12.5, atMs: 1_795_251_272_123, basedOn: null })]);
    const cards = await db.store.cards.byIds([2, 77, big, 1]);
    expect(cards.map((card) => card.cardId).sort(ascending)).toEqual([1, 2, big]);
    expect(cards.find((card) => card.cardId === 2)).toMatchObject({
      cardId: 2,
      iccid: iccidOf(2),
      carrierId: 1,
      status: 1,
      realNameVerified: false,
      stopped: false,
      allowanceMb: 1024,
      vendorId: null,
      usage: {
        month: '2026-11',
        usedMb: 12.5,
        lastReadingMb: 12.5,
        suspectedMb: null,
        jump: null,
        readAtMs: 1_795_251_272_123,
      },
    });
    expect(cards.find((card) => card.cardId === 1)?.usage).toBeNull();
    expect(await db.store.cards.byIds([])).toEqual([]);
  });

  it('finds a card by its id and by its iccid', async () => {
    await addCards(db.store, 5);
    await db.store.results.write([
      { cardId: 5, taskType: 'realname', polledAtMs: 1_795_251_272_001 },
      { cardId: 5, taskType: 'package', polledAtMs: 1_795_251_272_002 },
    ]);
    const byId = await db.store.cards.find('5');
    expect(byId).toMatchObject({
      cardId: 5,
      lastPolledAtMs: { realname: 1_795_251_272_001, package: 1_795_251_272_002 },
    });
    expect(byId?.lastPolledAtMs).not.toHaveProperty('carddata');
    expect(await db.store.cards.lastPolls('package', [5, 4, 99])).toEqual(new Map([[5, 1_795_251_272_002]]));
    expect(await db.store.cards.lastPolls('carddata', [5])).toEqual(new Map());
    expect(await db.store.cards.find(iccidOf(5))).toEqual(byId);
    for (const unknown of ['6', iccidOf(6), '', 'x', '-5', '5 ', '99999999999999999', '9'.repeat(30)]) {
      expect(await db.store.cards.find(unknown)).toBeNull();
    }
  });

  it('keeps an unlimited allowance apart from an allowance of zero', async () => {
    await db.store.cards.importChunk([
      row(1, { allowanceMb: null }),
      row(2, { allowanceMb: 0 }),
      row(3, { allowanceMb: 0.25 }),
    ]);
    const cards = await db.store.cards.byIds([1, 2, 3]);
    const allowances = cards.sort((a, b) => a.cardId - b.cardId).map((card) => card.allowanceMb);
    expect(allowances).toEqual([null, 0, 0.25]);
  });

  it('lists cards in stretches, all of them or those of a filter', async () => {
    await db.store.cards.importChunk(
      range(30).map((cardId) => ({ ...row(cardId), carrierId: cardId % 3, status: cardId % 2 })),
    );
    const open: CardFilter = { carrierId: null, stopped: null };
    const listed = async (filter: CardFilter, limit: number) => {
      const seen: number[] = [];
      for (let after: number | null = 0; after !== null; ) {
        const stretch = await db.store.cards.list({ ...open, ...filter }, after, limit);
        expect(stretch.cards.length).toBeLessThanOrEqual(limit);
        seen.push(...stretch.cards.map(({ cardId }) => cardId));
        after = stretch.nextAfterId;
      }
      return seen;
    };
    for (const limit of [1, 7, 30, 100]) expect(await listed(open, limit)).toEqual(range(30));
    expect(await listed({ carrierId: 1 }, 4)).toEqual(range(30).filter((cardId) => cardId % 3 === 1));
    expect(await listed({ carrierId: 99 }, 4)).toEqual([]);
    await db.store.cards.importChunk([row(21, { vendorId: 'v-21' })]);
    expect(await listed({ vendorId: 'v-21' }, 4)).toEqual([21]);
    expect(await listed({ vendorId: 'v-2' }, 4)).toEqual([]);
    const { cards } = await db.store.cards.list({ ...open, carrierId: 2, status: 1, stopped: false }, 5, 2);
    expect(cards).toMatchObject([
      { cardId: 11, iccid: iccidOf(11), carrierId: 2, status: 1, stopped: false },
      { cardId: 17 },
    ]);
  });
});

describeRecordStore('the number of cards', (db) => {
  it('estimates a large fleet without counting it, whatever the database knows of the table', async () => {
    const cards = 40_000;
    const fill = () =>
      db.sql(`INSERT INTO cards (card_id, iccid, carrier_id, status)
        SELECT id, '8986' || lpad(id::text, 16, '0'), 1, 1 FROM generate_series(1000001, ${1_000_000 + cards}) id`);
    const empty = () => db.sql('DELETE FROM cards WHERE card_id > 1000000');
    const expectEstimate = async (known: string) => {
      const estimate = await db.store.cards.estimate();
      expect(estimate, known).toBeGreaterThan(cards * 0.6);
      // An ANALYZE by autovacuum may keep the vacuum from freeing pages: then there are twice as many.
      expect(estimate, known).toBeLessThan(cards * 2.2);
    };
    await db.sql('ALTER TABLE cards SET (autovacuum_enabled = false)');
    await fill();
    await expectEstimate('never analysed');
    await db.sql('ANALYZE cards');
    await expectEstimate('analysed');
    // What a vacuum in the middle of the first import leaves: pages, and not one row in them.
    await empty();
    await db.sql('VACUUM (TRUNCATE false) cards');
    await fill();
    await expectEstimate('vacuumed while it was empty');
    await empty();
    await db.sql('ALTER TABLE cards RESET (autovacuum_enabled)');
  });
});
