// The promise as a number: cards that are over their package, run, and have nothing open. The walk finds them, and a reader counts
// those that have been found so for ten minutes.
import { beforeEach, describe, expect, it } from 'vitest';
import type { StopRules } from '../../../src/domain/stops/stop.ts';
import { UNLIMITED } from '../../support/stop-rules.ts';
import { addCards, describeRecordStore, iccidOf, reading, sim } from './stores.ts';

const LEASE_MS = 3_600_000;
const MONTH = '2026-11';
const T = 1_795_251_272_123;
const ALL = Number.MAX_SAFE_INTEGER;
const OBSERVE: StopRules = { ...UNLIMITED, mode: 'observe' };
const SPENT: StopRules = { ...UNLIMITED, maxPerHour: 0 };

describeRecordStore('cards over their package that run', (db) => {
  const walk = (month = MONTH) => db.store.stops.sweep(0, ALL, month, 2);
  const later = (minutes = 10) =>
    db.sql(`UPDATE cards_over_running SET seen_at = seen_at - interval '${minutes} minutes'`);
  /** After a walk and the time of grace. */
  async function counted(): Promise<readonly number[]> {
    await walk();
    await later();
    const { overRunning, runsOver } = db.store.stops;
    const why = (await runsOver(1, MONTH))?.why;
    expect(why === 'over_running', 'as explain says of the card').toBe(
      ((await overRunning())?.count ?? 0) > 0,
    );
    return (await db.store.stops.overRunning())?.cardIds ?? expect.unreachable('a walk has ended');
  }
  const claim = (rules = UNLIMITED) => db.store.stops.claim(sim(1), MONTH, LEASE_MS, rules);
  const spared = async () => {
    const filter = { state: 'spared', sinceMs: null, carrierId: null } as const;
    const { items, total } = await db.store.stops.list(filter, { offset: 0, limit: 10 });
    expect(total).toBe(items.length);
    return items.map(({ cardId }) => cardId);
  };
  const runs = () => db.sql('UPDATE cards SET stopped = false');
  const uses = async (usedMb: number, atMs: number, basedOn: number | null = null) => {
    await db.store.results.write([reading(1, { month: MONTH, usedMb, atMs, basedOn })]);
    await db.sql('UPDATE card_usage u SET iccid = c.iccid FROM cards c WHERE c.card_id = u.card_id');
  };

  beforeEach(async () => {
    await addCards(db.store, 1, 2);
    await uses(1_500, T);
  });

  it('are not known before a walk of the month has ended, from the first card on', async () => {
    expect(await db.store.stops.overRunning()).toBeNull();
    await db.store.stops.sweep(1, ALL, MONTH, 2);
    expect(await db.store.stops.overRunning(), 'it began in the middle').toBeNull();
    await db.store.stops.sweep(0, 1, MONTH, null);
    expect(await db.store.stops.overRunning(), 'it goes on').toBeNull();
    await db.store.stops.sweep(1, ALL, MONTH, 2);
    expect(await db.store.stops.overRunning()).toEqual({ count: 0, atMs: expect.any(Number), cardIds: [] });
  });

  it('returns how many cards of a carrier have a counter in doubt', async () => {
    expect(await walk()).toEqual([]);
    await db.sql('UPDATE card_usage SET suspected_mb = 1');
    expect(await walk()).toEqual([{ carrierId: 1, cards: 1 }]);
    expect(await walk('2026-12'), 'of another month').toEqual([]);
  });

  it('count after the time of grace, whatever readings and refused calls come meanwhile', async () => {
    await walk();
    await later(9);
    expect((await db.store.stops.overRunning())?.count).toBe(0);
    await uses(1_600, T + 1, T);
    const { attempt } = (await claim()) as { attempt: number };
    await walk();
    await db.store.stops.abandon(1, MONTH, attempt, 'refused', true);
    await walk();
    await later(1);
    expect(await db.store.stops.overRunning()).toMatchObject({ count: 1, cardIds: [1] });
  });

  it('a card that is stopped since the walk does not count', async () => {
    expect(await counted()).toEqual([1]);
    await claim();
    await db.store.stops.complete(sim(1), MONTH);
    expect((await db.store.stops.overRunning())?.count, 'without another walk').toBe(0);
    expect(await counted()).toEqual([]);
    await runs();
    expect(await counted(), 'it runs again, and no operator of cardpoll resumed it').toEqual([1]);
    expect(await db.store.stops.runsOver(1, MONTH)).toEqual({ why: 'over_running', stop: 'done' });
  });

  describe('but not', () => {
    it.each<[string, () => Promise<unknown>]>([
      ['held, since the budget is spent', () => claim(SPENT)],
      ['observed', () => claim(OBSERVE)],
      [
        'dismissed',
        async () => {
          await claim(SPENT);
          await db.store.stops.dismiss([1], { by: 'me', reason: 'why' });
        },
      ],
      [
        'acknowledged without effect: a figure of its own',
        async () => {
          const { attempt } = (await claim()) as { attempt: number };
          await db.store.stops.acknowledge(1, MONTH, attempt);
        },
      ],
      ['unlimited', () => db.sql('UPDATE cards SET allowance_mb = NULL')],
      ['in doubt', () => db.sql('UPDATE card_usage SET suspected_mb = 1')],
      ['of a month that is closed', () => db.sql('UPDATE card_usage SET closed = true')],
      ['topped up', () => db.sql('UPDATE cards SET allowance_mb = 3000')],
      [
        'with a new SIM that was not read yet',
        () => db.sql(`UPDATE cards SET iccid = '${iccidOf(777)}' WHERE card_id = 1`),
      ],
      ['removed', () => db.sql('DELETE FROM cards WHERE card_id = 1')],
    ])('%s', async (_, change) => {
      expect(await counted(), 'before').toEqual([1]);
      await change();
      expect((await db.store.stops.overRunning())?.count).toBe(0);
      expect(await counted()).toEqual([]);
    });

    it('resumed by an operator, until the allowance is raised and exceeded again', async () => {
      await claim();
      await db.store.stops.complete(sim(1), MONTH);
      await db.sql(`UPDATE card_stops SET state = 'resumed', resumed_at = clock_timestamp()`);
      expect(await spared(), 'still stopped').toEqual([]);
      await runs();
      expect(await counted()).toEqual([]);
      expect(await spared()).toEqual([1]);
      expect(await db.store.stops.runsOver(1, MONTH)).toEqual({ why: 'spared', stop: 'resumed' });
      await db.sql('UPDATE cards SET allowance_mb = 3000 WHERE card_id = 1');
      await uses(3_500, Date.now() + 2_000, T);
      expect(await counted()).toEqual([1]);
      expect(await spared()).toEqual([]);
    });
  });

  it('a card with an exchanged SIM counts by the readings of the SIM that it has', async () => {
    const exchange = async (a: number, b: number) => {
      await db.sql(`UPDATE cards SET iccid = '${iccidOf(999)}' WHERE card_id = ${a}`);
      await db.sql(`UPDATE cards SET iccid = '${iccidOf(a)}' WHERE card_id = ${b}`);
      await db.sql(`UPDATE cards SET iccid = '${iccidOf(b)}' WHERE card_id = ${a}`);
    };
    expect(await counted()).toEqual([1]);
    await exchange(1, 2);
    expect(await counted()).toEqual([]);
    await uses(1_600, Date.now() + 2_000, T);
    expect(await counted()).toEqual([1]);
  });

  it('begin again with the month, and with a walk from its first card', async () => {
    expect(await counted()).toEqual([1]);
    await db.store.stops.sweep(1, ALL, '2026-12', 2);
    expect(await db.store.stops.overRunning(), 'a walk over the turn of the month').toBeNull();
    await walk('2026-12');
    expect(await db.store.stops.overRunning()).toMatchObject({ count: 0, cardIds: [] });
  });
});
