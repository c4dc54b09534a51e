// What a stop is about: one SIM and one allowance. It decides about its card for the rest of the month only while both are as
// they were; otherwise the card is judged anew, by a reading taken after the change.
import { beforeEach, describe, expect, it } from 'vitest';
import { UNLIMITED } from '../../support/stop-rules.ts';
import { addCards, describeRecordStore, iccidOf, reading, row, sim, wantedStops } from './stores.ts';

const LEASE_MS = 3_600_000;
const MONTH = '2026-11';
const T = 1_795_251_272_123;
const NEW_SIM = iccidOf(777);

describeRecordStore('stops of a card that changed', (db) => {
  /** The SIM that the card has, and that is called. */
  let iccid = iccidOf(1);
  const claim = (rules = UNLIMITED) => db.store.stops.claim(sim(1, iccid), MONTH, LEASE_MS, rules);
  const complete = () => db.store.stops.complete(sim(1, iccid), MONTH);
  const isWanted = async () => (await wantedStops(db.store, [1], MONTH)).length === 1;
  const stop = async () => (await db.store.stops.ofCard(1, 1))[0];
  const raise = (mb: number | null) => db.sql(`UPDATE cards SET allowance_mb = ${mb === null ? 'NULL' : mb}`);
  async function setSim(next: string): Promise<void> {
    await db.sql(`UPDATE cards SET iccid = '${next}'`);
    iccid = next;
  }
  /** The card runs again, as the gateway shows it. */
  const runs = () => db.sql('UPDATE cards SET stopped = false');
  const leaseEnds = () => db.sql('UPDATE card_stops SET claimed_until = clock_timestamp()');

  let readAtMs = T;
  /** A reading of the SIM that the card has, now or at another time. */
  async function uses(usedMb: number, atMs = Date.now() + 1_000): Promise<void> {
    await db.store.results.write([reading(1, { month: MONTH, usedMb, atMs, basedOn: readAtMs })]);
    readAtMs = atMs;
  }
  async function stopped(): Promise<void> {
    await claim();
    await complete();
  }

  beforeEach(async () => {
    await addCards(db.store, 1);
    await db.store.results.write([reading(1, { month: MONTH, usedMb: 1_500, atMs: T, basedOn: null })]);
    readAtMs = T;
    iccid = iccidOf(1);
  });

  describe('by its allowance', () => {
    it('a card is judged again after a top-up, by a later reading, and once', async () => {
      await stopped();
      await raise(3_000);
      await runs();
      expect(await isWanted(), 'within the new package').toBe(false);
      expect(await claim()).toEqual({ state: 'not_over' });
      await uses(3_500);
      expect(await isWanted()).toBe(true);
      expect(await claim()).toEqual({ state: 'granted', month: MONTH, attempt: 2 });
      expect(await claim()).toEqual({ state: 'claimed' });
      await complete();
      expect(await stop()).toMatchObject({ state: 'done', usedMb: 3_500, allowanceMb: 3_000 });
      await runs();
      await uses(9_000, Date.now() + 2_000);
      expect(await isWanted(), 'of the same package').toBe(false);
      expect(await claim()).toEqual({ state: 'done' });
      expect(await db.store.stopControl.read()).toMatchObject({ doneHour: 2 });
    });

    it('is not judged by a reading of before the top-up', async () => {
      await stopped();
      await runs();
      await uses(1_600, T + 1_000);
      await raise(1_400);
      expect(await isWanted()).toBe(false);
      expect(await claim()).toEqual({ state: 'done' });
      await uses(1_601);
      expect(await claim()).toMatchObject({ state: 'granted' });
    });

    it.each<[string, Array<number | null>]>([
      ['raised and lowered back', [3_000, 1_024]],
      ['lifted and put back', [null, 1_024]],
      ['lowered', [10]],
      ['lowered to nothing', [0]],
      ['lowered, and raised to less than it was', [10, 900]],
    ])('stays spared when the allowance is %s', async (_, allowances) => {
      await stopped();
      for (const mb of allowances) await raise(mb);
      await runs();
      await uses(9_000);
      expect(await isWanted()).toBe(false);
      expect(await claim()).toEqual({ state: 'done' });
    });

    it('is never over when it is unlimited', async () => {
      await stopped();
      await raise(null);
      await runs();
      await uses(1e9);
      expect(await isWanted()).toBe(false);
      expect(await claim()).toEqual({ state: 'not_over' });
    });

    it('a card that an operator stopped without a limit stays spared when it gets one', async () => {
      await raise(null);
      await db.store.stops.order(1, MONTH, { by: 'alice', reason: 'lost' });
      await stopped();
      await runs();
      await raise(100);
      await uses(1_600);
      expect(await claim()).toEqual({ state: 'done' });
    });

    it.each(['resumed', 'dismissed', 'held', 'observed'])(
      'a stop that was %s is judged again',
      async (state) => {
        await stopped();
        await db.sql(
          `UPDATE card_stops SET state = '${state}', resumed_at = clock_timestamp(), held_by = 'budget_day'`,
        );
        await raise(3_000);
        await runs();
        await uses(3_500);
        expect(await isWanted()).toBe(true);
        expect(await claim()).toMatchObject({ state: 'granted', attempt: 2 });
      },
    );

    it('is judged within the budget, and is held beyond it', async () => {
      await stopped();
      await raise(3_000);
      await runs();
      await uses(3_500);
      const spent = { ...UNLIMITED, maxPerHour: 1 };
      expect(await claim(spent)).toEqual({ state: 'held', heldBy: 'budget_hour', isNew: true });
      expect(await claim(spent)).toEqual({ state: 'held', heldBy: 'budget_hour', isNew: false });
    });
  });

  describe('by its SIM', () => {
    it('a card is judged again for a new SIM, by a reading of that SIM', async () => {
      await stopped();
      await setSim(NEW_SIM);
      await runs();
      expect(await isWanted(), 'no reading of the new SIM').toBe(false);
      expect(await claim()).toEqual({ state: 'not_over' });
      await uses(1_500);
      expect(await isWanted()).toBe(true);
      expect(await claim()).toMatchObject({ state: 'granted', attempt: 2 });
      await complete();
      expect(await db.sql('SELECT iccid, state FROM card_stops')).toEqual([
        { iccid: NEW_SIM, state: 'done' },
      ]);
      const ofStops = { sinceMs: null, untilMs: null, actor: null, action: 'card.stop', object: 'card 1' };
      const { items } = await db.store.audit.list(ofStops, { offset: 0, limit: 2 });
      expect(items.map(({ after }) => (after as { iccid: string }).iccid)).toEqual([NEW_SIM, iccidOf(1)]);
    });

    it('a card is judged again for a SIM that was exchanged before its stop', async () => {
      await setSim(NEW_SIM);
      expect(await isWanted()).toBe(false);
      await uses(1_500);
      expect(await isWanted()).toBe(true);
    });

    it('is spared when the SIM that was stopped returns', async () => {
      await stopped();
      await setSim(NEW_SIM);
      await setSim(iccidOf(1));
      await runs();
      await uses(9_000);
      expect(await claim()).toEqual({ state: 'done' });
    });

    it('takes a card that was removed and made again for another one', async () => {
      await stopped();
      await db.sql('DELETE FROM cards');
      await db.sql(`INSERT INTO cards (card_id, iccid, allowance_mb) VALUES (1, '${NEW_SIM}', 1024)`);
      iccid = NEW_SIM;
      const atMs = Date.now() + 1_000;
      await db.store.results.write([reading(1, { month: MONTH, usedMb: 1_500, atMs, basedOn: null })]);
      expect(await claim()).toMatchObject({ state: 'granted' });
    });

    it('a stop begins again while a call for the former SIM runs, and the audit trail keeps that call', async () => {
      await claim();
      await setSim(NEW_SIM);
      await uses(1_500);
      expect(await claim(), 'its lease is not over').toEqual({ state: 'claimed' });
      await leaseEnds();
      expect(await claim({ ...UNLIMITED, maxPerHour: 1 }), 'both calls count').toMatchObject({
        state: 'held',
      });
      await db.sql("UPDATE card_stops SET state = 'requested', held_by = NULL");
      expect(await claim(), 'not unresolved: that was another SIM').toMatchObject({ state: 'granted' });
      const ofStops = { sinceMs: null, untilMs: null, actor: null, action: 'card.stop', object: 'card 1' };
      const { items } = await db.store.audit.list(ofStops, { offset: 0, limit: 1 });
      expect(items[0]?.after).toMatchObject({ outcome: 'unknown', iccid: iccidOf(1), used_mb: 1_500 });
    });

    it.each<[string, () => Promise<unknown>]>([
      ['an order', () => db.store.stops.order(1, MONTH, { by: 'alice', reason: 'stolen' })],
      [
        'an order of the month before',
        () => db.store.stops.order(1, '2026-10', { by: 'alice', reason: 'stolen' }),
      ],
      [
        'a release',
        async () => {
          await claim({ ...UNLIMITED, maxPerHour: 0 });
          await db.store.stops.release([1], { by: 'alice', reason: 'checked' });
        },
      ],
    ])('%s for the former SIM is not carried out for the new one', async (_, decide) => {
      await decide();
      await setSim(NEW_SIM);
      expect(await claim()).toEqual({ state: 'not_over' });
      expect(await stop()).toMatchObject({ state: 'dismissed', lastError: expect.stringContaining('SIM') });
      await uses(1_500);
      expect(await claim(), 'its own package counts').toMatchObject({ state: 'granted' });
    });

    it('orders of two cards that exchange their SIMs in one import are carried out for neither', async () => {
      await addCards(db.store, 2);
      const who = { by: 'alice', reason: 'stolen' };
      for (const cardId of [1, 2]) await db.store.stops.order(cardId, MONTH, who);
      const rows = [row(1, { iccid: iccidOf(2) }), row(2, { iccid: iccidOf(1) })];
      expect(await db.store.cards.importChunk(rows)).toMatchObject({ updated: 2, conflicts: [] });
      for (const { cardId, iccid: ofCard } of rows) {
        const former = await db.store.stops.claim(sim(cardId), MONTH, LEASE_MS, UNLIMITED);
        expect(former, 'by the SIM that it had').toEqual({ state: 'other_iccid' });
        const present = await db.store.stops.claim(sim(cardId, ofCard), MONTH, LEASE_MS, UNLIMITED);
        expect(present).toEqual({ state: 'not_over' });
        const [order] = await db.store.stops.ofCard(cardId, 1);
        expect(order).toMatchObject({ state: 'dismissed', lastError: expect.stringContaining('SIM') });
      }
    });

    it('an order is of the SIM that the card has', async () => {
      await stopped();
      await setSim(NEW_SIM);
      await runs();
      await db.store.stops.order(1, MONTH, { by: 'alice', reason: 'stolen' });
      expect(await claim()).toMatchObject({ state: 'granted' });
      expect(await db.sql('SELECT iccid FROM card_stops')).toEqual([{ iccid: NEW_SIM }]);
    });
  });

  describe('while its stop is in flight', () => {
    const known = async () => (await db.sql('SELECT stopped FROM cards'))[0]?.stopped;

    it('claims nothing for a SIM that the vendor knows by another id now', async () => {
      await db.sql("UPDATE cards SET vendor_id = 'v-1'");
      expect(await isWanted(), 'its first id takes nothing back').toBe(true);
      await db.sql("UPDATE cards SET vendor_id = 'v-2'");
      const asked = (vendorId: string | null) =>
        db.store.stops.claim({ ...sim(1), vendorId }, MONTH, LEASE_MS, UNLIMITED);
      for (const former of ['v-1', null]) expect(await asked(former)).toEqual({ state: 'other_iccid' });
      expect(await asked('v-2')).toEqual({ state: 'not_over' });
      await uses(1_600);
      expect(await asked('v-2'), 'read by the new id').toMatchObject({ state: 'granted' });
    });

    it('completes nothing by a status that was asked by a former vendor id', async () => {
      const shown = (vendorId: string | null) => db.store.stops.complete({ ...sim(1), vendorId }, MONTH);
      await db.sql("UPDATE cards SET vendor_id = 'v-1'");
      await db.store.stops.claim({ ...sim(1), vendorId: 'v-1' }, MONTH, LEASE_MS, UNLIMITED);
      await db.sql("UPDATE cards SET vendor_id = 'v-2'");
      for (const former of ['v-1', null]) expect(await shown(former)).toBeNull();
      expect(await stop()).toMatchObject({ state: 'requested' });
      expect(await known()).toBe(false);
      expect(await shown('v-2')).toMatchObject({ action: 'card.stop' });
      expect(await known()).toBe(true);
    });

    it('completes the stop of the SIM that the card had, whatever id that had', async () => {
      await db.sql("UPDATE cards SET vendor_id = 'v-1'");
      const former = { ...sim(1), vendorId: 'v-1' };
      await db.store.stops.claim(former, MONTH, LEASE_MS, UNLIMITED);
      await db.sql(`UPDATE cards SET iccid = '${NEW_SIM}', vendor_id = 'v-2'`);
      expect(await db.store.stops.complete(former, MONTH)).toMatchObject({ action: 'card.stop' });
      expect(await known()).toBe(false);
    });

    it('claims nothing for a SIM that the card does not have', async () => {
      await setSim(NEW_SIM);
      await uses(1_500);
      iccid = iccidOf(1);
      expect(await claim()).toEqual({ state: 'other_iccid' });
      expect(await stop()).toBeUndefined();
      expect(await db.store.stopControl.read()).toMatchObject({ doneHour: 0 });
      await db.sql('DELETE FROM cards');
      expect(await claim(), 'a card that is gone').toEqual({ state: 'not_over' });
    });

    it('completes nothing by the status of another SIM', async () => {
      await claim();
      await setSim(NEW_SIM);
      expect(await complete()).toBeNull();
      expect(await stop()).toMatchObject({ state: 'requested' });
      expect(await known()).toBe(false);
    });

    it.each([
      ['got another SIM', () => setSim(NEW_SIM)],
      [
        'was removed and made again with another SIM',
        async () => {
          await db.sql('DELETE FROM cards');
          await db.sql(`INSERT INTO cards (card_id, iccid, allowance_mb) VALUES (1, '${NEW_SIM}', 1024)`);
        },
      ],
    ])('records the call for the SIM that was called, and not for the card when it %s', async (_, change) => {
      await claim();
      await change();
      iccid = iccidOf(1);
      expect(await complete()).toMatchObject({ after: { stopped: true, iccid: iccidOf(1) } });
      expect(await db.sql('SELECT iccid, state FROM card_stops')).toEqual([
        { iccid: iccidOf(1), state: 'done' },
      ]);
      expect(await known(), 'of the new SIM nothing is known').toBe(false);
      expect(await complete()).toBeNull();
    });

    it('keeps a released stop of a SIM that is not asked about', async () => {
      await claim({ ...UNLIMITED, maxPerHour: 0 });
      await db.store.stops.release([1], { by: 'alice', reason: 'checked' });
      iccid = NEW_SIM;
      expect(await claim()).toEqual({ state: 'other_iccid' });
      expect(await stop()).toMatchObject({ state: 'requested' });
    });
  });
});
