// The rules that hold stops back: mode, budget and jump, judged and counted by the claim of a stop; and what operators decide.
import { beforeEach, describe, expect, it } from 'vitest';
import type { StopRules } from '../../../src/domain/stops/stop.ts';
import { OF_FLEET, UNLIMITED } from '../../support/stop-rules.ts';
import { addCards, describeRecordStore, range, reading, sim, takenOrders, wantedStops } from './stores.ts';

const LEASE_MS = 3_600_000;
const MONTH = '2026-11';
const T = 1_795_251_272_123;
const OVER = { usedMb: 1025.5, allowanceMb: 1024 };
const BY = { by: 'alice', reason: 'checked with the carrier' };
const HELD = { state: 'held', heldBy: 'budget_hour' };

describeRecordStore('rules of stops', (db) => {
  const rules = (differing: Partial<StopRules>): StopRules => ({ ...UNLIMITED, ...differing });
  const claim = (cardId: number, differing: Partial<StopRules> = {}) =>
    db.store.stops.claim(sim(cardId), MONTH, LEASE_MS, rules(differing));
  const states = async () => {
    const rows = await db.sql('SELECT state FROM card_stops ORDER BY card_id');
    return rows.map(({ state }) => state);
  };
  const granted = (attempt: number) => ({ state: 'granted', month: MONTH, attempt });
  /** All that was counted so far was counted this long ago. */
  async function passes(minutes: number): Promise<void> {
    await db.sql(`UPDATE stop_control SET minute = minute - ${minutes}`);
    await db.sql(`UPDATE card_stops SET charged_at = charged_at - interval '${minutes} minutes'`);
  }

  beforeEach(async () => {
    const cardIds = range(6);
    await addCards(db.store, ...cardIds);
    await db.store.results.write(
      cardIds.map((cardId) => reading(cardId, { month: MONTH, usedMb: OVER.usedMb, atMs: T, basedOn: null })),
    );
  });

  it('grants stops up to the budget, and holds the others', async () => {
    expect(await claim(1, { maxPerHour: 2 })).toEqual(granted(1));
    expect(await claim(2, { maxPerHour: 2 })).toEqual(granted(1));
    expect(await claim(3, { maxPerHour: 2 })).toEqual({ ...HELD, isNew: true });
    expect(await claim(3, { maxPerHour: 2 })).toEqual({ ...HELD, isNew: false });
    expect(await claim(4, { maxPerDay: 2 })).toEqual({ state: 'held', heldBy: 'budget_day', isNew: true });
    expect(await states()).toEqual(['requested', 'requested', 'held', 'held']);
    expect(await claim(3), 'waits for an operator, also when the budget grows').toMatchObject({
      state: 'held',
    });
    expect(await db.store.stopControl.read()).toMatchObject({
      doneHour: 2,
      doneDay: 2,
      doneTwoMinutes: 2,
      held: 2,
      observed: 0,
    });
  });

  it('counts what an operator released or ordered in the budget, and not among the stops of the last minutes', async () => {
    for (const cardId of [1, 2, 3, 4]) await claim(cardId, { maxPerHour: 0 });
    const by = { by: 'anna', reason: 'checked' };
    await db.store.stops.release([1, 2, 3], by);
    await db.store.stops.order(6, MONTH, by);
    for (const cardId of [1, 2, 3, 6]) expect(await claim(cardId)).toMatchObject({ state: 'granted' });
    expect(await claim(5)).toMatchObject({ state: 'granted' });
    await db.store.stops.complete(sim(1), MONTH);
    expect(await db.store.stopControl.read()).toMatchObject({ doneTwoMinutes: 1, doneHour: 5 });
  });

  it('keeps the budget against many instances at once, and counts one claim of racing callers', async () => {
    const stores = await Promise.all(range(4).map(() => db.another()));
    const claims = await Promise.all(
      stores.flatMap((store) =>
        [1, 2, 3, 4, 5, 6].map((cardId) =>
          store.stops.claim(sim(cardId), MONTH, LEASE_MS, rules({ maxPerHour: 3 })),
        ),
      ),
    );
    expect(claims.filter(({ state }) => state === 'granted')).toHaveLength(3);
    expect((await db.store.stopControl.read()).doneHour).toBe(3);
  });

  it('knows how many were stopped at this time of yesterday', async () => {
    for (const cardId of [1, 2]) await claim(cardId);
    const { stopControl } = db.store;
    expect((await stopControl.read()).quarterOfYesterday).toBe(0);
    await passes(24 * 60 - 10);
    expect((await stopControl.read()).quarterOfYesterday).toBe(2);
    await passes(30);
    expect(await stopControl.read()).toMatchObject({ quarterOfYesterday: 0, doneDay: 0 });
  });

  it('counts by the hour and by the day, and forgets what is older', async () => {
    await claim(1);
    await passes(2);
    expect(await db.store.stopControl.read()).toMatchObject({ doneTwoMinutes: 0, doneHour: 1 });
    await passes(57);
    expect(await claim(2, { maxPerHour: 1 })).toMatchObject({ state: 'held' });
    await passes(2);
    expect(await db.store.stopControl.read()).toMatchObject({ doneHour: 0, doneDay: 1 });
    expect(await claim(3, { maxPerHour: 1, maxPerDay: 2 })).toMatchObject({ state: 'granted' });
    expect(await claim(4, { maxPerDay: 2 })).toMatchObject({ state: 'held', heldBy: 'budget_day' });
    await passes(25 * 60);
    expect(await db.store.stopControl.read()).toMatchObject({ doneHour: 0, doneDay: 0 });
    await passes(-26 * 60);
    expect(await claim(5, { maxPerHour: 1 }), 'a clock set back forgets nothing').toMatchObject(HELD);
    expect(await claim(6, { maxPerHour: 2 })).toMatchObject({ state: 'granted' });
    await passes(61);
    expect(await db.store.stopControl.read(), 'and does not count for ever').toMatchObject({ doneHour: 0 });
  });

  it('counts a repeated call at its own time, and a call without effect not at all', async () => {
    await claim(1, { maxPerHour: 1 });
    await db.store.stops.abandon(1, MONTH, 1, 'refused', true);
    expect(await db.store.stopControl.read()).toMatchObject({ doneHour: 0, doneDay: 0 });
    expect(await claim(2, { maxPerHour: 1 })).toMatchObject({ state: 'granted' });
    expect(await claim(1, { maxPerHour: 1 }), 'the budget is used up').toMatchObject({ state: 'held' });

    await db.sql(`UPDATE card_stops SET claimed_until = clock_timestamp() WHERE card_id = 2`);
    expect(await claim(2, { maxPerHour: 1 }), 'counted already').toMatchObject({ state: 'unresolved' });
    await passes(61);
    await db.sql(`UPDATE card_stops SET claimed_until = clock_timestamp() WHERE card_id = 2`);
    expect(await claim(2, { maxPerHour: 1 })).toMatchObject({ state: 'unresolved' });
    expect(await claim(3, { maxPerHour: 1 })).toMatchObject({ state: 'held' });
    expect(await db.store.stopControl.read()).toMatchObject({ doneHour: 1, doneDay: 1 });
  });

  it('counts a call that had an effect although the gateway refused it, once, when the card is found stopped', async () => {
    for (const [cardId, isCardFault] of [
      [1, true],
      [2, false],
    ] as const) {
      await claim(cardId);
      await db.store.stops.abandon(cardId, MONTH, 1, 'code 500', isCardFault);
      const entry = await db.store.stops.complete(sim(cardId), MONTH);
      expect(entry !== null, 'the other was stopped by another system').toBe(isCardFault);
      expect(await db.store.stops.complete(sim(cardId), MONTH)).toBeNull();
      expect((await db.store.cards.find(String(cardId)))?.stopped).toBe(true);
      expect((await db.store.stopControl.read()).doneHour).toBe(1);
    }
    expect(await claim(3, { maxPerHour: 1 })).toEqual({ ...HELD, isNew: true });
  });

  it('a budget of 0 holds every stop, and one lowered below what is used holds the next', async () => {
    expect(await claim(1, { maxPerHour: 0 })).toMatchObject({ state: 'held' });
    await claim(2);
    await claim(3);
    expect(await claim(4, { maxPerHour: 1 })).toMatchObject({ state: 'held' });
  });

  it('only records in mode observe what would be stopped, until the mode is enforce', async () => {
    expect(await claim(1, { mode: 'observe' })).toEqual({ state: 'observed', isNew: true });
    expect(await claim(1, { mode: 'observe' })).toEqual({ state: 'observed', isNew: false });
    expect(await db.store.stopControl.read()).toMatchObject({ doneHour: 0, observed: 1, setMode: null });
    expect(await claim(1)).toEqual(granted(2));
    expect(await states()).toEqual(['requested']);
  });

  it('the mode set at run time counts for all instances, and makes no call of what was claimed before', async () => {
    await claim(1);
    await db.store.stops.abandon(1, MONTH, 1, 'refused', true);
    await db.store.stopControl.setMode('observe', 'alice', 'too many');
    expect((await db.store.stopControl.read()).setMode).toEqual({
      mode: 'observe',
      by: 'alice',
      reason: 'too many',
      sinceMs: expect.any(Number),
    });
    expect(await claim(1)).toEqual({ state: 'observed', isNew: false });
    expect(await claim(2)).toEqual({ state: 'observed', isNew: true });
    expect(await states(), 'what was requested waits').toEqual(['requested', 'observed']);
    await db.store.stopControl.setMode('enforce', 'alice', 'right');
    expect(await claim(1, { mode: 'observe' })).toEqual(granted(2));
  });

  it('a jump of the readings holds all stops, until it is over or accepted', async () => {
    const jump = { factor: 900, baselineMbPerHour: 2, recentMbPerHour: 1_800, ...OF_FLEET };
    const { stopControl } = db.store;
    expect(await stopControl.jump()).toBeNull();
    expect([await stopControl.beginJump(jump), await stopControl.beginJump(jump)]).toEqual([true, false]);
    expect(await claim(1)).toEqual({ state: 'held', heldBy: 'usage_jump', isNew: true });
    expect((await stopControl.read()).jump).toMatchObject({ ...jump, acceptedAtMs: null });
    await stopControl.setMode('observe', 'alice', 'looks');
    expect(await stopControl.jump()).toMatchObject({ acceptedAtMs: null });
    await stopControl.setMode('enforce', 'alice', 'it is right');
    expect(await stopControl.jump()).toMatchObject({ ...jump, acceptedAtMs: expect.any(Number) });
    expect(await claim(2)).toEqual(granted(1));
    expect(await stopControl.beginJump(jump), 'seen by another leader before').toBe(false);
    const further = { factor: 30, baselineMbPerHour: 1_800, recentMbPerHour: 54_000, ...OF_FLEET };
    expect([await stopControl.beginJump(further), await stopControl.beginJump(further)]).toEqual([
      true,
      false,
    ]);
    expect(await stopControl.jump()).toMatchObject({ ...further, acceptedAtMs: null });
    expect([await stopControl.endJump('back'), await stopControl.endJump('back')]).toEqual([true, false]);
    expect(await stopControl.jump()).toBeNull();
    expect(await claim(1), 'waits for an operator').toMatchObject({ state: 'held' });
  });

  it('a released stop is judged again, and the budget does not hold it', async () => {
    for (const cardId of [1, 2, 3]) await claim(cardId, { maxPerHour: 0 });
    await db.sql('UPDATE cards SET allowance_mb = 5000 WHERE card_id = 2');
    expect((await db.store.stops.release([1, 2, 6, 99], BY)).toSorted()).toEqual([1, 2]);
    expect(await db.store.stops.release([1, 2], BY), 'once').toEqual([]);
    expect((await takenOrders(db.store, 'stop')).sort()).toEqual([1, 2]);
    expect(await takenOrders(db.store, 'stop'), 'not again at once').toEqual([]);
    expect(await claim(1, { maxPerHour: 0 })).toMatchObject({ state: 'granted' });
    expect(await claim(2, { maxPerHour: 0 })).toEqual({ state: 'not_over' });
    expect(await states(), 'the stop of card 2 is dropped').toEqual(['requested', 'held']);
    const entry = await db.store.stops.complete(sim(1), MONTH);
    expect(entry?.after).toMatchObject({ authority: 'released', ordered_by: 'alice', reason: BY.reason });
    expect(await db.store.stops.release(null, BY)).toEqual([3]);
  });

  it('a dismissed card is not stopped in that month', async () => {
    for (const cardId of [1, 2]) await claim(cardId, { maxPerHour: 0 });
    expect(await db.store.stops.dismiss([2], BY)).toEqual([2]);
    expect(await claim(2)).toEqual({ state: 'done' });
    expect(await wantedStops(db.store, [1, 2], MONTH)).toEqual([]);
    const { items, total } = await db.store.stops.list(
      { state: 'dismissed', sinceMs: null, carrierId: 1 },
      { offset: 0, limit: 5 },
    );
    expect({ items, total }).toMatchObject({
      total: 1,
      items: [{ cardId: 2, state: 'dismissed', orderedBy: 'alice', reason: BY.reason, heldBy: null }],
    });
  });

  const LOOKS = [{ maxPerHour: 0 }, { mode: 'observe' as const }];
  const ENDS = [
    ['the allowance was raised', 'UPDATE cards SET allowance_mb = 5000 WHERE card_id = 1'],
    ['the usage was corrected', 'UPDATE card_usage SET used_mb = 1 WHERE card_id = 1'],
    ['the card was stopped otherwise', 'UPDATE cards SET stopped = true WHERE card_id = 1'],
    ['the card was removed', 'DELETE FROM cards WHERE card_id = 1'],
    ['the card has another SIM', "UPDATE cards SET iccid = '898600000000000077' WHERE card_id = 1"],
    ['the month is over', 'UPDATE card_usage SET closed = true WHERE card_id = 1'],
  ] as const;
  // Those of a removed card that were not called end with it (removed-cards.test.ts).
  const KEPT = ENDS.filter(([when]) => when !== 'the card was removed');
  it.each(LOOKS.flatMap((look) => KEPT.map(([when, change]) => [look, when, change] as const)))(
    'a stop that is not made (%j) is dropped when %s',
    async (look, _, change) => {
      // Usage of long ago is not wanted at all.
      const month = new Date().toISOString().slice(0, 7);
      await db.store.results.ensurePartitions(month);
      await db.sql(`UPDATE card_usage SET month = '${month}-01'`);
      for (const cardId of [1, 2]) await db.store.stops.claim(sim(cardId), month, LEASE_MS, rules(look));
      expect(await db.store.stops.dropUnwanted(0, 10)).toEqual({ lastCardId: 2, dropped: 0 });
      await db.sql(change);
      expect(await db.store.stops.dropUnwanted(0, 1)).toEqual({ lastCardId: 1, dropped: 1 });
      expect(await db.store.stops.dropUnwanted(1, 1)).toEqual({ lastCardId: 2, dropped: 0 });
      expect(await db.store.stops.dropUnwanted(2, 1)).toEqual({ lastCardId: null, dropped: 0 });
    },
  );

  it.each(ENDS)('a stop whose call had no effect for a day is dropped when %s', async (_, change) => {
    const month = new Date().toISOString().slice(0, 7);
    await db.store.results.ensurePartitions(month);
    await db.sql(`UPDATE card_usage SET month = '${month}-01'`);
    await db.store.stops.claim(sim(1), month, LEASE_MS, UNLIMITED);
    const dropped = async () => (await db.store.stops.dropUnwanted(0, 10)).dropped;
    const calledAgo = (hours: number) =>
      db.sql(
        `UPDATE card_stops SET claimed_until = now(), charged_at = now() - ${hours} * interval '1 hour'`,
      );
    await calledAgo(25);
    expect(await dropped(), 'still wanted').toBe(0);
    await db.sql(change);
    await calledAgo(23);
    expect(await dropped(), 'it may take effect yet').toBe(0);
    await calledAgo(25);
    expect(await dropped()).toBe(1);
  });

  describe('an operator dismisses', () => {
    const dismiss = (cardIds: readonly number[] | null) => db.store.stops.dismiss(cardIds, BY);
    const listed = async (state: 'released' | 'requested') =>
      (await db.store.stops.list({ state, sinceMs: null, carrierId: null }, { offset: 0, limit: 10 })).items;

    it('what is held, observed, released or ordered, and not what was called', async () => {
      await claim(1, { maxPerHour: 0 });
      await claim(2, { mode: 'observe' });
      await claim(3, { maxPerHour: 0 });
      await db.store.stops.release([3], BY);
      await db.store.stops.order(4, MONTH, BY);
      await claim(5);
      expect((await listed('released')).map(({ cardId }) => cardId)).toEqual([3]);
      expect(await listed('requested')).toHaveLength(3);
      expect((await dismiss(null)).toSorted()).toEqual([1, 2, 3, 4]);
      expect(await states()).toEqual([...Array(4).fill('dismissed'), 'requested']);
      expect(await dismiss(null)).toEqual([]);
      expect(await claim(3), 'in enforce').toEqual({ state: 'done' });
      expect(await listed('released')).toEqual([]);
    });

    it('no stop whose call may take effect: refused it may be called again, acknowledged it may show', async () => {
      const { attempt } = (await claim(1)) as { attempt: number };
      await db.store.stops.acknowledge(1, MONTH, attempt);
      await claim(2);
      await db.sql('UPDATE card_stops SET claimed_until = clock_timestamp() WHERE card_id = 2');
      expect(await dismiss([1, 2])).toEqual([]);
      await db.store.stops.abandon(2, MONTH, 1, 'refused', true);
      expect(await dismiss([1, 2])).toEqual([2]);
    });
  });

  it('releases many held stops also by a plan that was made for few', async () => {
    const hold = (from: number, to: number) =>
      db.sql(
        `INSERT INTO card_stops (card_id, month, iccid, used_mb, state)
         SELECT i, '${MONTH}-01', 'x', 2, 'held' FROM generate_series($1::integer, $2::integer) i`,
        [from, to],
      );
    await db.sql('DELETE FROM card_stops');
    await db.sql('ALTER TABLE card_stops SET (autovacuum_enabled = false)');
    await hold(0, 0);
    await db.sql('ANALYZE card_stops');
    // Connections keep the plan of a statement that they have sent a few times.
    for (let cardId = 1; cardId <= 20; cardId += 1) {
      await hold(cardId, cardId);
      await db.store.stops.dismiss(null, BY);
    }
    await hold(1_000, 100_000);
    expect(await db.store.stops.dismiss(null, BY)).toHaveLength(10_000);
    expect(await db.store.stops.release(null, BY)).toHaveLength(10_000);
    expect(await takenOrders(db.store, 'stop', 2_000)).toHaveLength(0);
  });

  it('an operator stops a card whatever it has used, and again after it was resumed', async () => {
    await db.sql('UPDATE cards SET allowance_mb = NULL WHERE card_id = 1');
    expect(await db.store.stops.order(99, MONTH, BY)).toBe('unknown_card');
    expect(await db.store.stops.order(1, MONTH, BY)).toBe('ordered');
    expect(await takenOrders(db.store, 'stop')).toEqual([1]);
    const stop = { state: 'granted', month: MONTH };
    expect(await claim(1, { maxPerHour: 0 })).toEqual({ ...stop, attempt: 1 });
    expect(await db.store.stops.ofCard(1, 1)).toMatchObject([{ usedMb: OVER.usedMb, allowanceMb: null }]);
    expect((await db.store.stops.complete(sim(1), MONTH))?.after).toMatchObject({ authority: 'operator' });
    await db.sql('UPDATE cards SET stopped = false');
    expect(await db.store.stops.order(1, MONTH, BY)).toBe('ordered');
    expect(
      await db.store.stops.claim(sim(1), '2026-12', LEASE_MS, UNLIMITED),
      'the month turned',
    ).toMatchObject(stop);
    expect((await db.store.stopControl.read()).doneHour, 'a stop that was made counts').toBe(2);
  });

  it.each([
    ['unlimited', 'UPDATE cards SET allowance_mb = NULL'],
    ['without usage', 'DELETE FROM card_usage'],
    ['of a month long past', "UPDATE card_stops SET month = '2020-01-01'"],
  ])('counts the ordered stop of a card %s as unconfirmed until it is done', async (_, change) => {
    await db.store.stops.order(1, MONTH, BY);
    await claim(1);
    await db.store.stops.acknowledge(1, MONTH, 1);
    await db.sql("UPDATE card_stops SET pending_since = pending_since - interval '3 minutes'");
    await db.sql(change);
    expect(await db.store.stops.unconfirmed()).toBe(1);
    await db.sql("UPDATE card_stops SET state = 'done'");
    expect(await db.store.stops.unconfirmed()).toBe(0);
  });

  it('completes an order that is older than the month', async () => {
    await db.store.stops.order(1, MONTH, BY);
    expect((await db.store.stops.complete(sim(1), '2026-12'))?.after).toMatchObject({
      authority: 'operator',
    });
    expect((await db.store.stops.ofCard(1, 1))[0]).toMatchObject({ month: MONTH, state: 'done' });
  });

  it.each([
    ['that was not called', () => {}],
    ['whose call had no effect', () => claim(1, { maxPerHour: 0 })],
  ])('drops a released stop %s when its month is over', async (_, call) => {
    await claim(1, { maxPerHour: 0 });
    await db.store.stops.release([1], BY);
    await call();
    await db.sql('UPDATE card_stops SET claimed_until = clock_timestamp() WHERE claimed_until IS NOT NULL');
    expect(await db.store.stops.claim(sim(1), '2026-12', LEASE_MS, UNLIMITED)).toEqual({ state: 'not_over' });
    expect(await states()).toEqual([]);
  });
});
