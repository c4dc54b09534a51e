// Held stops end with their cause: the budget of an hour and a jump of the readings pass, and a reading taken after that decides.
// What stays doubtful waits for an operator.
import { beforeEach, expect, it } from 'vitest';
import type { JumpEnd } from '../../../src/domain/results/usage-growth.ts';
import type { StopRules } from '../../../src/domain/stops/stop.ts';
import { OF_FLEET, UNLIMITED } from '../../support/stop-rules.ts';
import { addCards, describeRecordStore, range, reading, sim, wantedStops } from './stores.ts';

const MONTH = '2026-11';
const OVER_MB = 1_025.5;
const JUMP = { factor: 900, baselineMbPerHour: 2, recentMbPerHour: 1_800, ...OF_FLEET };

describeRecordStore('the end of holds', (db) => {
  const claim = (cardId: number, differing: Partial<StopRules> = {}) =>
    db.store.stops.claim(sim(cardId), MONTH, 3_600_000, {
      ...UNLIMITED,
      ...differing,
    });
  const held = (heldBy: string, isNew: boolean) => ({ state: 'held', heldBy, isNew });
  const wanted = () => wantedStops(db.store, range(3), MONTH);
  const ends = async (cardId: number) => {
    const [stop] = await db.store.stops.ofCard(cardId, 1);
    return [stop?.heldFor, stop?.heldUntilMs];
  };
  /** All that happened so far happened so much earlier. */
  async function passes(minutes: number): Promise<void> {
    const earlier = (column: string) => `${column} = ${column} - interval '${minutes} minutes'`;
    await db.sql(`UPDATE card_stops SET ${earlier('requested_at')}, ${earlier('charged_at')}`);
    await db.sql(`UPDATE card_polls SET ${earlier('carddata_at')}`);
    await db.sql(`UPDATE card_usage SET ${earlier('read_at')}`);
    await db.sql(`UPDATE stop_control SET minute = minute - ${minutes}, ${earlier('jump_since')},
      ${earlier('jump_over_at')}, ${earlier('jump_doubtful_until')}`);
  }
  /** A poll that shows what was known; the gateway's answer changes nothing. */
  async function polled(...cardIds: readonly number[]): Promise<void> {
    const polledAtMs = Math.floor(await db.store.now()) + 5;
    await db.store.results.write(
      cardIds.map((cardId) => ({ cardId, taskType: 'carddata' as const, polledAtMs })),
    );
  }
  async function jumps(end: JumpEnd, ...held: readonly number[]): Promise<void> {
    await db.store.stopControl.beginJump(JUMP);
    for (const cardId of held) await claim(cardId);
    await db.store.stopControl.endJump(end);
  }

  beforeEach(async () => {
    await addCards(db.store, ...range(3));
    const atMs = Math.floor(await db.store.now()) - 5_000;
    await db.store.results.write(
      range(3).map((cardId) => reading(cardId, { month: MONTH, usedMb: OVER_MB, atMs, basedOn: null })),
    );
  });

  it('what a jump held is judged again when it is over, by a reading taken after that', async () => {
    await db.store.stopControl.beginJump(JUMP);
    expect([await claim(1), await claim(1)]).toEqual([held('usage_jump', true), held('usage_jump', false)]);
    await claim(2);
    await polled(1, 2);
    expect(await wanted(), 'the jump is on').toEqual([]);
    expect(await ends(1)).toEqual(['jump_end', null]);
    await passes(1);
    await db.store.stopControl.endJump('back');
    expect(await claim(1), 'read before its end').toEqual(held('usage_jump', false));
    expect(await ends(1)).toEqual(['reading', expect.any(Number)]);
    expect(await db.store.stopControl.read()).toMatchObject({
      held: 2,
      heldForOperator: 0,
      heldUntilMs: null,
    });
    await passes(1);
    await polled(1);
    expect(await wanted()).toEqual([1, 3]);
    expect(await claim(1)).toMatchObject({ state: 'granted' });
    expect(await claim(2), 'not read since').toEqual(held('usage_jump', false));
    expect(await ends(1)).toEqual([null, null]);
  });

  it.each(['new_level', 'off'] as const)(
    'what a jump held that ended as %s waits for an operator',
    async (end) => {
      await jumps(end, 1);
      await passes(90);
      await jumps('back', 2);
      await passes(1);
      await polled(1, 2);
      expect(await claim(1)).toEqual(held('usage_jump', false));
      expect(await ends(1)).toEqual(['operator', null]);
      expect(await db.store.stopControl.read()).toMatchObject({ held: 2, heldForOperator: 1 });
      expect(await claim(2), 'of the next jump').toMatchObject({ state: 'granted' });
    },
  );

  it('what was held before an accepted jump went on waits for an operator', async () => {
    await db.store.stopControl.beginJump(JUMP);
    await claim(1);
    await db.store.stopControl.setMode('enforce', 'alice', 'right');
    await db.store.stopControl.beginJump({
      factor: 30,
      baselineMbPerHour: 1_800,
      recentMbPerHour: 54_000,
      ...OF_FLEET,
    });
    await db.store.stopControl.endJump('back');
    await passes(1);
    await polled(1);
    expect(await claim(1)).toEqual(held('usage_jump', false));
  });

  it('cards that went over as a jump began are known with what they showed before, until they are not over', async () => {
    const { stopControl, results } = db.store;
    const now = Math.floor(await db.store.now());
    const reads = (cardId: number, usedMb: number, fromMb: number | null, basedOn: number | null = null) => {
      const jump = fromMb === null ? null : { fromMb, fromUsedMb: fromMb, atMs: now };
      const atMs = basedOn === null ? now : now + 1_000;
      return results.write([reading(cardId, { month: MONTH, usedMb, atMs, basedOn, jump })]);
    };
    await addCards(db.store, ...range(3).map((id) => id + 10));
    await reads(11, 1_600, 200);
    await reads(12, 2_400, null);
    await reads(13, 800, 100);
    await claim(11);
    expect(await stopControl.overSinceJump(), 'no jump').toEqual([]);
    expect(await stopControl.noteStep()).toBe(false);
    await stopControl.beginJump(JUMP);
    await claim(12);
    const found = await stopControl.overSinceJump();
    expect(found.toSorted((a, b) => a.shownMb - b.shownMb)).toMatchObject([
      { cardId: 11, carrierId: expect.any(Number), beforeMb: 200, shownMb: 1_600 },
      { cardId: 12, beforeMb: null, shownMb: 2_400 },
    ]);
    expect([await stopControl.noteStep(), await stopControl.noteStep()]).toEqual([true, false]);
    expect(await stopControl.jump()).toMatchObject({ isStep: true });
    expect((await stopControl.read()).jump).toMatchObject({ isStep: true });
    await reads(11, 201, null, now);
    expect(await stopControl.overSinceJump()).toMatchObject([{ beforeMb: null, shownMb: 2_400 }]);
    await stopControl.endJump('back');
    await stopControl.beginJump(JUMP);
    expect(await stopControl.jump(), 'another one').toMatchObject({ isStep: false });
  });

  it('what the budget of an hour held is judged again an hour later, and counts then', async () => {
    for (const cardId of range(3)) await claim(cardId, { maxPerHour: 1 });
    await polled(2, 3);
    expect(await claim(2), 'the budget grew').toEqual(held('budget_hour', false));
    await passes(61);
    expect(await claim(2), 'not read since').toEqual(held('budget_hour', false));
    expect((await db.store.stopControl.read()).heldUntilMs).toBeLessThan(await db.store.now());
    await polled(2, 3);
    expect(await claim(2, { maxPerHour: 1 })).toMatchObject({ state: 'granted' });
    expect(await claim(3, { maxPerHour: 1 }), 'for another hour').toEqual(held('budget_hour', false));
    await polled(3);
    expect(await wanted()).not.toContain(3);
    expect(await db.store.stopControl.read()).toMatchObject({ doneHour: 1, doneDay: 2, held: 1 });
    await passes(61);
    await polled(3);
    expect(await claim(3, { maxPerHour: 1, maxPerDay: 2 })).toEqual(held('budget_day', true));
    await passes(25 * 60);
    await polled(3);
    expect(await claim(3), 'the last brake is an operator').toEqual(held('budget_day', false));
    expect(await ends(3)).toEqual(['operator', null]);
  });

  it('a card whose counter fell meanwhile waits for an operator: what it counted before may be wrong', async () => {
    await jumps('back', 1, 2);
    await db.sql('UPDATE card_usage SET last_reading_mb = 12 WHERE card_id = 1');
    await passes(1);
    await polled(1, 2);
    expect(await claim(1)).toEqual(held('reading_fell', true));
    await polled(1);
    expect(await claim(1)).toEqual(held('reading_fell', false));
    expect(await claim(2)).toMatchObject({ state: 'granted' });
    expect(await db.store.stopControl.read()).toMatchObject({ held: 1, heldForOperator: 1, doneHour: 1 });
    expect(await db.store.stops.release([1], { by: 'alice', reason: 'a reset' })).toEqual([1]);
    expect(await claim(1)).toMatchObject({ state: 'granted' });
  });

  it('a card that is not over any more is not stopped, and one under suspicion waits', async () => {
    await jumps('back', 1, 2);
    await db.sql('UPDATE card_usage SET used_mb = 3 WHERE card_id = 1');
    await db.sql('UPDATE card_usage SET suspected_mb = 3 WHERE card_id = 2');
    await passes(1);
    await polled(1, 2);
    expect([await claim(1), await claim(2)]).toEqual([{ state: 'not_over' }, { state: 'not_over' }]);
    expect(await wanted()).toEqual([3]);
  });

  it('racing callers judge a held stop once', async () => {
    await jumps('back', 1);
    await passes(1);
    await polled(1);
    const stores = await Promise.all(range(3).map(() => db.another()));
    const claims = await Promise.all(
      stores.map((store) => store.stops.claim(sim(1), MONTH, 3_600_000, UNLIMITED)),
    );
    expect(claims.filter(({ state }) => state === 'granted')).toHaveLength(1);
    expect((await db.store.stopControl.read()).doneHour).toBe(1);
  });

  it('a dismissed one stays so, and in mode observe none is called', async () => {
    await jumps('back', 1, 2);
    await db.store.stops.dismiss([1], { by: 'alice', reason: 'wrong' });
    await passes(1);
    await polled(1, 2);
    expect(await claim(1)).toEqual({ state: 'done' });
    expect(await claim(2, { mode: 'observe' })).toMatchObject({ state: 'observed' });
    expect((await db.store.stopControl.read()).doneHour).toBe(0);
  });
});
