// A look at the stops of many cards: what it answers, what it writes, and that it takes nothing. A claim that follows decides by
// what is true then.
import { beforeEach, expect, it } from 'vitest';
import type { StopMode, StopRules } from '../../../src/domain/stops/stop.ts';
import type { StopLook } from '../../../src/store/ports/records/stop-records.ts';
import { UNLIMITED } from '../../support/stop-rules.ts';
import { addCards, describeRecordStore, iccidOf, range, reading, sim } from './stores.ts';

const LEASE_MS = 3_600_000;
const MONTH = '2026-11';
const T = 1_795_251_272_123;
const OVER_MB = 1_500;
const MANY = 2_000;
const BY = { by: 'alice', reason: 'checked with the carrier' };
const JUMP = { factor: 900, baselineMbPerHour: 2, recentMbPerHour: 1_800 };

describeRecordStore('looks at stops', (db) => {
  const rules = (differing: Partial<StopRules>): StopRules => ({ ...UNLIMITED, ...differing });
  const claim = (cardId: number, differing: Partial<StopRules> = {}) =>
    db.store.stops.claim(sim(cardId), MONTH, LEASE_MS, rules(differing));
  const look = (cardIds: readonly number[], differing: Partial<StopRules> = {}, store = db.store) =>
    store.stops.look(
      cardIds.map((cardId) => sim(cardId)),
      MONTH,
      rules(differing),
    );
  const one = async (cardId: number, differing: Partial<StopRules> = {}) =>
    (await look([cardId], differing)).get(cardId);
  const rows = () => db.sql('SELECT card_id, state, held_by, attempts FROM card_stops ORDER BY card_id');

  async function over(...cardIds: number[]): Promise<void> {
    await addCards(db.store, ...cardIds);
    await db.store.results.write(
      cardIds.map((cardId) => reading(cardId, { month: MONTH, usedMb: OVER_MB, atMs: T, basedOn: null })),
    );
  }

  beforeEach(() => over(...range(6)));

  it('answers for each card, and claims and counts nothing', async () => {
    await db.store.results.write([reading(1, { month: MONTH, usedMb: 1, atMs: T + 1, basedOn: T })]);
    await claim(2);
    await db.store.stops.complete(sim(2), MONTH);
    await claim(3);
    await claim(4, { maxPerHour: 0 });
    await claim(5);
    await db.store.stops.acknowledge(5, MONTH, 1);
    const before = await rows();
    const answers = await look([...range(6), 99]);
    expect(answers).toEqual(
      new Map<number, StopLook>([
        [1, { state: 'not_over' }],
        [2, { state: 'done' }],
        [3, { state: 'claimed' }],
        [4, { state: 'held', heldBy: 'budget_hour', isNew: false }],
        [5, { state: 'unconfirmed' }],
        [6, { state: 'open' }],
        [99, { state: 'not_over' }],
      ]),
    );
    expect(await rows()).toEqual(before);
    expect((await db.store.stopControl.read()).doneHour).toBe(3);
    expect(await claim(6)).toEqual({ state: 'granted', month: MONTH, attempt: 1 });
  });

  it('asks for the SIM that the gateway shows', async () => {
    const other = sim(1, iccidOf(777));
    expect(await db.store.stops.look([other, sim(2)], MONTH, UNLIMITED)).toEqual(
      new Map<number, StopLook>([
        [1, { state: 'other_iccid' }],
        [2, { state: 'open' }],
      ]),
    );
  });

  it('answers for no card', async () => {
    expect(await look([])).toEqual(new Map());
  });

  it.each<[string, Partial<StopRules>, StopLook & { isNew: boolean }]>([
    ['observed', { mode: 'observe' }, { state: 'observed', isNew: true }],
    ['held', { maxPerHour: 0 }, { state: 'held', heldBy: 'budget_hour', isNew: true }],
    ['held for the day', { maxPerDay: 0 }, { state: 'held', heldBy: 'budget_day', isNew: true }],
  ])('writes what is %s as a claim does, each card once', async (_, differing, answer) => {
    const claimed = await claim(1, differing);
    expect(claimed).toEqual(answer);
    const answers = await look(range(6), differing);
    expect(answers.get(1)).toEqual({ ...answer, isNew: false });
    expect(answers.get(6)).toEqual(answer);
    const [byClaim, ...byLook] = await rows();
    for (const { card_id: _id, ...row } of byLook)
      expect(row).toEqual({ state: byClaim?.state, held_by: byClaim?.held_by, attempts: byClaim?.attempts });
    expect((await look(range(6), differing)).get(6)).toEqual({ ...answer, isNew: false });
    expect(await rows()).toEqual([byClaim, ...byLook]);
  });

  it('a jump of the readings holds what it looks at', async () => {
    await db.store.stopControl.beginJump(JUMP);
    expect(await one(1)).toEqual({ state: 'held', heldBy: 'usage_jump', isNew: true });
  });

  it('leaves what an operator ordered or released open, and in mode observe to wait', async () => {
    await claim(1, { maxPerHour: 0 });
    await db.store.stops.release([1], BY);
    await db.store.stops.order(2, MONTH, BY);
    expect([...(await look([1, 2], { maxPerHour: 0 })).values()]).toEqual([
      { state: 'open' },
      { state: 'open' },
    ]);
    expect([...(await look([1, 2], { mode: 'observe' })).values()]).toEqual([
      { state: 'observed', isNew: false },
      { state: 'observed', isNew: false },
    ]);
    expect((await rows()).map(({ state }) => state)).toEqual(['requested', 'requested']);
    expect(await claim(1, { maxPerHour: 0 })).toMatchObject({ state: 'granted' });
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
  ])('a claim after an open look grants nothing when %s', async (_, change, answer) => {
    expect(await one(1)).toEqual({ state: 'open' });
    await change();
    expect(await claim(1)).toMatchObject(answer);
    expect((await db.store.stopControl.read()).doneHour).toBe(0);
  });

  it('grants no more than the budget of what looked open', async () => {
    const budget = { maxPerHour: 2 };
    expect([...(await look(range(6), budget)).values()].every(({ state }) => state === 'open')).toBe(true);
    const claims = await Promise.all(range(6).map((cardId) => claim(cardId, budget)));
    expect(claims.filter(({ state }) => state === 'granted')).toHaveLength(2);
    expect((await db.store.stopControl.read()).doneHour).toBe(2);
  });

  it('waits for no claim that is being counted', async () => {
    await db.sql('BEGIN');
    try {
      await db.sql('SELECT FROM stop_control FOR UPDATE');
      expect(await one(1)).toEqual({ state: 'open' });
      expect(await one(2, { maxPerHour: 0 })).toMatchObject({ state: 'held' });
      expect(await one(3, { mode: 'observe' })).toMatchObject({ state: 'observed' });
    } finally {
      await db.sql('COMMIT');
    }
  });

  it.each<[StopMode | 'spent', Partial<StopRules>]>([
    ['observe', { mode: 'observe' }],
    ['spent', { maxPerHour: 0 }],
  ])('%s: three instances that look at a whole fleet write each card once', async (_, differing) => {
    await over(...range(MANY, 101));
    const instances = await Promise.all([db.another(), db.another(), db.another()]);
    const steps = range(MANY / 200).map((step) => range(200, 101 + 200 * (step - 1)));
    const news = await Promise.all(
      instances.map(async (store, i) => {
        let isNew = 0;
        // Each begins elsewhere and has its cards in another order: they meet, and could deadlock.
        for (const [at] of steps.entries()) {
          const cardIds = steps[(at + i) % steps.length] ?? [];
          const answers = await look(i === 1 ? cardIds.toReversed() : cardIds, differing, store);
          isNew += [...answers.values()].filter((answer) => 'isNew' in answer && answer.isNew).length;
        }
        return isNew;
      }),
    );
    expect(news.reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(MANY);
    const { held, observed, doneHour } = await db.store.stopControl.read();
    expect([held + observed, doneHour]).toEqual([MANY, 0]);
    expect((await db.sql('SELECT count(*)::integer AS n FROM card_stops'))[0]).toEqual({ n: MANY });
  });
});
