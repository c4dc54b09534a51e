// A clock of the live store that steps: set forward, set back, or a failover to a server whose clock is behind. What was
// noted before the step must not wait until the old time comes again.

import { beforeEach, describe, expect, it } from 'vitest';
import { dueAt } from '../../../src/domain/schedule/phase.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import { freshRedis } from '../../support/fresh-stores.ts';
import { openLimitedLiveStore, pauseByOperator, setLimit } from '../../support/limits.ts';
import { instanceOf } from '../../support/polled-fleet.ts';
import { openTimedRedisLiveStore } from '../../support/timed-redis.ts';
import { waitFor } from '../../support/wait-for.ts';
import { cardIdsOf, claim, queueCards, REALNAME, range, settle } from './stores.ts';

const HOUR_MS = 3_600_000;
const LEASE_MS = 600;
const RING = { configId: 7, taskType: REALNAME };
const LIMITS = { maxBuckets: 1e6, queueCap: 1e6, fence: 1 };

/** A store whose clock is so far ahead of the machine's. */
interface SteppedStore {
  store: LiveStore;
  setAhead(ms: number): void;
  close(): Promise<void>;
}

async function redis(): Promise<SteppedStore> {
  let aheadMs = 0;
  const { url } = await freshRedis();
  const store = openTimedRedisLiveStore(url, () => Date.now() + aheadMs);
  const setAhead = (ms: number) => {
    aheadMs = ms;
  };
  return { store, setAhead, close: () => store.close() };
}

async function embedded(): Promise<SteppedStore> {
  let aheadMs = 0;
  const clock = {
    now: () => Date.now() + aheadMs,
    monotonic: () => performance.now(),
    sleep: async () => {},
  };
  const store = openLimitedLiveStore({ clock });
  const setAhead = (ms: number) => {
    aheadMs = ms;
  };
  return { store, setAhead, close: () => store.close() };
}

