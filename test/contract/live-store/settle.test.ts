// Ending claimed work: release, settle, expired leases, fencing, resets.

import { expect, it } from 'vitest';
import { setLimit } from '../../support/limits.ts';
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

describeLiveStore('settle', (live) => {
  it('release gives the slot back and keeps the card from others', async () => {
    await queueCards(live.store, range(2));
    const { items } = await claim(live.store, 2);
    await live.store.work.release(REALNAME, items);
    await live.store.work.release(REALNAME, items);
    expect(await live.store.work.counts(REALNAME)).toMatchObject({ queueLength: 2, due: 0, inFlight: 0 });
    expect((await claim(live.store, 2)).items).toEqual([]);
  });

  it('release leaves the slot of a later claim alone', async () => {
    await queueCards(live.store, [1]);
    const late = await claim(live.store, 1, { leaseMs: 100 });
    await leasesToExpire(live.store);
    await claim(live.store, 1);
    await live.store.work.release(REALNAME, late.items);
    expect((await live.store.work.counts(REALNAME)).inFlight).toBe(1);
  });

  it('done work leaves the queue and its slot', async () => {
    await queueCards(live.store, range(3));
    const { items } = await claim(live.store, 3);
    expect(await settle(live.store, items, 'done')).toEqual({ fenced: 0 });
    expect(await live.store.work.counts(REALNAME)).toMatchObject({ queueLength: 0, due: 0, inFlight: 0 });
  });

  it('settling twice changes nothing more', async () => {
    await queueCards(live.store, range(2));
    await live.store.manual.push(REALNAME, ['9', '9']);
    const { items } = await claim(live.store, 3);
    await settle(live.store, items, 'returned');
    const before = await live.store.work.counts(REALNAME);
    await settle(live.store, items, 'returned');
    await settle(live.store, items, 'done');
    // Time passes for the cards that wait.
    const waitedMs = expect.any(Number);
    expect(await live.store.work.counts(REALNAME)).toEqual({ ...before, waitedMs });
    expect(before).toMatchObject({ queueLength: 2, due: 2, manualLength: 2 });
  });

  it('returned work is due again at once, manual work at the head of its list', async () => {
    await queueCards(live.store, [1]);
    await live.store.manual.push(REALNAME, ['5', '6', '7', '8']);
    const { items } = await claim(live.store, 3);
    expect(items.map((item) => item.member)).toEqual(['5', '6', '1']);
    await settle(live.store, items, 'returned');
    expect(await live.store.work.counts(REALNAME)).toMatchObject({ due: 1, inFlight: 0, manualLength: 4 });
    expect((await claim(live.store, 10)).items.map((item) => item.member)).toEqual(['5', '6', '7', '8', '1']);
  });

  it('failed manual work is not retried', async () => {
    await live.store.manual.push(REALNAME, ['5:t']);
    await settle(live.store, (await claim(live.store, 1)).items, 'failed');
    expect((await claim(live.store, 1)).items).toEqual([]);
    expect(await live.store.work.counts(REALNAME)).toMatchObject({
      queueLength: 0,
      manualLength: 0,
      inFlight: 0,
    });
  });

  it('an expired lease gives card and manual entry to the next claim', async () => {
    await queueCards(live.store, [1]);
    await live.store.manual.push(REALNAME, ['5', '6']);
    const lost = await claim(live.store, 2, { leaseMs: 150 });
    expect(lost.items.map((item) => item.member)).toEqual(['5', '1']);
    await leasesToExpire(live.store);
    expect((await live.store.work.counts(REALNAME)).due).toBe(1);
    const next = await claim(live.store, 10, { instanceId: 'worker-2' });
    expect(next.items.map((item) => item.member)).toEqual(['5', '6', '1']);
    expect((await live.store.work.counts(REALNAME)).inFlight).toBe(3);
  });

  it('a late worker is fenced and cannot end what another one holds', async () => {
    await queueCards(live.store, range(2));
    await live.store.manual.push(REALNAME, ['5', '6']);
    const late = await claim(live.store, 4, { leaseMs: 100 });
    await leasesToExpire(live.store);
    const owner = await claim(live.store, 4, { instanceId: 'worker-2' });
    expect(await settle(live.store, late.items, 'done')).toEqual({ fenced: 4 });
    expect(await settle(live.store, late.items, 'failed')).toEqual({ fenced: 4 });
    expect(await settle(live.store, late.items, 'returned')).toEqual({ fenced: 4 });
    expect(await live.store.work.counts(REALNAME)).toMatchObject({
      queueLength: 2,
      inFlight: 4,
      manualLength: 0,
    });
    expect(await settle(live.store, owner.items, 'done')).toEqual({ fenced: 0 });
    expect(await live.store.work.counts(REALNAME)).toMatchObject({ queueLength: 0, inFlight: 0 });
  });

  it('a worker whose lease ended may still end its work if no other worker took it', async () => {
    await queueCards(live.store, range(2));
    const { items } = await claim(live.store, 2, { leaseMs: 100 });
    await leasesToExpire(live.store);
    expect(await settle(live.store, items, 'done')).toEqual({ fenced: 0 });
    expect((await live.store.work.counts(REALNAME)).queueLength).toBe(0);
  });

  it('reap takes back expired slots and manual entries without a claim', async () => {
    await queueCards(live.store, range(2));
    await live.store.manual.push(REALNAME, ['5', '6']);
    await claim(live.store, 4, { leaseMs: 100 });
    expect(await live.store.work.reap(REALNAME)).toEqual({ expiredSlots: 0, healedFrom: null });
    await leasesToExpire(live.store);
    expect(await live.store.work.reap(REALNAME)).toEqual({ expiredSlots: 4, healedFrom: null });
    expect(await live.store.work.reap(REALNAME)).toEqual({ expiredSlots: 0, healedFrom: null });
    expect(await live.store.work.counts(REALNAME)).toMatchObject({ due: 2, manualLength: 2, inFlight: 0 });
  });

  it('a reset frees every slot, fences the holders and makes their work due', async () => {
    await setLimit(live.store.work, REALNAME, 6_000);
    await queueCards(live.store, range(5_000));
    await live.store.manual.push(REALNAME, ['9001', '9002']);
    const { items } = await claim(live.store, 5_002);
    expect(await live.store.work.resetSlots(REALNAME)).toEqual({ previous: 5_002, current: 0 });
    expect(await live.store.work.counts(REALNAME)).toMatchObject({
      due: 5_000,
      inFlight: 0,
      manualLength: 2,
    });
    expect(await settle(live.store, items, 'done')).toEqual({ fenced: 5_002 });
    await live.store.work.release(REALNAME, items);
    expect((await live.store.work.counts(REALNAME)).inFlight).toBe(0);
    expect((await claim(live.store, 5_002)).items).toHaveLength(5_002);
    expect(await live.store.work.resetSlots('package')).toEqual({ previous: 0, current: 0 });
  });

  it('a reset leaves alone work whose call is over and whose result is being written', async () => {
    await queueCards(live.store, range(4));
    const { items } = await claim(live.store, 4);
    await live.store.work.release(REALNAME, items.slice(0, 3));
    expect(await live.store.work.resetSlots(REALNAME)).toEqual({ previous: 1, current: 0 });
    expect(await settle(live.store, items, 'done')).toEqual({ fenced: 1 });
    expect(cardIdsOf((await claim(live.store, 4)).items)).toEqual([items[3]?.cardId]);
  });
});
