// Cards that are made due beside their rings: once, with the others, and never beyond what the queue may hold.
import { expect, it } from 'vitest';
import type { LiveStore } from '../../../src/store/ports/live-store.ts';
import { cardIdsOf, claim, describeLiveStore, queueCards, REALNAME, range, settle } from './stores.ts';

const makeDue = (store: LiveStore, cardIds: readonly number[], queueCap = 1_000) =>
  store.work.makeDue(REALNAME, cardIds, queueCap);

describeLiveStore('making cards due', (live) => {
  it('queues them, to be claimed at once', async () => {
    expect(await makeDue(live.store, [1, 2])).toBe(2);
    expect(cardIdsOf((await claim(live.store, 5)).items)).toEqual([1, 2]);
    expect(await makeDue(live.store, [])).toBe(0);
  });

  it('leaves those alone that are due or run', async () => {
    await queueCards(live.store, [1, 2]);
    const { items } = await claim(live.store, 1);
    expect(await makeDue(live.store, [1, 2, 3])).toBe(1);
    expect(await live.store.work.counts(REALNAME)).toMatchObject({ queueLength: 3, due: 2 });
    await settle(live.store, items, 'done');
    expect(await live.store.work.counts(REALNAME)).toMatchObject({ queueLength: 2, due: 2 });
  });

  it('asks failing ones again in the retry lane, those that wait there not sooner', async () => {
    await queueCards(live.store, [1, 2]);
    const { items } = await claim(live.store, 2);
    await settle(live.store, items.slice(0, 1), 'failed', { baseMs: 1, capMs: 0 });
    await settle(live.store, items.slice(1), 'failed', { baseMs: 600_000, capMs: 1e9 });
    expect(await makeDue(live.store, [1, 2])).toBe(1);
    expect(await live.store.work.counts(REALNAME)).toMatchObject({ queueLength: 0, retryDue: 1, backoff: 1 });
  });

  it('leaves to the rings what exceeds the room in the queue', async () => {
    await queueCards(live.store, [1, 2]);
    expect(await makeDue(live.store, range(10, 3), 5)).toBe(3);
    expect(await makeDue(live.store, range(10, 20), 5)).toBe(0);
    expect(await live.store.work.counts(REALNAME)).toMatchObject({ queueLength: 5 });
  });
});
