// Slots that orders hold: they count under the limit of the type as those of polls do, and polls and orders that both wait share them.
import { beforeEach, expect, it } from 'vitest';
import { ORDERS_WAIT_MS } from '../../../src/store/ports/live/work-queue.ts';
import { setLimit } from '../../support/limits.ts';
import { waitFor } from '../../support/wait-for.ts';
import { claim, describeLiveStore, queueCards, REALNAME, range } from './stores.ts';

const LEASE_MS = 60_000;

describeLiveStore('slots of orders', (live) => {
  const slots = (max: number, leaseMs = LEASE_MS, trickle = false) =>
    live.store.work.claimSlots(REALNAME, max, leaseMs, trickle);
  const held = async () => (await live.store.work.runningCount(REALNAME)).held;

  beforeEach(() => setLimit(live.store.work, REALNAME, 4));

  it('count under the limit, until they are given back', async () => {
    const first = await slots(3);
    expect(first).toMatchObject({ inForce: true, pausedMs: 0 });
    expect(first.slots).toHaveLength(3);
    const second = (await slots(3)).slots;
    expect([second.length, (await slots(1)).slots.length, await held()]).toEqual([1, 0, 4]);
    expect(new Set([...first.slots, ...second].map(({ member, token }) => `${member}@${token}`)).size).toBe(
      4,
    );
    expect(await live.store.work.counts(REALNAME)).toMatchObject({ inFlight: 4, queueLength: 0 });
    await live.store.work.release(REALNAME, first.slots.slice(1));
    await live.store.work.release(REALNAME, first.slots.slice(1));
    expect([await held(), (await slots(9)).slots.length]).toEqual([2, 2]);
  });

  it('are no more than the leader allows, and none in a pause', async () => {
    await live.store.work.setEffectiveConcurrency(REALNAME, 1);
    expect((await slots(9)).slots).toHaveLength(1);
    await live.store.work.setEffectiveConcurrency(REALNAME, null);
    await live.store.work.pause(REALNAME, { ms: 60_000, reason: 'a test', by: 'w' });
    const paused = await slots(9);
    expect([paused.slots.length, paused.pausedMs > 0]).toEqual([0, true]);
  });

  it('end with their lease', async () => {
    await slots(4, 50);
    await waitFor(async () => (await slots(4)).slots.length === 4, { what: 'the leases to end' });
    expect(await held()).toBe(4);
  });

  it('are cleared by a reset, and make no card due', async () => {
    await slots(3);
    expect(await live.store.work.resetSlots(REALNAME)).toEqual({ previous: 3, current: 0 });
    expect(await live.store.work.counts(REALNAME)).toMatchObject({ inFlight: 0, queueLength: 0 });
  });

  it('leave half of what is free to polls that are due, and polls leave the other half while orders wait', async () => {
    await queueCards(live.store, range(20));
    const own = (await slots(9)).slots;
    expect(own).toHaveLength(2);
    const polls = await claim(live.store, 9);
    expect(polls.items, 'a share of the other two').toHaveLength(1);
    expect(polls.freeSlots).toBe(0);
    expect((await slots(9)).slots.length + (await claim(live.store, 9)).items.length).toBeLessThanOrEqual(1);
    // Neither waits indefinitely for a single slot: each has its turn in time.
    await waitFor(async () => (await held()) === 4 || (await slots(1)).slots.length > 0);
  });

  it('are left free by polls only while orders wait', async () => {
    await queueCards(live.store, range(20));
    await slots(9);
    const since = await live.store.now();
    await waitFor(async () => (await live.store.now()) > since + ORDERS_WAIT_MS, {
      what: 'the orders to give up',
    });
    expect((await claim(live.store, 9)).items).toHaveLength(2);
  });

  it('polls take all that is left by orders that got what they wanted', async () => {
    await queueCards(live.store, range(20));
    expect((await slots(1)).slots).toHaveLength(1);
    expect((await claim(live.store, 9)).items).toHaveLength(3);
  });

  it('one slot a second is for the trickle to a dead interface, with that of polls', async () => {
    expect((await slots(1, LEASE_MS, true)).slots).toHaveLength(1);
    expect((await slots(1, LEASE_MS, true)).slots).toHaveLength(0);
    await queueCards(live.store, [1]);
    const request = { instanceId: 'w', claimNumber: 1, max: 1, leaseMs: LEASE_MS, trickle: true };
    expect((await live.store.work.claim(REALNAME, request)).items).toEqual([]);
  });
});
