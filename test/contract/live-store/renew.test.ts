// Leases that are prolonged because their result waits to be written.
import { expect, it } from 'vitest';
import type { WorkItem } from '../../../src/store/ports/live/work-queue.ts';
import { waitFor } from '../../support/wait-for.ts';
import { claim, describeLiveStore, leasesToExpire, queueCards, REALNAME, settle } from './stores.ts';

const LONG_MS = 600_000;

describeLiveStore('a lease that is prolonged', (live) => {
  const counts = () => live.store.work.counts(REALNAME);
  const renew = (items: readonly WorkItem[]) => live.store.work.renew(REALNAME, items, LONG_MS);
  /** Waits until a lease of the card would have ended that was not prolonged. */
  const leaseToEnd = (leaseEndsAtMs: number) => waitFor(async () => (await live.store.now()) > leaseEndsAtMs);

  it('keeps its card from other workers, and ends with the new token only', async () => {
    await queueCards(live.store, [1, 2]);
    const { items, claimedAtMs } = await claim(live.store, 1, { leaseMs: 1_000 });
    await live.store.work.release(REALNAME, items);
    const renewed = await renew(items);
    expect(await renew(items), 'the answer was lost').toEqual(renewed);
    await leaseToEnd((claimedAtMs ?? 0) + 1_001);
    expect((await claim(live.store, 2)).items.map(({ cardId }) => cardId)).toEqual([2]);
    expect(await settle(live.store, items, 'done')).toEqual({ fenced: 1 });
    expect(await settle(live.store, renewed, 'done')).toEqual({ fenced: 0 });
    expect(await counts()).toMatchObject({ queueLength: 1, due: 0 });
  });

  it('keeps its manual entry', async () => {
    await live.store.manual.push(REALNAME, ['1:t']);
    const { items, claimedAtMs } = await claim(live.store, 1, { leaseMs: 1_000 });
    const renewed = await renew(items);
    await leaseToEnd((claimedAtMs ?? 0) + 1_001);
    expect((await claim(live.store, 1)).items).toEqual([]);
    expect(await live.store.manual.running(REALNAME)).toEqual(['1:t']);
    expect(await settle(live.store, renewed, 'done')).toEqual({ fenced: 0 });
    expect(await live.store.manual.running(REALNAME)).toEqual([]);
  });

  it('is not taken back from the worker that has the card by now', async () => {
    await queueCards(live.store, [1]);
    const { items } = await claim(live.store, 1, { leaseMs: 50 });
    await leasesToExpire(live.store);
    const later = (await claim(live.store, 1)).items;
    const renewed = await renew(items);
    expect(await settle(live.store, renewed, 'done')).toEqual({ fenced: 1 });
    expect(await settle(live.store, later, 'done')).toEqual({ fenced: 0 });
  });
});