describe.each([
  ['Redis', redis],
  ['embedded', embedded],
])('a clock that steps: %s', (_, open) => {
  let stepped: SteppedStore;
  let store: LiveStore;

  beforeEach(async () => {
    stepped = await open();
    store = stepped.store;
    return () => stepped.close();
  });

  const follow = () => store.work.followClock(REALNAME, LEASE_MS);

  /** Notes the time, then sets the clock back. */
  async function setBack(fromMs: number, toMs = 0): Promise<void> {
    stepped.setAhead(fromMs);
    await follow();
    stepped.setAhead(toMs);
  }

  it('is followed without a word while it goes on', async () => {
    expect(await follow()).toBe(0);
    expect(await follow()).toBe(0);
    stepped.setAhead(HOUR_MS);
    expect(await follow(), 'forward').toBe(0);
    expect(await follow()).toBe(0);
  });

  it.each([90_000, HOUR_MS])(
    'set back by %i ms, a ring goes on where it was, a step later at most',
    async (backMs) => {
      stepped.setAhead(backMs);
      await store.rings.configure(RING, { intervalMs: 64_000, enabled: true });
      await store.rings.startGeneration(RING, 64);
      await store.rings.add(RING, range(1_000));
      const before = (await store.rings.advance(RING, LIMITS)).ring;
      stepped.setAhead(0);
      const { ring } = await store.rings.advance(RING, LIMITS);
      expect(ring.cursor, 'nothing is moved twice').toBe(before.cursor);
      expect(dueAt(ring, ring.cursor) - Date.now()).toBeLessThanOrEqual(1_000);
      expect(ring.lapStartedAtMs, 'a revolution on two clocks has no duration').toBeNull();
      await waitFor(async () => (await store.rings.advance(RING, LIMITS)).ring.cursor > before.cursor);
    },
  );

  it('set forward and back, a ring polls no card more than once a revolution', async () => {
    await store.rings.configure(RING, { intervalMs: 64_000, enabled: true });
    await store.rings.startGeneration(RING, 64);
    await store.rings.add(RING, range(1_000));
    await setLimit(store.work, REALNAME, 2_000);
    const polled: number[] = [];
    const poll = async () => {
      await store.rings.advance(RING, LIMITS);
      const { items } = await claim(store, 2_000);
      await settle(store, items, 'done');
      polled.push(...cardIdsOf(items));
    };
    await poll();
    for (const aheadMs of [HOUR_MS, 0, -HOUR_MS, 0]) {
      stepped.setAhead(aheadMs);
      await poll();
      await follow();
    }
    // An hour is whole intervals and a part: each step forward brings one revolution at most.
    const { cursor, skippedRevolutions } = (await store.rings.advance(RING, LIMITS)).ring;
    const revolutions = Math.ceil(cursor / 64) - skippedRevolutions;
    for (const card of new Set(polled)) {
      expect(polled.filter((one) => one === card).length).toBeLessThanOrEqual(revolutions);
    }
    expect(revolutions).toBeLessThanOrEqual(3);
  });

  it('set back, what was due stays due, and in its order', async () => {
    stepped.setAhead(HOUR_MS);
    await queueCards(store, range(50));
    await follow();
    const order = async () => (await store.work.place(REALNAME, 50, [])).queued?.before;
    const before = await order();
    stepped.setAhead(0);
    expect((await store.work.counts(REALNAME)).due, 'the fault').toBe(0);
    expect(await follow()).toBeGreaterThan(HOUR_MS - 10_000);
    expect(await order()).toBe(before);
    await waitFor(async () => (await store.work.counts(REALNAME)).due === 50);
    expect(cardIdsOf((await claim(store, 50)).items)).toEqual(range(50));
    expect(await follow(), 'said once').toBe(0);
  });

  it('set back, a retry waits no longer than it had to', async () => {
    stepped.setAhead(HOUR_MS);
    await queueCards(store, [1, 2]);
    const { items } = await claim(store, 2);
    await settle(store, items.slice(0, 1), 'failed', { baseMs: 2, capMs: 60_000 });
    await settle(store, items.slice(1), 'failed', { baseMs: 40_000, capMs: 60_000 });
    await setBack(HOUR_MS);
    await follow();
    await waitFor(async () => (await store.work.counts(REALNAME)).retryDue === 1);
    expect((await store.work.counts(REALNAME)).backoff).toBe(1);
    const retry = (await store.work.place(REALNAME, items[1]?.cardId as number, [])).retry;
    expect(Number(retry?.atMs) - Date.now()).toBeLessThan(21_000);
  });

  it('set back, a pause has as long to go as before', async () => {
    stepped.setAhead(HOUR_MS);
    await pauseByOperator(store.work, REALNAME, { ms: 30_000, reason: 'r', by: 'ann' });
    await setBack(HOUR_MS);
    await follow();
    const [found] = await store.work.pauses();
    expect(found).toMatchObject({ source: 'operator', reason: 'r', by: 'ann' });
    expect(Number(found?.untilMs) - Date.now()).toBeLessThanOrEqual(31_500);
    expect(Number(found?.untilMs) - Date.now()).toBeGreaterThan(15_000);
    expect((await claim(store, 1)).pausedMs).toBeLessThanOrEqual(31_500);
  });

  it('set back, a holder ends its work as before', async () => {
    stepped.setAhead(HOUR_MS);
    await queueCards(store, range(10));
    const { items } = await claim(store, 10, { leaseMs: LEASE_MS });
    await setBack(HOUR_MS);
    await follow();
    expect((await claim(store, 10)).items, 'no other worker gets it').toEqual([]);
    expect(await settle(store, items, 'done')).toEqual({ fenced: 0 });
    expect(await store.work.counts(REALNAME)).toMatchObject({ queueLength: 0, inFlight: 0 });
  });

  it('set back, what the dead held comes back a lease later', async () => {
    stepped.setAhead(HOUR_MS);
    await queueCards(store, range(10));
    await store.manual.push(REALNAME, ['101', '102', '103']);
    const { items } = await claim(store, 13, { leaseMs: LEASE_MS });
    expect(items).toHaveLength(13);
    await setBack(HOUR_MS);
    await waitFor(async () => {
      await follow();
      return (await store.work.counts(REALNAME)).inFlight === 0;
    });
    expect(await store.work.counts(REALNAME)).toMatchObject({ due: 10, queueLength: 10, manualLength: 3 });
    expect(await settle(store, items, 'done'), 'its former holder comes too late').toEqual({ fenced: 13 });
    const again = (await claim(store, 13)).items.filter(({ lane }) => lane === 'manual');
    expect(again.map(({ member }) => member)).toEqual(['101', '102', '103']);
  });

  it('set back by less than a lease, takes nothing from those who hold it', async () => {
    await queueCards(store, range(5));
    await setBack(1_500);
    const { items } = await claim(store, 5, { leaseMs: 60_000 });
    expect(items).toHaveLength(5);
    expect(await store.work.followClock(REALNAME, 60_000)).toBeGreaterThan(1_000);
    expect(await store.work.followClock(REALNAME, 60_000)).toBe(0);
    expect(await settle(store, items, 'done')).toEqual({ fenced: 0 });
  });

  it('set back, a dead instance is not taken for a live one for longer than it was', async () => {
    const { store, setAhead } = stepped;
    const ids = async () => (await store.coordination.instances()).map(({ instanceId }) => instanceId);
    setAhead(HOUR_MS);
    await store.coordination.heartbeat(instanceOf('dead'), LEASE_MS);
    setAhead(0);
    await store.coordination.heartbeat(instanceOf('alive'), LEASE_MS);
    await waitFor(async () => {
      await store.coordination.heartbeat(instanceOf('alive'), LEASE_MS);
      return (await ids()).join() === 'alive';
    });
    expect(await store.coordination.reapInstances()).toEqual(['dead']);
  });

  it('set back, a dead leader is replaced after its lease', async () => {
    stepped.setAhead(HOUR_MS);
    const lead = (holder: string) => store.coordination.lead('l', holder, LEASE_MS);
    const fence = await lead('a');
    stepped.setAhead(0);
    expect(await lead('b'), 'it may be alive').toBeNull();
    expect(await lead('a')).toBe(fence);
    await waitFor(async () => (await lead('b')) !== null);
  });
});
