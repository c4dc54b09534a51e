// The queue of orders: which stops a reading orders, holds or observes, and who takes which orders. A claim that follows decides by
// what is true then.
import { beforeEach, describe, expect, it } from 'vitest';
import type { StopMode, StopRules } from '../../../src/domain/stops/stop.ts';
import type { OrderTurn } from '../../../src/store/ports/records/order-records.ts';
import { filledRun } from '../../support/resume-run.ts';
import { OF_FLEET, UNLIMITED } from '../../support/stop-rules.ts';
import { addCards, describeRecordStore, iccidOf, range, reading, sim } from './stores.ts';

const LEASE_MS = 3_600_000;
const MONTH = '2026-11';
const T = 1_795_251_272_123;
const OVER_MB = 1_500;
const MANY = 2_000;
const BY = { by: 'alice', reason: 'checked with the carrier' };
const ALL: OrderTurn = { most: 10, resumesFirst: 0, stops: true, resumes: true, mode: 'enforce' };
const JUMP = { factor: 900, baselineMbPerHour: 2, recentMbPerHour: 1_800, ...OF_FLEET };

describeRecordStore('orders', (db) => {
  const rules = (differing: Partial<StopRules>): StopRules => ({ ...UNLIMITED, ...differing });
  const claim = (cardId: number, differing: Partial<StopRules> = {}) =>
    db.store.stops.claim(sim(cardId), MONTH, LEASE_MS, rules(differing));
  const want = (cardIds: readonly number[], differing: Partial<StopRules> = {}, store = db.store) =>
    store.orders.want(cardIds, MONTH, rules(differing), () => true);
  const states = async (cardIds: readonly number[], differing: Partial<StopRules> = {}) =>
    (await want(cardIds, differing)).map(({ cardId, state }) => `${cardId} ${state}`);
  const rows = () => db.sql('SELECT card_id, state, held_by, attempts FROM card_stops ORDER BY card_id');
  const take = async (differing: Partial<OrderTurn> = {}, store = db.store) => {
    const turn = { ...ALL, ...differing };
    return (await store.orders.take(turn, LEASE_MS)).map(({ cardId }) => cardId);
  };
  const due = (differing: Partial<OrderTurn> = {}) => db.store.orders.due({ ...ALL, ...differing });

  async function over(...cardIds: number[]): Promise<void> {
    await addCards(db.store, ...cardIds);
    await db.store.results.write(
      cardIds.map((cardId) => reading(cardId, { month: MONTH, usedMb: OVER_MB, atMs: T, basedOn: null })),
    );
  }

  beforeEach(() => over(...range(6)));

  describe('by a reading', () => {
    it('are made for the cards that are over, once, and count nothing', async () => {
      await db.store.results.write([reading(1, { month: MONTH, usedMb: 1, atMs: T + 1, basedOn: T })]);
      await claim(2);
      await db.store.stops.complete(sim(2), MONTH);
      await claim(3);
      await claim(4, { maxPerHour: 0 });
      expect(await states([...range(6), 99])).toEqual(['5 ordered', '6 ordered']);
      expect(await states(range(6))).toEqual([]);
      expect((await db.store.stopControl.read()).doneHour).toBe(2);
      expect(await take()).toEqual([5, 6]);
      expect(await claim(6)).toEqual({ state: 'granted', month: MONTH, attempt: 1 });
    });

    it('are made only for cards that are polled, and for no card that is stopped', async () => {
      await db.sql('UPDATE cards SET stopped = true WHERE card_id = 1');
      await db.sql('UPDATE cards SET carrier_id = 7 WHERE card_id = 2');
      const wanted = await db.store.orders.want(
        [1, 2, 3],
        MONTH,
        UNLIMITED,
        ({ carrierId }) => carrierId !== 7,
      );
      expect(wanted.map(({ cardId }) => cardId)).toEqual([3]);
      expect(await db.store.orders.want([], MONTH, UNLIMITED, () => true)).toEqual([]);
    });

    it.each<[string, Partial<StopRules>, object]>([
      ['observed', { mode: 'observe' }, { state: 'observed' }],
      ['held', { maxPerHour: 0 }, { state: 'held', heldBy: 'budget_hour' }],
      ['held for the day', { maxPerDay: 0 }, { state: 'held', heldBy: 'budget_day' }],
    ])('a stop that is %s is written as a claim writes it, and is no order', async (_, differing, answer) => {
      expect(await claim(1, differing)).toMatchObject(answer);
      const wanted = await want(range(6), differing);
      expect(wanted.find(({ cardId }) => cardId === 6)).toMatchObject({ ...answer, isNew: true });
      const [byClaim, ...byWant] = await rows();
      for (const { card_id: _id, ...row } of byWant)
        expect(row).toEqual({
          state: byClaim?.state,
          held_by: byClaim?.held_by,
          attempts: byClaim?.attempts,
        });
      const again = await want(range(6), differing);
      expect(again.filter((stop) => stop.state !== 'ordered' && stop.isNew)).toEqual([]);
      expect(await take()).toEqual([]);
    });

    it('an observed stop is ordered by the next reading in mode enforce', async () => {
      await want([1], { mode: 'observe' });
      expect(await states([1])).toEqual(['1 ordered']);
      expect(await take()).toEqual([1]);
    });

    it('a jump of the readings holds', async () => {
      await db.store.stopControl.beginJump(JUMP);
      expect(await want([1])).toMatchObject([{ state: 'held', heldBy: 'usage_jump', isNew: true }]);
    });

    it('a jump of a carrier holds the stops of its cards', async () => {
      await db.sql('UPDATE cards SET carrier_id = 7 WHERE card_id IN (2, 3)');
      await db.store.stopControl.beginJump({ ...JUMP, carrierId: 7, isStep: true });
      expect(await states([1, 2])).toEqual(['1 ordered', '2 held']);
      await db.store.stopControl.beginJump({ ...JUMP, carrierId: 8 });
      expect(await db.store.stopControl.jump(), 'and of another one, of the fleet').toMatchObject({
        carrierId: null,
      });
      expect(await states([3, 4])).toEqual(['3 held', '4 held']);
    });

    it('the order for a SIM that was called before is for the new one, and the audit trail keeps that call', async () => {
      await claim(1);
      await db.sql(`UPDATE card_stops SET claimed_until = clock_timestamp()`);
      await db.sql(`UPDATE cards SET iccid = '${iccidOf(777)}' WHERE card_id = 1`);
      await db.store.results.write([
        reading(1, { month: MONTH, usedMb: OVER_MB, atMs: Date.now() + 1_000, basedOn: T }),
      ]);
      expect(await states([1])).toEqual(['1 ordered']);
      const ofStops = { sinceMs: null, untilMs: null, actor: null, action: 'card.stop', object: 'card 1' };
      const { items } = await db.store.audit.list(ofStops, { offset: 0, limit: 1 });
      expect(items[0]?.after).toMatchObject({ outcome: 'unknown', iccid: iccidOf(1) });
    });

    it('wait for no claim that is being counted', async () => {
      await db.sql('BEGIN');
      try {
        await db.sql('SELECT FROM stop_control FOR UPDATE');
        expect(await states([1])).toEqual(['1 ordered']);
        expect(await states([2], { maxPerHour: 0 })).toEqual(['2 held']);
        expect(await states([3], { mode: 'observe' })).toEqual(['3 observed']);
      } finally {
        await db.sql('COMMIT');
      }
    });

    it.each<[StopMode | 'spent', Partial<StopRules>]>([
      ['enforce', {}],
      ['observe', { mode: 'observe' }],
      ['spent', { maxPerHour: 0 }],
    ])('%s: three instances that see a whole fleet over write each card once', async (_, differing) => {
      await over(...range(MANY, 101));
      const instances = await Promise.all([db.another(), db.another(), db.another()]);
      const steps = range(MANY / 200).map((step) => range(200, 101 + 200 * (step - 1)));
      await Promise.all(
        instances.map(async (store, i) => {
          // Each begins elsewhere and has its cards in another order: they meet, and could deadlock.
          for (const [at] of steps.entries()) {
            const cardIds = steps[(at + i) % steps.length] ?? [];
            await want(i === 1 ? cardIds.toReversed() : cardIds, differing, store);
          }
        }),
      );
      expect((await db.sql('SELECT count(*)::integer AS n FROM card_stops'))[0]).toEqual({ n: MANY });
      expect((await db.store.stopControl.read()).doneHour).toBe(0);
    });
  });

  describe('due orders', () => {
    it('are taken once in a lease, by one of several instances', async () => {
      await want(range(6));
      expect([await due(), await due({ most: 2 }), await due({ stops: false })]).toEqual([6, 2, 0]);
      const instances = await Promise.all([db.another(), db.another(), db.another()]);
      const taken = await Promise.all(instances.map((store) => take({ most: 2 }, store)));
      const rest = await take();
      expect([...taken.flat(), ...rest].sort()).toEqual(range(6));
      expect([await due(), await take()]).toEqual([0, []]);
      await db.sql(
        "UPDATE card_stops SET due_at = clock_timestamp() - interval '1 second' WHERE card_id = 4",
      );
      expect(await take()).toEqual([4]);
    });

    it('name the card as it is now, and who ordered them', async () => {
      await want([1]);
      await db.sql(`UPDATE cards SET vendor_id = 'v-1', iccid = '${iccidOf(777)}' WHERE card_id = 1`);
      await db.store.stops.order(2, MONTH, BY);
      const card = { carrierId: 1, realNameVerified: false, vendorId: null, kind: 'stop' };
      expect(await db.store.orders.take(ALL, LEASE_MS)).toEqual([
        { ...card, cardId: 2, iccid: iccidOf(2), isOperators: true },
        { ...card, cardId: 1, iccid: iccidOf(777), vendorId: 'v-1', isOperators: false },
      ]);
    });

    it('are taken in turn: ordered stops first, released and over-package ones alternately, resumes last', async () => {
      for (const cardId of [1, 2]) await claim(cardId, { maxPerHour: 0 });
      await db.store.stops.release([1, 2], BY);
      await want([3, 4]);
      await db.store.stops.order(5, MONTH, BY);
      await db.sql('UPDATE cards SET stopped = true WHERE card_id = 6');
      await filledRun(db.store, { cardIds: [6] });
      const turns = await take({ most: 3 });
      expect(turns[0]).toBe(5);
      expect([1, 2].includes(turns[1] ?? 0) !== [1, 2].includes(turns[2] ?? 0), `${turns}`).toBe(true);
      expect((await take({ most: 2 })).toSorted((a, b) => a - b).map((id) => id > 2)).toEqual([false, true]);
      expect(await take()).toEqual([6]);
    });

    it('let resumes come before all stops as far as they have a share', async () => {
      await want(range(4));
      await db.sql('UPDATE cards SET stopped = true WHERE card_id > 4');
      await filledRun(db.store, { cardIds: [5, 6] });
      expect(await take({ most: 2, resumesFirst: 1 })).toHaveLength(2);
      expect(await take({ most: 1, resumes: false })).toHaveLength(1);
      expect(await due({ stops: false })).toBe(1);
    });

    it('wait while stops are only observed, but resumes go on', async () => {
      await want([1, 2]);
      await db.store.stops.order(1, MONTH, BY);
      await db.sql('UPDATE cards SET stopped = true WHERE card_id = 6');
      await filledRun(db.store, { cardIds: [6] });
      expect(await due({ mode: 'observe' })).toBe(1);
      await db.store.stopControl.setMode('observe', 'alice', 'looks');
      expect([await due(), await take()]).toEqual([1, [6]]);
      await db.store.stopControl.setMode('enforce', 'alice', 'right');
      expect(await take({ mode: 'observe' })).toEqual([1, 2]);
    });

    it('are dropped when their card is within its package again, before they were called', async () => {
      await want([1, 2]);
      await claim(2);
      await db.sql('UPDATE card_stops SET claimed_until = clock_timestamp()');
      await db.sql('UPDATE cards SET allowance_mb = 5000');
      expect(await claim(1)).toEqual({ state: 'not_over' });
      expect(await claim(2)).toEqual({ state: 'not_over' });
      expect(await rows(), 'a call may still take effect').toHaveLength(1);
      expect(await due()).toBe(0);
    });
  });

  it.each<[string, () => Promise<unknown>, object]>([
    [
      'the mode is observe',
      () => db.store.stopControl.setMode('observe', 'alice', 'looks'),
      { state: 'observed' },
    ],
    ['a jump began', () => db.store.stopControl.beginJump(JUMP), { state: 'held', heldBy: 'usage_jump' }],
    ['the allowance was raised', () => db.sql('UPDATE cards SET allowance_mb = 5000'), { state: 'not_over' }],
    [
      'the allowance was removed',
      () => db.sql('UPDATE cards SET allowance_mb = NULL'),
      { state: 'not_over' },
    ],
    [
      'a later reading is lower',
      () => db.store.results.write([reading(1, { month: MONTH, usedMb: 1, atMs: T + 1, basedOn: T })]),
      { state: 'not_over' },
    ],
    [
      'a reading is in doubt',
      () => db.sql('UPDATE card_usage SET suspected_mb = 9999'),
      { state: 'not_over' },
    ],
    ['the month was closed', () => db.sql('UPDATE card_usage SET closed = true'), { state: 'not_over' }],
    [
      'the card has another SIM',
      () => db.sql(`UPDATE cards SET iccid = '${iccidOf(777)}' WHERE card_id = 1`),
      { state: 'other_iccid' },
    ],
    ['the card was removed', () => db.sql('DELETE FROM cards WHERE card_id = 1'), { state: 'not_over' }],
    ['a run resumes the card', () => filledRun(db.store, { cardIds: [1] }), { state: 'resuming' }],
  ])('a claim after an order grants nothing when %s', async (_, change, answer) => {
    expect(await states([1])).toEqual(['1 ordered']);
    await change();
    expect(await claim(1)).toMatchObject(answer);
    expect((await db.store.stopControl.read()).doneHour).toBe(0);
  });

  it('grants no more than the budget of what was ordered', async () => {
    const budget = { maxPerHour: 2 };
    expect(await states(range(6), budget)).toHaveLength(6);
    const claims = await Promise.all(range(6).map((cardId) => claim(cardId, budget)));
    expect(claims.filter(({ state }) => state === 'granted')).toHaveLength(2);
    expect((await db.store.stopControl.read()).doneHour).toBe(2);
  });

  describe('stops whose readings are compared with each other', () => {
    const FOR_MS = 60_000;
    const watched = async (left: number | null, forMs = FOR_MS) =>
      db.store.stopControl.noteWatched(left, await db.store.stopControl.unwatchedLeft(), forMs);

    beforeEach(async () => {
      await want(range(6));
    });

    it('are called up to a number, and then wait until readings were compared again', async () => {
      await watched(2);
      expect(await due()).toBe(2);
      expect((await take()).length).toBe(2);
      expect(await claim(1)).toMatchObject({ state: 'granted' });
      expect(await claim(2)).toMatchObject({ state: 'granted' });
      expect(await db.store.stopControl.unwatchedLeft()).toBe(0);
      expect([await due(), await take()]).toEqual([0, []]);
      expect(await claim(3)).toEqual({ state: 'unwatched' });
      expect((await rows()).map(({ state }) => state)).toEqual(Array(6).fill('requested'));
      await watched(null);
      expect(await take()).toEqual([]);
      await watched(4);
      expect((await take()).toSorted()).toEqual([3, 4, 5, 6]);
      expect(await claim(3)).toMatchObject({ state: 'granted' });
    });

    it('a call that was made while readings were compared is not granted once more', async () => {
      await watched(2);
      const before = await db.store.stopControl.unwatchedLeft();
      await claim(1);
      await db.store.stopControl.noteWatched(2, before, FOR_MS);
      expect(await db.store.stopControl.unwatchedLeft()).toBe(1);
      await db.store.stopControl.noteWatched(2, 1, FOR_MS);
      expect(await db.store.stopControl.unwatchedLeft()).toBe(2);
    });

    it('are due at once when another caller took the last call', async () => {
      await watched(6);
      expect((await take()).length).toBe(6);
      await watched(0);
      expect(await claim(4)).toEqual({ state: 'unwatched' });
      await watched(20);
      expect(await take()).toEqual([4]);
    });

    it('do not wait if nothing compares, nor if an operator accepted the readings', async () => {
      await watched(0, -1);
      expect(await claim(1)).toMatchObject({ state: 'granted' });
      await watched(0);
      expect(await claim(2)).toEqual({ state: 'unwatched' });
      await db.store.stopControl.beginJump(JUMP);
      expect(await claim(3)).toMatchObject({ state: 'held', heldBy: 'usage_jump' });
      await db.store.stopControl.setMode('enforce', 'alice', 'they are right');
      expect(await claim(2)).toMatchObject({ state: 'granted' });
      expect(await due()).toBe(3);
    });

    it('the orders of operators, and resumes, wait for none of it', async () => {
      await watched(0);
      await db.store.stops.order(1, MONTH, BY);
      await claim(2, { maxPerHour: 0 });
      await db.sql(
        `UPDATE card_stops SET state = 'held', held_by = 'budget_hour', due_at = NULL WHERE card_id = 2`,
      );
      await db.store.stops.release([2], BY);
      expect((await take()).toSorted()).toEqual([1, 2]);
      expect(await claim(1)).toMatchObject({ state: 'granted' });
      expect(await claim(2)).toMatchObject({ state: 'granted' });
      expect(await db.store.stopControl.unwatchedLeft(), 'and take no call of the others').toBe(0);
    });

    it('are listed with what their cards showed before', async () => {
      await db.sql('UPDATE card_usage SET jump_from_mb = 400 WHERE card_id = 2');
      await db.sql('UPDATE cards SET carrier_id = 7 WHERE card_id = 3');
      await claim(1);
      const cards = await db.store.stopControl.overSince(FOR_MS);
      const base = {
        carrierId: 1,
        beforeMb: null,
        shownMb: OVER_MB,
        waits: true,
        requestedAtMs: expect.any(Number),
      };
      expect(cards.length).toBe(6);
      expect(cards).toEqual(
        expect.arrayContaining([
          { ...base, cardId: 1, waits: false },
          { ...base, cardId: 2, beforeMb: 400 },
          { ...base, cardId: 3, carrierId: 7 },
        ]),
      );
      await db.store.stopControl.beginJump({ ...JUMP, carrierId: 7 });
      expect((await db.store.stopControl.overSince(FOR_MS)).length, 'without what is held').toBe(5);
      await db.sql(`UPDATE card_stops SET requested_at = requested_at - interval '2 minutes'`);
      expect(await db.store.stopControl.overSince(FOR_MS)).toEqual([]);
    });
  });
});
