// The twin of the cards that are over their package and run: cards that cardpoll stopped for their usage, and that are within their
// package by now. The walk finds them, and so does what judges a card that changed.
import { beforeEach, describe, expect, it } from 'vitest';
import { emptyRun, filledRun, simOf } from '../../support/resume-run.ts';
import { OF_FLEET, UNLIMITED } from '../../support/stop-rules.ts';
import { addCards, describeRecordStore, iccidOf, reading, row } from './stores.ts';

const LEASE_MS = 3_600_000;
const MONTH = '2026-11';
const T = 1_795_251_272_123;
const ALL = Number.MAX_SAFE_INTEGER;
const HOUR_MS = 3_600_000;
const WITHIN = { state: 'within', sinceMs: null, carrierId: null } as const;

describeRecordStore('cards stopped within their package', (db) => {
  const walk = (month = MONTH) => db.store.stops.sweep(0, ALL, month, 2);
  const shown = async () => (await db.store.stoppedWithin.counted())?.cardIds;
  const uses = (cardId: number, usedMb: number, atMs: number, month = MONTH, basedOn: number | null = null) =>
    db.store.results.write([reading(cardId, { month, usedMb, atMs, basedOn })]);
  const topUp = (mb: number | null = 3_000) =>
    db.sql(`UPDATE cards SET allowance_mb = ${mb} WHERE card_id = 1`);
  /** After a walk; as the list that a command takes its cards from says it, too. */
  async function counted(month = MONTH): Promise<readonly number[] | undefined> {
    await walk(month);
    const ids = await shown();
    expect(await db.store.stoppedWithin.cards(month, null, 10)).toEqual(ids);
    const listed = await db.store.stops.list(WITHIN, { offset: 0, limit: 10 });
    expect({ ids: listed.items.map(({ cardId }) => cardId), total: listed.total }).toEqual({
      ids,
      total: ids?.length,
    });
    return ids;
  }
  const stop = async (cardId: number) => {
    await db.store.stops.claim(simOf(cardId), MONTH, LEASE_MS, UNLIMITED);
    await db.store.stops.complete(simOf(cardId), MONTH);
  };
  const order = (cardId: number) => db.store.stops.order(cardId, MONTH, { by: 'me', reason: 'stolen' });

  /** Both are over their package of 1,024 MB and stopped. */
  beforeEach(async () => {
    await addCards(db.store, 1, 2);
    for (const cardId of [1, 2]) {
      await uses(cardId, 1_500, T);
      await stop(cardId);
    }
  });

  it('are not known before a walk of the month has ended', async () => {
    await topUp();
    expect(await db.store.stoppedWithin.counted()).toBeNull();
    await db.store.stops.sweep(0, 1, MONTH, null);
    expect(await db.store.stoppedWithin.counted(), 'it goes on').toBeNull();
    await db.store.stops.sweep(1, ALL, MONTH, 2);
    expect(await db.store.stoppedWithin.counted()).toEqual({
      count: 1,
      atMs: expect.any(Number),
      cardIds: [1],
    });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['topped up', () => topUp()],
    ['topped up to exactly what it has used', () => topUp(1_500)],
    ['unlimited', () => topUp(null)],
    [
      'corrected in its usage',
      () => db.sql('UPDATE card_usage SET used_mb = 5 WHERE card_id = 1 AND month = $1', ['2026-11-01']),
    ],
    [
      'topped up after an operator released its stop, which was held',
      async () => {
        await db.sql("UPDATE card_stops SET authority = 'released' WHERE card_id = 1");
        await topUp();
      },
    ],
  ])('counts a card that is %s', async (_, change) => {
    expect(await counted(), 'before').toEqual([]);
    await change();
    expect(await counted()).toEqual([1]);
  });

  it('counts a card at once that is judged after a change, and leaves the others', async () => {
    await counted();
    await topUp();
    await db.store.stoppedWithin.judge([1, 2, 77], MONTH);
    expect(await shown()).toEqual([1]);
    await db.store.stoppedWithin.judge([2], MONTH);
    expect(await shown()).toEqual([1]);
    await topUp(1_000);
    await db.store.stoppedWithin.judge([1], MONTH);
    expect(await shown()).toEqual([]);
    expect(await db.sql('SELECT * FROM cards_stopped_within')).toEqual([]);
  });

  it('counts a card at once that an import makes fit, which says how many, also of a trial', async () => {
    await counted();
    const rows = [row(1, { allowanceMb: 3_000 }), row(2, { allowanceMb: 1_200 }), row(3)];
    const trial = await db.store.cards.importChunk(rows, { month: MONTH, dryRun: true });
    expect(trial).toMatchObject({ updated: 2, stoppedWithin: 1, overPackage: 0 });
    expect(await shown()).toEqual([]);
    expect(await db.store.cards.importChunk(rows, { month: MONTH })).toMatchObject({ stoppedWithin: 1 });
    expect(await shown()).toEqual([1]);
    expect(await db.store.cards.importChunk(rows, { month: MONTH }), 'again').toMatchObject({
      stoppedWithin: 0,
    });
    const exchanged = [row(2, { allowanceMb: 3_000, iccid: iccidOf(22) })];
    expect(await db.store.cards.importChunk(exchanged, { month: MONTH })).toMatchObject({ stoppedWithin: 0 });
  });

  it('counts a card of the former month by its first reading of the new one, unless a run of the month takes it', async () => {
    expect(await counted('2026-12'), 'not read yet').toEqual([]);
    await db.store.results.ensurePartitions('2026-12');
    await uses(1, 5, T + 1_000, '2026-12', T);
    expect(await counted('2026-12')).toEqual([1]);
    const run = await db.store.resumes.createForMonth({ beginning: '2026-12' }, 2, HOUR_MS);
    expect(await shown(), 'the run hands it out within the hours').toEqual([]);
    await db.store.resumes.cancel(run?.id ?? '');
    expect(await shown()).toEqual([1]);
  });

  describe('but not a card that', () => {
    it.each<[string, () => Promise<unknown>]>([
      ['is over again', () => topUp(1_200)],
      ['runs', () => db.sql('UPDATE cards SET stopped = false WHERE card_id = 1')],
      ['an operator stopped', () => db.sql("UPDATE card_stops SET authority = 'operator'")],
      [
        'an operator ordered to stop while a run resumed it',
        async () => {
          await filledRun(db.store, { cardIds: [1] });
          expect(await order(1)).toBe('ordered');
        },
      ],
      [
        'another system stopped: its stop was resumed',
        () => db.sql("UPDATE card_stops SET state = 'resumed'"),
      ],
      ['another system stopped: it has no stop', () => db.sql('DELETE FROM card_stops WHERE card_id = 1')],
      ['is in doubt', () => db.sql('UPDATE card_usage SET suspected_mb = 1')],
      ['was not read in this month', () => db.sql('DELETE FROM card_usage WHERE card_id = 1')],
      ['has another SIM', () => db.sql(`UPDATE cards SET iccid = '${iccidOf(777)}' WHERE card_id = 1`)],
      ['waits in a run that resumes it', () => filledRun(db.store, { cardIds: [1] })],
      ['was removed', () => db.sql('DELETE FROM cards WHERE card_id = 1')],
    ])('%s', async (_, change) => {
      await topUp();
      expect(await counted(), 'before').toEqual([1]);
      await change();
      expect(await counted()).toEqual([]);
    });
  });

  it('are found by carrier, up to a number', async () => {
    await db.sql('UPDATE cards SET allowance_mb = 3000');
    await walk();
    expect(await db.store.stoppedWithin.cards(MONTH, null, 1)).toEqual([1]);
    expect(await db.store.stoppedWithin.cards(MONTH, 1, 10)).toEqual([1, 2]);
    expect(await db.store.stoppedWithin.cards(MONTH, 77, 10)).toEqual([]);
  });

  describe('may be resumed by cardpoll itself', () => {
    const confirmed = async (after = 0, limit = 10) =>
      (await db.store.stoppedWithin.confirmed(MONTH, after, limit, HOUR_MS)).cardIds;
    const now = async () => Math.round(await db.store.now());
    const read = async (cardId = 1, inMs = 1_000) => uses(cardId, 1_501, (await now()) + inMs, MONTH, T);

    beforeEach(async () => {
      await topUp();
      await walk();
    });

    it('by a reading that was taken after the allowance changed, and not before', async () => {
      expect(await confirmed()).toEqual([]);
      await read(1, -60_000);
      expect(await confirmed()).toEqual([]);
      await read(1, 1_000);
      expect(await confirmed()).toEqual([1]);
    });

    it('not while the readings of the fleet are in doubt', async () => {
      await read();
      await db.store.stopControl.beginJump({
        factor: 8,
        baselineMbPerHour: 1,
        recentMbPerHour: 8,
        ...OF_FLEET,
      });
      expect(await confirmed()).toEqual([]);
      await db.store.stopControl.setMode('enforce', 'me', 'they are right');
      expect(await confirmed()).toEqual([1]);
    });

    it('once, and again only after a pause', async () => {
      await read();
      await db.store.stoppedWithin.noteTried([1]);
      await walk();
      expect(await confirmed()).toEqual([]);
      await db.sql("UPDATE cards_stopped_within SET tried_at = tried_at - interval '61 minutes'");
      expect(await confirmed()).toEqual([1]);
      await emptyRun(db.store, { cardIds: [1] });
      expect(await confirmed(), 'no card waits yet').toEqual([1]);
    });

    it('step by step', async () => {
      await db.sql('UPDATE cards SET allowance_mb = 3000');
      await walk();
      await read(1);
      await read(2);
      const step = (after: number) => db.store.stoppedWithin.confirmed(MONTH, after, 1, HOUR_MS);
      expect(await step(0)).toEqual({ lastCardId: 1, cardIds: [1] });
      expect(await step(1)).toEqual({ lastCardId: 2, cardIds: [2] });
      expect(await step(2)).toEqual({ lastCardId: null, cardIds: [] });
    });
  });
});
