// Import chunks: what they insert, update and leave alone, and whom an iccid belongs to.
import { describe, expect, it } from 'vitest';
import { UNLIMITED } from '../../support/stop-rules.ts';
import {
  addCards,
  ascending,
  describeRecordStore,
  followChanges,
  iccidOf,
  range,
  reading,
  row,
  sim,
} from './stores.ts';

const NOTHING = {
  inserted: 0,
  updated: 0,
  unchanged: 0,
  overPackage: 0,
  stoppedWithin: 0,
  newIccids: 0,
  rounded: [],
  twins: [],
  refused: false,
  conflicts: [],
  former: [],
};

/** The columns of a card that was imported by its number alone. */
const blank = (cardId: number) => ({
  id: cardId,
  iccid: iccidOf(cardId),
  carrier_id: row(cardId).carrierId,
  allowance_mb: 1024,
  vendor_id: null,
  verified: false,
});

describeRecordStore('import session', (db) => {
  it('inserts, then changes nothing, then updates only what differs', async () => {
    const rows = range(500).map((cardId) => row(cardId));
    expect(await db.store.cards.importChunk(rows)).toEqual({ ...NOTHING, inserted: 500, newIccids: 500 });
    const mark = await db.store.cards.changeMark();
    expect(await db.store.cards.importChunk(rows)).toEqual({ ...NOTHING, unchanged: 500 });
    expect((await followChanges(db.store, mark)).changed).toEqual([]);
    const next = rows.map((each) => (each.cardId % 100 === 0 ? { ...each, allowanceMb: null } : each));
    expect(await db.store.cards.importChunk(next)).toEqual({ ...NOTHING, updated: 5, unchanged: 495 });
    expect((await followChanges(db.store, mark)).changed).toEqual([100, 200, 300, 400, 500]);
    expect(await db.store.cards.importChunk([])).toEqual(NOTHING);
  });

  it('names cards that get an ICCID which may be wrong, and counts those that get one', async () => {
    const [nineteen, twenty] = ['8986001234567890123', '89860012345678901234'];
    await db.store.cards.importChunk([row(1, { iccid: nineteen }), row(2, { iccid: '8986001234560000000' })]);
    const rows = [
      row(1, { iccid: nineteen }), // as it is
      row(2, { iccid: '8986001234560000000', allowanceMb: 7 }), // keeps its ICCID
      row(3, { iccid: twenty }), // that of card 1 with a check digit
      row(4, { iccid: '8986001234567770000' }),
      row(5, { iccid: '898600123450000000' }), // other digits than those of card 2
    ];
    const counted = await db.store.cards.importChunk(rows, { dryRun: true });
    expect(counted).toMatchObject({ newIccids: 3, twins: [3] });
    expect(new Set(counted.rounded)).toEqual(new Set([4, 5]));
    const longer = await db.store.cards.importChunk([row(1, { iccid: twenty })], { dryRun: true });
    expect(longer).toMatchObject({ newIccids: 1, twins: [] });
    const written = await db.store.cards.importChunk(rows);
    expect(written).toMatchObject({ newIccids: 3, twins: [] });
    const without = [row(6, { iccid: twenty.slice(0, -1) })];
    expect(await db.store.cards.importChunk(without, { dryRun: true })).toMatchObject({
      conflicts: [{}],
      twins: [],
    });
    await db.store.cards.importChunk([row(7, { iccid: '89860099999999999991' })]);
    const shorter = [row(8, { iccid: '8986009999999999999' })];
    expect(await db.store.cards.importChunk(shorter, { dryRun: true })).toMatchObject({ twins: [8] });
  });

  it('looks cards up by their keys also where the table was analysed while few cards were left in it', async () => {
    const rows = range(20_000).map((cardId) => row(cardId));
    const chunks = [rows.slice(0, 10_000), rows.slice(10_000)];
    for (const chunk of chunks) await db.store.cards.importChunk(chunk);
    // The last card keeps the pages, so that the planner expects no more cards than there were.
    await db.sql('DELETE FROM cards WHERE card_id < 20000');
    await db.sql('VACUUM ANALYZE cards');
    // With a look at all cards for each row, the second one takes longer than a statement may.
    for (const chunk of chunks) await db.store.cards.importChunk(chunk);
    expect(await db.store.cards.importChunk(rows.slice(5_000, 15_000))).toMatchObject({ unchanged: 10_000 });
    const dry = await db.store.cards.importChunk(
      range(10_000, 30_000).map((id) => row(id)),
      { dryRun: true },
    );
    expect(dry).toMatchObject({ inserted: 10_000, twins: [] });
  });

  it('keeps what polling found out when the import does not say', async () => {
    await db.store.cards.importChunk([row(1, { realNameVerified: true }), row(2), row(3)]);
    await db.store.results.write([
      { cardId: 2, taskType: 'realname', polledAtMs: 5, realNameVerified: true, stopped: true },
    ]);
    const counts = await db.store.cards.importChunk([row(1), row(2), row(3, { realNameVerified: true })]);
    expect(counts).toMatchObject({ updated: 1, unchanged: 2 });
    const cards = await db.store.cards.byIds([1, 2, 3]);
    expect(cards.every((card) => card.realNameVerified)).toBe(true);
    expect(await db.store.cards.find('2')).toMatchObject({ stopped: true });
    const unverified = row(1, { realNameVerified: false });
    expect(await db.store.cards.importChunk([unverified])).toMatchObject({ unchanged: 1 });
    expect(await db.store.cards.importChunk([unverified], { overwriteVerified: true })).toMatchObject({
      updated: 1,
    });
    expect(await db.store.cards.find('1')).toMatchObject({ realNameVerified: false });
  });

  it('changes nothing when it is repeated, whatever polls have found since', async () => {
    const verified = { realNameVerified: true };
    const given = [row(1, verified), row(2, verified), row(3, { realNameVerified: false })];
    await db.store.cards.importChunk(given);
    const polled = (cardId: number, realNameVerified: boolean) =>
      ({ cardId, taskType: 'realname', polledAtMs: Date.now(), realNameVerified }) as const;
    await db.store.results.write([polled(1, false), polled(2, true), polled(3, true)]);
    const found = async () => {
      const cards = await db.store.cards.byIds([1, 2, 3]);
      return cards.toSorted((a, b) => a.cardId - b.cardId).map((card) => card.realNameVerified);
    };
    expect(await db.store.cards.importChunk(given, { dryRun: true })).toMatchObject({
      updated: 0,
      unchanged: 3,
    });
    expect(await db.store.cards.importChunk(given)).toMatchObject({ updated: 0, unchanged: 3, former: [] });
    expect(await found()).toEqual([false, true, true]);
    // What else has changed in the file applies.
    const changed = [row(1, { ...verified, status: 4 }), ...given.slice(1)];
    expect(await db.store.cards.importChunk(changed)).toMatchObject({ updated: 1, unchanged: 2 });
    expect(await found()).toEqual([false, true, true]);
    expect(await db.store.cards.importChunk(changed, { overwriteVerified: true })).toMatchObject({
      updated: 2,
    });
    expect(await found()).toEqual([true, true, false]);
  });

  it('says more than no poll, one of another task type, or one of another SIM', async () => {
    const file = (over = {}) => [1, 2, 3].map((cardId) => row(cardId, over));
    const polled = (cardId: number, taskType: 'realname' | 'package') =>
      ({
        cardId,
        taskType,
        polledAtMs: Date.now(),
        ...(taskType === 'realname' ? { realNameVerified: false } : {}),
      }) as const;
    await db.store.cards.importChunk(file());
    await db.store.results.write([polled(2, 'package'), polled(3, 'realname')]);
    const other = { iccid: iccidOf(33) };
    await db.store.cards.importChunk([row(3, other)]);
    const changed = [
      ...file({ realNameVerified: true }).slice(0, 2),
      row(3, { ...other, realNameVerified: true }),
    ];
    expect(await db.store.cards.importChunk(changed)).toMatchObject({ updated: 3 });
    expect((await db.store.cards.byIds([1, 2, 3])).map((card) => card.realNameVerified)).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('sets what it says of a card that gets another SIM with it', async () => {
    await db.store.cards.importChunk([row(1)]);
    await db.store.results.write([
      { cardId: 1, taskType: 'realname', polledAtMs: Date.now(), realNameVerified: false },
    ]);
    const exchanged = [row(1, { iccid: iccidOf(11), realNameVerified: true })];
    expect(await db.store.cards.importChunk(exchanged)).toMatchObject({ updated: 1 });
    expect(await db.store.cards.find('1')).toMatchObject({ realNameVerified: true });
  });

  it('leaves out an iccid that belongs to another card, and keeps the rest of the chunk', async () => {
    await addCards(db.store, 1, 2);
    const result = await db.store.cards.importChunk([
      row(3),
      row(4, { iccid: iccidOf(1) }), // a new card with a known card's iccid
      row(2, { iccid: iccidOf(1) }), // a known card that wants another one's
      row(5, { iccid: iccidOf(50) }),
      row(6, { iccid: iccidOf(50) }), // twice in the chunk: the first keeps it
    ]);
    expect(result).toMatchObject({ inserted: 2, updated: 0, unchanged: 0 });
    expect(result.conflicts.toSorted((a, b) => a.cardId - b.cardId)).toEqual([
      { cardId: 2, taken: 'iccid', value: iccidOf(1), holder: 1 },
      { cardId: 4, taken: 'iccid', value: iccidOf(1), holder: 1 },
      { cardId: 6, taken: 'iccid', value: iccidOf(50), holder: null },
    ]);
    expect((await db.store.cards.page(0, 10)).map((card) => card.cardId)).toEqual([1, 2, 3, 5]);
    expect(await db.store.cards.find(iccidOf(1))).toMatchObject({ cardId: 1 });
  });

  it('exchanges the iccids and vendor ids of cards within a chunk, and takes that back by the former rows', async () => {
    const cards = range(4).map((cardId) => row(cardId, { vendorId: `v-${cardId}` }));
    await db.store.cards.importChunk(cards);
    const turned = cards.map((card, at) => {
      const { iccid, vendorId } = cards[(at + 1) % 4] as (typeof cards)[number];
      return { ...card, iccid, vendorId };
    });
    expect(await db.store.cards.importChunk(turned, { dryRun: true })).toMatchObject({
      updated: 4,
      conflicts: [],
    });
    const written = await db.store.cards.importChunk(turned, { keepFormer: true });
    expect(written).toMatchObject({ updated: 4, conflicts: [], newIccids: 4 });
    const named = async () =>
      (await db.store.cards.byIds(range(4))).map(({ iccid, vendorId }) => [iccid, vendorId]);
    expect(await named()).toEqual(turned.map(({ iccid, vendorId }) => [iccid, vendorId]));
    expect(await db.store.cards.importChunk(written.former)).toMatchObject({ updated: 4, conflicts: [] });
    expect(await named()).toEqual(cards.map(({ iccid, vendorId }) => [iccid, vendorId]));
  });

  it('lets go of an iccid without a vendor id that the row does not name', async () => {
    await db.store.cards.importChunk([row(1, { vendorId: 'v-1' })]);
    const rows = [row(2, { iccid: iccidOf(1), vendorId: 'v-1' }), row(1, { iccid: iccidOf(9) })];
    expect(await db.store.cards.importChunk(rows)).toMatchObject({ inserted: 1, updated: 1, conflicts: [] });
    expect((await db.store.cards.byIds([1, 2])).map(({ vendorId }) => vendorId)).toEqual([null, 'v-1']);
  });

  it.each(range(5))(
    'has a card for each iccid when imports exchange them at the same time (%d)',
    async () => {
      const cards = range(6).map((cardId) => row(cardId));
      await db.store.cards.importChunk(cards);
      const turnedBy = (by: number) =>
        cards.map((card, at) => ({ ...card, iccid: iccidOf(((at + by) % 6) + 1) }));
      const stores = [db.store, await db.another(), await db.another()];
      const results = await Promise.all(stores.map((store, at) => store.cards.importChunk(turnedBy(at + 1))));
      const now = (await db.store.cards.byIds(range(6))).map(({ iccid }) => iccid);
      expect(results.map(({ conflicts }) => conflicts)).toEqual([[], [], []]);
      expect([1, 2, 3].map((by) => turnedBy(by).map(({ iccid }) => iccid))).toContainEqual(now);
    },
  );

  it('lets the owner of an iccid keep it when another row wants it too', async () => {
    await addCards(db.store, 9);
    const result = await db.store.cards.importChunk([row(8, { iccid: iccidOf(9) }), row(9, { status: 4 })]);
    expect(result).toMatchObject({ updated: 1, conflicts: [{ cardId: 8, value: iccidOf(9), holder: 9 }] });
  });

  it('only reports what it would do in a dry run', async () => {
    await addCards(db.store, 1, 2);
    const mark = await db.store.cards.changeMark();
    const rows = [row(1), row(2, { status: 9 }), row(3), row(4, { iccid: iccidOf(1) })];
    expect(await db.store.cards.importChunk(rows, { dryRun: true })).toEqual({
      ...NOTHING,
      inserted: 1,
      newIccids: 1,
      updated: 1,
      unchanged: 1,
      conflicts: [{ cardId: 4, taken: 'iccid', value: iccidOf(1), holder: 1 }],
    });
    expect((await followChanges(db.store, mark)).changed).toEqual([]);
    expect(await db.store.cards.count()).toBe(2);
  });

  it('gives cards new iccids, and freed ones to others, chunk by chunk', async () => {
    await addCards(db.store, 1);
    expect(await db.store.cards.importChunk([row(1, { iccid: iccidOf(100) })])).toMatchObject({ updated: 1 });
    expect(await db.store.cards.importChunk([row(2, { iccid: iccidOf(1) })])).toMatchObject({
      inserted: 1,
      conflicts: [],
    });
  });

  describe.each([false, true])('with expectNew %s', (expectNew) => {
    it('stores what a row leaves open as a new card has it', async () => {
      const rows = [
        row(3, { iccid: '8986001234560000000', vendorId: 'a\\b', realNameVerified: true, allowanceMb: null }),
        row(1, { vendorId: '-', realNameVerified: false, allowanceMb: 0.5 }),
        row(2, { carrierId: -1, allowanceMb: 1e21 }),
      ];
      expect(await db.store.cards.importChunk(rows, { expectNew })).toEqual({
        ...NOTHING,
        inserted: 3,
        newIccids: 3,
        rounded: [3],
      });
      expect(
        await db.sql(
          'SELECT card_id::int AS id, iccid, carrier_id, allowance_mb, vendor_id, real_name_verified AS verified FROM cards ORDER BY 1',
        ),
      ).toEqual([
        { ...blank(1), allowance_mb: 0.5 },
        { ...blank(2), carrier_id: -1, allowance_mb: 1e21 },
        { ...blank(3), iccid: rows[0]?.iccid, vendor_id: 'a\\b', verified: true, allowance_mb: null },
      ]);
    });

    it('says the same of known cards, and of numbers that another card has', async () => {
      await db.store.cards.importChunk([row(1), row(2, { vendorId: 'v-2' })]);
      const known = [row(3), row(1), row(2, { status: 9 })];
      const counts = { inserted: 1, updated: 1, unchanged: 1, newIccids: 1 };
      expect(await db.store.cards.importChunk(known, { expectNew })).toEqual({ ...NOTHING, ...counts });
      const taken = [row(4, { iccid: iccidOf(1) }), row(5, { vendorId: 'v-2' }), row(6)];
      expect(await db.store.cards.importChunk(taken, { expectNew })).toMatchObject({
        inserted: 1,
        conflicts: [
          { cardId: 4, taken: 'iccid', holder: 1 },
          { cardId: 5, taken: 'vendor_id', holder: 2 },
        ],
      });
      expect(await db.store.cards.count()).toBe(4);
    });

    it('writes nothing in a dry run', async () => {
      expect(await db.store.cards.importChunk([row(1)], { expectNew, dryRun: true })).toMatchObject({
        inserted: 1,
      });
      expect(await db.store.cards.count()).toBe(0);
    });

    it('imports the same cards from several sides at once', async () => {
      const stores = await Promise.all(range(4).map(() => db.another()));
      const chunk = range(400).map((cardId) => row(cardId));
      const results = await Promise.all(
        stores.map(async (store, i) =>
          store.cards.importChunk(i % 2 ? chunk : chunk.toReversed(), { expectNew }),
        ),
      );
      expect(results.reduce((sum, each) => sum + each.inserted, 0)).toBe(400);
      expect(results.reduce((sum, each) => sum + each.unchanged, 0)).toBe(1_200);
      const ids = (await db.store.cards.page(0, 1_000)).map((card) => card.cardId);
      expect(ids.sort(ascending)).toEqual(range(400));
    });

    it('refuses a row that no validation should have let through, and keeps none of its chunk', async () => {
      const rows = [row(1), row(2, { iccid: '12\t\\N' })];
      await expect(db.store.cards.importChunk(rows, { expectNew })).rejects.toMatchObject({
        kind: 'invalid',
      });
      expect(await db.store.cards.count()).toBe(0);
      expect(await db.store.cards.importChunk([row(1)], { expectNew })).toMatchObject({ inserted: 1 });
    });
  });

  it('counts the running cards that a lower allowance puts over their package, and writes no more than allowed', async () => {
    const month = '2026-11';
    await addCards(db.store, ...range(9)); // 1,024 MB each
    const used = (cardId: number, usedMb: number) =>
      reading(cardId, { month, usedMb, atMs: 1_795_251_272_123, basedOn: null });
    await db.store.results.write([
      ...[1, 2, 3, 4, 5, 6].map((cardId) => used(cardId, 600)),
      used(7, 2_000), // over its package before
      used(8, 100),
      reading(9, { month: '2026-10', usedMb: 600, atMs: 1_792_000_000_000, basedOn: null }),
      { cardId: 3, taskType: 'realname', polledAtMs: 5, realNameVerified: true, stopped: true },
    ]);
    // Stopped and resumed in this month: not stopped again. Of card 5 it may be.
    await db.sql(`INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, completed_at, resumed_at, stop_again)
      SELECT card_id, '2026-11-01', iccid, 600, 500, 'resumed', now(), now(), card_id = 5 FROM cards WHERE card_id IN (4, 5)`);
    const lower = (...cardIds: number[]) => cardIds.map((cardId) => row(cardId, { allowanceMb: 500 }));
    expect(await db.store.cards.importChunk(lower(...range(9)), { dryRun: true, month })).toMatchObject({
      updated: 9,
      overPackage: 4,
    }); // 1, 2, 5, 6
    const before = await db.store.cards.changeMark();
    expect(
      await db.store.cards.importChunk([...lower(...range(9)), row(10)], { month, mostOverPackage: 3 }),
    ).toMatchObject({
      inserted: 0,
      updated: 0,
      overPackage: 4,
      refused: true,
    });
    expect((await followChanges(db.store, before)).changed).toEqual([]);
    expect(await db.store.cards.importChunk(lower(...range(9)), { month, mostOverPackage: 4 })).toMatchObject(
      {
        updated: 9,
        overPackage: 4,
        refused: false,
      },
    );
    expect(
      await db.store.cards.importChunk(lower(...range(9)), { month, mostOverPackage: 0 }),
      'they are over it already',
    ).toMatchObject({
      overPackage: 0,
    });
    const claim = (cardId: number) => db.store.stops.claim(sim(cardId), month, 1_000, UNLIMITED);
    expect(await claim(1), 'as the stops themselves judge').toMatchObject({ state: 'granted' });
    expect(await claim(8)).toMatchObject({ state: 'not_over' });
  });

  it('keeps a vendor id with its SIM, and takes it away where the row says so', async () => {
    const idOf = async () => (await db.store.cards.byIds([1]))[0]?.vendorId;
    const given = (fields: Parameters<typeof row>[1]) => db.store.cards.importChunk([row(1, fields)]);
    await given({ vendorId: 'a\\b; "c", ü' });
    expect(await idOf()).toBe('a\\b; "c", ü');
    expect(await given({}), 'a file without the column').toMatchObject({ unchanged: 1 });
    await given({ allowanceMb: 5 });
    expect(await idOf(), 'the SIM is the same').toBe('a\\b; "c", ü');
    await given({ allowanceMb: 5, iccid: iccidOf(77) });
    expect(await idOf(), 'the former SIM had it').toBeNull();
    await given({ iccid: iccidOf(78), vendorId: 'v-78' });
    expect(await idOf()).toBe('v-78');
    await given({ iccid: iccidOf(79), vendorId: 'v-78' });
    expect(await idOf(), 'the row says that it moved').toBe('v-78');
    await given({ iccid: iccidOf(79), vendorId: '-' });
    expect(await idOf()).toBeNull();
    expect(await given({ iccid: iccidOf(79), vendorId: '-' })).toMatchObject({ unchanged: 1 });
  });

  describe('a vendor id that another card has', () => {
    const idsOf = async () =>
      Object.fromEntries((await db.store.cards.byIds(range(9))).map((card) => [card.cardId, card.vendorId]));
    const given = (...cards: Array<[cardId: number, vendorId: string | null]>) =>
      db.store.cards.importChunk(cards.map(([cardId, vendorId]) => row(cardId, { vendorId })));
    const taken = (cardId: number, value: string, holder: number | null) =>
      ({ cardId, taken: 'vendor_id', value, holder }) as const;

    it('is refused with the card named, also for a new card and in a dry run', async () => {
      await given([1, 'a'], [2, 'b'], [3, null]);
      const rows = [row(3, { vendorId: 'a' }), row(4, { vendorId: 'b' }), row(5, { vendorId: 'c' })];
      const conflicts = [taken(3, 'a', 1), taken(4, 'b', 2)];
      expect(await db.store.cards.importChunk(rows, { dryRun: true })).toMatchObject({
        inserted: 1,
        conflicts,
      });
      expect(await db.store.cards.importChunk(rows)).toMatchObject({ inserted: 1, updated: 0, conflicts });
      expect(await idsOf()).toEqual({ 1: 'a', 2: 'b', 3: null, 5: 'c' });
    });

    it('is exchanged within one import, and goes to another card whose holder gives it up there', async () => {
      await given([1, 'a'], [2, 'b'], [3, 'c'], [4, 'd']);
      const rows = await given([1, 'b'], [2, 'a'], [5, 'c'], [3, '-'], [6, 'd'], [4, 'e']);
      expect(rows).toMatchObject({ inserted: 2, updated: 4, conflicts: [] });
      expect(await idsOf()).toEqual({ 1: 'b', 2: 'a', 3: null, 4: 'e', 5: 'c', 6: 'd' });
    });

    it('is not taken from a card whose row of the same import leaves it as it is', async () => {
      await given([1, 'a']);
      expect(await given([3, 'a'], [1, null])).toMatchObject({ inserted: 0, conflicts: [taken(3, 'a', 1)] });
    });

    it('is the first one of two rows that claim it', async () => {
      expect(await given([7, 'x'], [6, 'x'])).toMatchObject({
        inserted: 1,
        conflicts: [taken(6, 'x', null)],
      });
      expect(await idsOf()).toEqual({ 7: 'x' });
    });

    it('belongs to one card whatever imports at the same time', async () => {
      await addCards(db.store, ...range(40));
      const stores = await Promise.all(range(4).map(() => db.another()));
      const results = await Promise.all(
        stores.map((store, i) =>
          store.cards.importChunk(range(10).map((n) => row(10 * i + n, { vendorId: `v-${n}` }))),
        ),
      );
      expect(results.reduce((sum, { updated }) => sum + updated, 0)).toBe(10);
      expect(results.flatMap(({ conflicts }) => conflicts)).toHaveLength(30);
      const held = await db.sql('SELECT count(*)::int AS ids FROM cards WHERE vendor_id IS NOT NULL');
      expect(held).toEqual([{ ids: 10 }]);
    });

    it('is refused by the database itself', async () => {
      await given([1, 'a'], [2, 'b']);
      await expect(db.sql("UPDATE cards SET vendor_id = 'a' WHERE card_id = 2")).rejects.toThrow(
        'cards_vendor_id',
      );
    });

    it('is exchanged among ten thousand cards, and is refused to all if one of them keeps it', async () => {
      const ids = range(10_000);
      const rows = ids.map((cardId) => row(cardId, { vendorId: `v-${cardId}` }));
      expect(await db.store.cards.importChunk(rows)).toMatchObject({ inserted: 10_000, conflicts: [] });
      const shifted = ids.map((cardId) => row(cardId, { vendorId: `v-${(cardId % 10_000) + 1}` }));
      const refused = await db.store.cards.importChunk(shifted.slice(0, -1));
      expect(refused).toMatchObject({ updated: 0, unchanged: 0 });
      expect(refused.conflicts).toEqual(ids.slice(0, -1).map((id) => taken(id, `v-${id + 1}`, id + 1)));
      expect(await db.store.cards.importChunk(shifted)).toMatchObject({ updated: 10_000, conflicts: [] });
    });
  });

  it.each<[string, Parameters<typeof row>[1], Parameters<typeof row>[1]]>([
    ['is given', {}, { vendorId: 'new' }],
    ['is another', { vendorId: 'old' }, { vendorId: 'new' }],
    ['goes with the SIM', { vendorId: 'old' }, { iccid: iccidOf(99) }],
    ['moves to another SIM', { vendorId: 'old' }, { vendorId: 'old', iccid: iccidOf(99) }],
    ['is taken away', { vendorId: 'old' }, { vendorId: '-' }],
  ])('takes back that a vendor id %s', async (_, before, change) => {
    await db.store.cards.importChunk([row(1, before)]);
    const known = await db.store.cards.byIds([1]);
    const { former } = await db.store.cards.importChunk([row(1, change)], { keepFormer: true });
    expect(await db.store.cards.byIds([1])).not.toEqual(known);
    await db.store.cards.importChunk(former);
    expect(await db.store.cards.byIds([1])).toEqual(known);
  });

  it('returns the cards before their update, as rows that take it back', async () => {
    await addCards(db.store, 1, 2, 3, 4);
    const cards = () =>
      db.store.cards.list({ carrierId: null, status: null, stopped: null, vendorId: null }, 0, 10);
    const before = await cards();
    const change = [
      row(1, { allowanceMb: null, status: 9 }),
      row(2, { realNameVerified: true }),
      row(3), // as it is
      row(4, { iccid: iccidOf(1) }), // refused
      row(5), // new
    ];
    const { former } = await db.store.cards.importChunk(change, { dryRun: true, keepFormer: true });
    expect(former).toEqual([row(1), row(2, { realNameVerified: false })]);
    await db.store.cards.importChunk(change);
    expect(await db.store.cards.importChunk(former, { overwriteVerified: true })).toMatchObject({
      updated: 2,
    });
    expect((await cards()).cards.slice(0, 4)).toEqual(before.cards);
  });
});
