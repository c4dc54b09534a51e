// A card id that is removed and given to another customer begins at zero: what the former card used, its stops and the runs that it waits in
// end with it.
import { describe, expect, it } from 'vitest';
import { UNLIMITED } from '../../support/stop-rules.ts';
import { addCards, describeRecordStore, iccidOf, reading, row, sim } from './stores.ts';

const MONTH = '2026-11';
const T = 1_795_251_272_123;
const LEASE_MS = 3_600_000;

describeRecordStore('a card id that is given to another customer', (db) => {
  const uses = (usedMb: number, atMs: number) =>
    db.store.results.write([reading(1, { month: MONTH, usedMb, atMs, basedOn: null })]);
  const remove = () => db.sql('DELETE FROM cards WHERE card_id = 1');
  const stops = () => db.sql('SELECT state FROM card_stops');

  describe.each([
    ['with another SIM', iccidOf(77)],
    ['with the same SIM', iccidOf(1)],
  ])('%s', (_, iccid) => {
    const sell = () => db.store.cards.importChunk([row(1, { iccid, allowanceMb: 1_000 })]);
    const claim = () => db.store.stops.claim(sim(1, iccid), MONTH, LEASE_MS, UNLIMITED);

    it('has used nothing, and is stopped by its own usage', async () => {
      await addCards(db.store, 1);
      await uses(900, T);
      await remove();
      await sell();
      expect((await db.store.cards.byIds([1]))[0]?.usage).toBeNull();
      expect(await db.store.cards.monthlyUsage(1, 12)).toEqual([]);
      await uses(200, T + 1_000);
      expect(await claim()).toEqual({ state: 'not_over' });
    });

    it.each<[string, () => Promise<unknown>]>([
      ['held', () => db.store.stops.claim(sim(1), MONTH, LEASE_MS, { ...UNLIMITED, maxPerHour: 0 })],
      ['ordered', () => db.store.stops.order(1, MONTH, { by: 'alice', reason: 'lost' })],
      [
        'done',
        async () => {
          await db.store.stops.claim(sim(1), MONTH, LEASE_MS, UNLIMITED);
          await db.store.stops.complete(sim(1), MONTH);
        },
      ],
    ])('has no stop, where the former one had one that was %s', async (__, decide) => {
      await addCards(db.store, 1);
      await uses(1_500, T);
      await decide();
      await remove();
      expect(await stops()).toEqual([]);
      await sell();
      await uses(1_200, Date.now() + 60_000);
      expect(await claim()).toMatchObject({ state: 'granted', attempt: 1 });
    });
  });

  it('keeps the stop whose call may still take effect, for the SIM that was called', async () => {
    await addCards(db.store, 1);
    await uses(1_500, T);
    await db.store.stops.claim(sim(1), MONTH, LEASE_MS, UNLIMITED);
    await remove();
    expect(await stops()).toEqual([{ state: 'requested' }]);
    expect(await db.store.stops.complete(sim(1), MONTH)).toMatchObject({ action: 'card.stop' });
  });

  it('waits in no run', async () => {
    await addCards(db.store, 1);
    await db.sql(
      "INSERT INTO resume_runs (reason, created_by, created_role) VALUES ('paid', 'alice', 'admin')",
    );
    await db.sql('INSERT INTO card_resumes (run_id, card_id) SELECT id, 1 FROM resume_runs');
    await remove();
    expect(await db.sql('SELECT state, last_error FROM card_resumes')).toEqual([
      { state: 'failed', last_error: 'the card was removed' },
    ]);
  });
});
