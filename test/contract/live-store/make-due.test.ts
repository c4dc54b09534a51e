// Cards made due at once, out of their ring's turn: each once, wherever it is, and never more than there is room for.
import { expect, it } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import {
  cardIdsOf,
  claim,
  describeLiveStore,
  leasesToExpire,
  queueCards,
  REALNAME,
  range,
  settle,
} from './stores.ts';

const CAP = 1e6;
const PARKED = { baseMs: 1, capMs: 0 };

describeLiveStore('cards made due', (live) => {
  const makeDue = (cardIds: readonly number[], cap = CAP) => live.store.work.makeDue(REALNAME, cardIds, cap);
  const counts = () => live.store.work.counts(REALNAME);

  it('are due at once, each once, however often they are made due', async () => {
    const other = await live.another();
    await queueCards(live.store, [1]);
    await makeDue([1, 2, 3]);
    await other.work.makeDue(REALNAME, [2, 3], CAP);
    await makeDue([]);
    expect(await counts()).toMatchObject({ queueLength: 3, due: 3, retryDue: 0, backoff: 0 });
    const { items } = await claim(live.store, 10);
    expect(items.map(({ cardId, lane }) => [cardId, lane])).toEqual(range(3).map((id) => [id, 'schedule']));
  });

  it('come in chunks, as many as there are', async () => {
    await makeDue(range(2_500));
    expect(await counts()).toMatchObject({ queueLength: 2_500, due: 2_500 });
  });

  it('wake those that wait for work', async () => {
    const other = await live.another();
    let heard = 0;
    live.store.work.onWork(REALNAME, () => {
      heard += 1;
    });
    let cardId = 0;
    await waitFor(async () => {
      cardId += 1;
      await other.work.makeDue(REALNAME, [cardId], CAP);
      return heard > 0;
    });
  });

  it('are polled once more when they run, after their lease', async () => {
    await queueCards(live.store, [1]);
    const { items } = await claim(live.store, 1, { leaseMs: 1_000 });
    await makeDue([1]);
    await makeDue([1]);
    expect((await claim(live.store, 1)).items, 'while it runs').toEqual([]);
    expect(await settle(live.store, items, 'done')).toEqual({ fenced: 0 });
    expect(await counts()).toMatchObject({ queueLength: 0 });
    const again = await waitFor(async () => {
      const next = await claim(live.store, 1);
      return next.items.length > 0 ? next.items : null;
    });
    expect(cardIdsOf(again)).toEqual([1]);
    await settle(live.store, again, 'done');
    expect(await counts()).toMatchObject({ queueLength: 0, retryDue: 0, backoff: 0 });
  });

  it('are once in the queue when the worker that ran them died', async () => {
    await queueCards(live.store, [1]);
    await claim(live.store, 1, { leaseMs: 50 });
    await makeDue([1]);
    await leasesToExpire(live.store);
    await makeDue([1]);
    expect((await claim(live.store, 2)).items).toHaveLength(1);
    expect(await counts()).toMatchObject({ queueLength: 1, retryDue: 0, backoff: 0 });
  });

  it('keep their backoff while they wait to be retried, and come at once where they are left to their ring', async () => {
    await queueCards(live.store, [1, 2]);
    const { items } = await claim(live.store, 2);
    await settle(live.store, items.slice(0, 1), 'failed', { baseMs: 1e9, capMs: 1e12 });
    await settle(live.store, items.slice(1), 'failed', PARKED);
    await makeDue([1, 2]);
    await makeDue([1, 2]);
    expect(await counts()).toMatchObject({ queueLength: 0, backoff: 1, retryDue: 1 });
    const retried = (await claim(live.store, 2)).items;
    expect(retried).toMatchObject([{ cardId: 2, lane: 'retry' }]);
    await settle(live.store, retried, 'failed', PARKED);
    expect(await counts(), 'nothing brings it again by itself').toMatchObject({
      retryDue: 0,
      queueLength: 0,
    });
  });

  it('fill the queue to its cap, then the retry lane, and are left to their ring beyond', async () => {
    await makeDue(range(6), 10);
    await makeDue(range(1_000), 10);
    expect(await counts()).toMatchObject({ queueLength: 10, retryDue: 10, backoff: 0 });
    const { items } = await claim(live.store, 1_000);
    expect(new Set(cardIdsOf(items)).size).toBe(items.length);
  });

  it('stay due while their type is paused', async () => {
    await live.store.work.pause(REALNAME, { source: 'operator', ms: 600_000, reason: '', by: 'test' });
    await makeDue([1]);
    expect((await claim(live.store, 1)).items).toEqual([]);
    await live.store.work.resume(REALNAME);
    expect(cardIdsOf((await claim(live.store, 1)).items)).toEqual([1]);
  });
});
