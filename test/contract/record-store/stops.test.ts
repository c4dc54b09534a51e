// Stop claims: one caller at a time, at most one stop a card and month, nothing forgotten when a caller dies.
import { expect, it } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { addCards, describeRecordStore, followChanges, iccidOf, range } from './stores.ts';

const HOUR_MS = 3_600_000;

function stopOf(cardId: number, month = '2026-11') {
  return { cardId, iccid: iccidOf(cardId), month, usedMb: 1025.5, allowanceMb: 1024 };
}

describeRecordStore('stops', (db) => {
  it('grants one of many racing callers', async () => {
    const stores = await Promise.all(range(6).map(() => db.another()));
    const claims = await Promise.all(stores.map((store) => store.stops.claim(stopOf(1), HOUR_MS)));
    expect(claims.filter((claim) => claim.state === 'granted')).toHaveLength(1);
    expect(claims.filter((claim) => claim.state === 'held')).toHaveLength(5);
  });

  it('is done once completed, and the card is stopped', async () => {
    await addCards(db.store, 1, 2);
    const mark = await db.store.cards.changeMark();
    await db.store.stops.claim(stopOf(1), HOUR_MS);
    await db.store.stops.complete(1, '2026-11');
    expect(await db.store.stops.claim(stopOf(1), HOUR_MS)).toEqual({ state: 'done' });
    expect(await db.store.cards.find('1')).toMatchObject({ stopped: true });
    expect(await db.store.cards.find('2')).toMatchObject({ stopped: false });
    expect((await followChanges(db.store, mark)).changed).toEqual([1]);
    await db.store.stops.complete(1, '2026-11');
    expect(await db.sql('SELECT state, used_mb, completed_at IS NOT NULL AS dated FROM card_stops')).toEqual([
      { state: 'done', used_mb: 1025.5, dated: true },
    ]);
  });

  it('keeps months and cards apart', async () => {
    await db.store.stops.claim(stopOf(1), HOUR_MS);
    await db.store.stops.complete(1, '2026-11');
    expect(await db.store.stops.claim(stopOf(1, '2026-12'), HOUR_MS)).toEqual({ state: 'granted' });
    expect(await db.store.stops.claim(stopOf(2), HOUR_MS)).toEqual({ state: 'granted' });
  });

  it('is unresolved for one caller after a claim ran out', async () => {
    const stores = await Promise.all(range(4).map(() => db.another()));
    await db.store.stops.claim(stopOf(1), 1);
    await waitFor(
      async () => (await db.sql('SELECT claimed_until < clock_timestamp() AS over FROM card_stops'))[0]?.over,
      { what: 'the claim to run out' },
    );
    const claims = await Promise.all(stores.map((store) => store.stops.claim(stopOf(1), HOUR_MS)));
    expect(claims.map((claim) => claim.state).sort()).toEqual(['held', 'held', 'held', 'unresolved']);
  });

  it('is granted at once after it was abandoned, and keeps the reason', async () => {
    await db.store.stops.claim(stopOf(1), HOUR_MS);
    await db.store.stops.abandon(1, '2026-11', 'code 500: refused');
    expect(await db.sql('SELECT last_error FROM card_stops')).toEqual([{ last_error: 'code 500: refused' }]);
    expect(await db.store.stops.claim(stopOf(1), HOUR_MS)).toEqual({ state: 'granted' });
    expect(await db.store.stops.claim(stopOf(1), HOUR_MS)).toEqual({ state: 'held' });
    expect(await db.sql('SELECT attempts FROM card_stops')).toEqual([{ attempts: 2 }]);
  });

  it('is granted after an unresolved claim was abandoned', async () => {
    await db.store.stops.claim(stopOf(1), 0);
    expect(await db.store.stops.claim(stopOf(1), HOUR_MS)).toEqual({ state: 'unresolved' });
    await db.store.stops.abandon(1, '2026-11', 'not stopped, and refused');
    expect(await db.store.stops.claim(stopOf(1), HOUR_MS)).toEqual({ state: 'granted' });
  });

  it('does not let a caller that overslept abandon the claim of the next', async () => {
    const [frozen, next] = [await db.another(), await db.another()];
    await frozen.stops.claim(stopOf(1), 0);
    expect(await next.stops.claim(stopOf(1), HOUR_MS)).toEqual({ state: 'unresolved' });
    await frozen.stops.abandon(1, '2026-11', 'refused');
    expect(await db.store.stops.claim(stopOf(1), HOUR_MS)).toEqual({ state: 'held' });
  });

  it('does not abandon what is done', async () => {
    await db.store.stops.claim(stopOf(1), HOUR_MS);
    const other = await db.another();
    await other.stops.complete(1, '2026-11');
    await db.store.stops.abandon(1, '2026-11', 'too late');
    expect(await db.store.stops.claim(stopOf(1), HOUR_MS)).toEqual({ state: 'done' });
  });
});
