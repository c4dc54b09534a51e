// The card cache: what is put comes back whole, until it is dropped or its time is over.
import { expect, it } from 'vitest';
import { card } from '../../support/cards.ts';
import { waitFor } from '../../support/wait-for.ts';
import { describeLiveStore, range } from './stores.ts';

describeLiveStore('card cache', (live) => {
  it('returns what was put and leaves out what was not', async () => {
    const usage = {
      month: '2026-11',
      usedMb: 12.25,
      lastReadingMb: 3.5,
      suspectedMb: 0.25,
      jump: { fromMb: 0.125, fromUsedMb: null, atMs: 1_794_999_000_123 },
      readAtMs: 1_795_000_000_123,
    };
    const cards = [
      card(1, { usage, stopped: true }),
      card(2, { allowanceMb: null }),
      card(50_000, { allowanceMb: 0.5, vendorId: null }),
    ];
    await live.store.cards.put(cards, 60_000);
    const found = await live.store.cards.get([1, 2, 3, 50_000]);
    expect([...found.values()].sort((a, b) => a.cardId - b.cardId)).toEqual(cards);
    expect([...found.keys()].sort((a, b) => a - b)).toEqual([1, 2, 50_000]);
    expect(await live.store.cards.get([])).toEqual(new Map());
  });

  it('takes many cards, replaces and drops them', async () => {
    const ids = range(3_000);
    await live.store.cards.put(
      ids.map((id) => card(id)),
      60_000,
    );
    expect((await live.store.cards.get(ids)).size).toBe(3_000);
    await live.store.cards.put([card(7, { stopped: true })], 60_000);
    await live.store.cards.drop([8, 9, 99_999]);
    const found = await live.store.cards.get(range(5, 5));
    expect([...found.keys()].sort((a, b) => a - b)).toEqual([5, 6, 7]);
    expect(found.get(7)?.stopped).toBe(true);
  });

  it('forgets cards after their time, the shortest of those that share a place', async () => {
    await live.store.cards.put([card(16)], 60_000);
    await live.store.cards.put([card(17)], 100);
    expect((await live.store.cards.get([17])).size).toBe(1);
    await waitFor(async () => (await live.store.cards.get([17])).size === 0, { what: 'the entry to expire' });
  });
});
