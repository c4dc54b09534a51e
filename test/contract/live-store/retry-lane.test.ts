// Failing cards: they wait apart from the queue, hold a tenth of the slots while other work is about, and every one of
// them is asked again sooner or later.

import { expect, it } from 'vitest';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import type { RingState } from '../../../src/store/ports/live/rings.ts';
import type { WorkItem } from '../../../src/store/ports/live/work-queue.ts';
import { setLimit } from '../../support/limits.ts';
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

/** Due again at once. */
const AT_ONCE = { baseMs: 0, capMs: 1 };
/** Left to the ring. */
const PARKED = { baseMs: 1, capMs: 0 };

const counts = (store: LiveStore) => store.work.counts(REALNAME);
const lanes = (items: readonly WorkItem[], lane: WorkItem['lane']) =>
  items.filter((item) => item.lane === lane);

/** Makes the cards fail once. */
async function fail(store: LiveStore, cardIds: readonly number[], backoff = AT_ONCE): Promise<void> {
  await setLimit(store.work, REALNAME, 10_000);
  await queueCards(store, cardIds);
  const { items } = await claim(store, cardIds.length, { instanceId: 'failing' });
  expect(cardIdsOf(items)).toEqual(cardIds);
  await settle(store, items, 'failed', backoff);
}

describeLiveStore('retry lane', (live) => {
  it('a failed card waits there, out of the queue; its backoff doubles', async () => {
    await queueCards(live.store, [1]);
    const backoff = { baseMs: 200, capMs: 1_600 };
    const waits: number[] = [];
    for (let failure = 1; failure <= 3; failure += 1) {
      const { items } = await waitFor(async () => {
        const next = await claim(live.store, 1);
        return next.items.length > 0 ? next : null;
      });
      expect(items).toMatchObject([failure === 1 ? { lane: 'schedule' } : { lane: 'retry' }]);
      expect(await counts(live.store)).toMatchObject({
        queueLength: 1,
        backoff: 0,
        retryDue: 0,
        inFlight: 1,
      });
      const from = performance.now();
      await settle(live.store, items, 'failed', backoff);
      const { retryDue, ...after } = await counts(live.store);
      expect(after).toMatchObject({ queueLength: 0, due: 0, backoff: 1 - retryDue, inFlight: 0 });
      await waitFor(async () => (await counts(live.store)).retryDue === 1, { everyMs: 2 });
      expect(await counts(live.store)).toMatchObject({ queueLength: 0, due: 0, backoff: 0 });
      waits.push(performance.now() - from);
    }
    // random is 0.5.
    for (const [i, atLeast] of [100, 200, 400].entries()) expect(waits[i]).toBeGreaterThan(atLeast - 25);
    const { items } = await claim(live.store, 1);
    await settle(live.store, items, 'failed', backoff);
    expect(await counts(live.store), 'at the cap').toMatchObject({ queueLength: 0, backoff: 0, retryDue: 0 });
  });

  it('a card left to its ring comes back in the retry lane until it succeeds', async () => {
    await fail(live.store, [1], PARKED);
    for (let revolution = 0; revolution < 2; revolution += 1) {
      expect(await counts(live.store)).toMatchObject({ queueLength: 0, backoff: 0, retryDue: 0 });
      await queueCards(live.store, [1]);
      expect(await counts(live.store)).toMatchObject({ queueLength: 0, retryDue: 1 });
      const { items } = await claim(live.store, 1);
      expect(items).toMatchObject([{ cardId: 1, lane: 'retry' }]);
      await settle(live.store, items, revolution === 0 ? 'failed' : 'done', PARKED);
    }
    await queueCards(live.store, [1]);
    expect((await claim(live.store, 1)).items).toMatchObject([{ lane: 'schedule' }]);
  });

  it('a card waits as long as the gateway asked for, also when it would be left to its ring', async () => {
    await queueCards(live.store, [1, 2]);
    const { items } = await claim(live.store, 2);
    const settlements = items.map((item) => ({
      item,
      verdict: 'failed' as const,
      random: 0,
      waitMs: item.cardId === 1 ? 60_000 : 0,
    }));
    await live.store.work.settle(REALNAME, settlements, PARKED);
    expect(await counts(live.store)).toMatchObject({ backoff: 1, retryDue: 0 });
    await queueCards(live.store, [2]);
    expect(await counts(live.store)).toMatchObject({ backoff: 1, retryDue: 1 });
  });

  it('a card that may not be polled yet comes back after its wait, with the failures it had', async () => {
    await fail(live.store, [1, 2], PARKED);
    await queueCards(live.store, [1, 2, 3]);
    const { items } = await claim(live.store, 3);
    const settlements = items.map((item) => ({
      item,
      verdict: 'early' as const,
      random: 0.5,
      waitMs: item.cardId === 2 ? 1 : 60_000,
    }));
    expect(await live.store.work.settle(REALNAME, settlements, PARKED)).toEqual({ fenced: 0 });
    expect(await counts(live.store)).toMatchObject({ queueLength: 0, due: 0, inFlight: 0 });
    await waitFor(async () => (await counts(live.store)).retryDue === 1, { everyMs: 2 });
    expect((await claim(live.store, 3)).items).toMatchObject([{ cardId: 2, lane: 'retry' }]);
    expect((await counts(live.store)).backoff).toBe(2);
    const places = await Promise.all(range(3).map((cardId) => live.store.work.place(REALNAME, cardId, [])));
    expect(places.map(({ failuresInARow }) => failuresInARow)).toEqual([1, 1, 0]);
  });

  it('a card whose poll by hand may not be made yet leaves the list, and its schedule alone', async () => {
    await fail(live.store, [5], PARKED);
    await live.store.manual.push(REALNAME, ['5:t']);
    const { items } = await claim(live.store, 1);
    await live.store.work.settle(
      REALNAME,
      [{ item: items[0] as WorkItem, verdict: 'early', random: 0, waitMs: 60_000 }],
      PARKED,
    );
    expect(await counts(live.store)).toMatchObject({ backoff: 0, manualLength: 0, inFlight: 0 });
    expect((await live.store.work.place(REALNAME, 5, [])).failuresInARow).toBe(1);
  });

  it('holds a tenth of the slots while other work is due, and no more', async () => {
    await fail(live.store, range(50));
    await queueCards(live.store, range(500, 1_001));
    await setLimit(live.store.work, REALNAME, 40);
    const first = (await claim(live.store, 40)).items;
    expect(first).toHaveLength(40);
    expect(lanes(first, 'retry')).toHaveLength(4);
    for (let round = 0; round < 5; round += 1) {
      const { items } = await claim(live.store, 40);
      expect(items).toEqual([]);
    }
    const healthy = lanes(first, 'schedule');
    await live.store.work.release(REALNAME, healthy);
    const second = (await claim(live.store, 40)).items;
    expect(second).toHaveLength(36);
    expect(lanes(second, 'retry')).toEqual([]);
    await settle(live.store, lanes(first, 'retry').slice(0, 3), 'done');
    expect(lanes((await claim(live.store, 40)).items, 'retry')).toHaveLength(3);
    expect((await counts(live.store)).inFlight).toBe(40);
  });

  it('never holds more than one slot of five', async () => {
    await fail(live.store, range(50));
    await queueCards(live.store, range(500, 1_001));
    await setLimit(live.store.work, REALNAME, 5);
    const seen = new Set<number>();
    await waitFor(async () => {
      const { items } = await claim(live.store, 5);
      seen.add(lanes(items, 'retry').length);
      await settle(live.store, items, 'done');
      return seen.has(0) && seen.has(1);
    });
    expect([...seen].sort()).toEqual([0, 1]);
  });

  it('has all slots once no other work was claimed for a second', async () => {
    await fail(live.store, range(50));
    await setLimit(live.store.work, REALNAME, 40);
    const { items: few } = await claim(live.store, 40);
    expect(few.length, 'right after other work').toBeLessThanOrEqual(4);
    const { items } = await waitFor(async () => {
      const next = await claim(live.store, 40);
      return next.items.length > 4 ? next : null;
    });
    expect(items.length + few.length).toBe(40);
  });

  it('a claim that is sent again returns the same lanes', async () => {
    await fail(live.store, range(5));
    await queueCards(live.store, range(3, 101));
    await live.store.manual.push(REALNAME, ['4', '500:t']);
    const request = { instanceId: 'again', claimNumber: 7, max: 20, leaseMs: 60_000 };
    const byMember = (items: readonly WorkItem[]) =>
      [...items].sort((a, b) => a.member.localeCompare(b.member));
    const first = await live.store.work.claim(REALNAME, request);
    expect(lanes(first.items, 'retry')).toHaveLength(5);
    expect(lanes(first.items, 'manual')).toMatchObject([{ member: '4' }, { member: '500:t' }]);
    const second = await live.store.work.claim(REALNAME, request);
    expect(byMember(second.items)).toEqual(byMember(first.items));
    expect((await counts(live.store)).inFlight).toBe(10);
  });

  it('a returned retry is due again in its lane', async () => {
    await fail(live.store, [1]);
    await settle(live.store, (await claim(live.store, 1)).items, 'returned');
    expect(await counts(live.store)).toMatchObject({ queueLength: 0, retryDue: 1, inFlight: 0 });
  });

  it('retries of a worker that died are due again, and their slots free', async () => {
    await fail(live.store, range(3));
    expect((await claim(live.store, 3, { leaseMs: 100 })).items).toHaveLength(3);
    await leasesToExpire(live.store);
    expect(await counts(live.store)).toMatchObject({ due: 3, retryDue: 0 });
    const { items } = await claim(live.store, 3);
    expect(items.map(({ lane }) => lane)).toEqual(Array(3).fill('schedule'));
  });

  it('a reset frees the slots of retries too', async () => {
    await fail(live.store, range(50));
    await queueCards(live.store, range(100, 1_001));
    await setLimit(live.store.work, REALNAME, 20);
    expect(lanes((await claim(live.store, 20)).items, 'retry')).toHaveLength(2);
    expect(await live.store.work.resetSlots(REALNAME)).toEqual({ previous: 20, current: 0 });
    expect(lanes((await claim(live.store, 20)).items, 'retry')).toHaveLength(2);
  });

  it('a ring neither doubles a failing card that waits nor one that runs, and fills the lane to the cap', async () => {
    await fail(live.store, range(20), { baseMs: 60_000, capMs: 1e9 });
    await fail(live.store, range(20, 101), PARKED);
    const ring = { configId: 5, taskType: REALNAME };
    await live.store.rings.configure(ring, { intervalMs: 64, enabled: true });
    await live.store.rings.startGeneration(ring, 64);
    await live.store.rings.add(ring, [...range(20), ...range(20, 101), ...range(20, 201)]);
    const advance = async (queueCap: number) => {
      // A revolution that is left out moves the cursor and no card.
      const stepsDone = ({ cursor, skippedRevolutions }: RingState) => cursor - 64 * skippedRevolutions;
      const [before] = await live.store.rings.list();
      const limits = { maxBuckets: 64, queueCap, fence: 1 };
      await waitFor(async () => {
        const { ring: now } = await live.store.rings.advance(ring, limits);
        return stepsDone(now) >= stepsDone(before as RingState) + 64;
      });
    };
    await advance(30);
    expect(await counts(live.store), 'a full lane').toMatchObject({ due: 20, backoff: 20, retryDue: 10 });
    await advance(1_000);
    expect(await counts(live.store)).toMatchObject({ due: 20, backoff: 20, retryDue: 20 });
    await setLimit(live.store.work, REALNAME, 10_000);
    expect((await claim(live.store, 40)).items).toHaveLength(40);
    await advance(1_000);
    expect(await counts(live.store)).toMatchObject({ queueLength: 40, due: 0, backoff: 20, retryDue: 0 });
  });

  it('waiting failing cards do not halt a ring', async () => {
    await fail(live.store, range(100), { baseMs: 60_000, capMs: 1e9 });
    expect(await counts(live.store)).toMatchObject({ queueLength: 0, backoff: 100 });
    const ring = { configId: 5, taskType: REALNAME };
    await live.store.rings.configure(ring, { intervalMs: 64, enabled: true });
    await live.store.rings.startGeneration(ring, 64);
    await live.store.rings.add(ring, range(50, 1_001));
    await waitFor(async () => {
      await live.store.rings.advance(ring, { maxBuckets: 64, queueCap: 60, fence: 1 });
      return (await counts(live.store)).due === 50;
    });
  });

  it('forgets cards that are removed from the fleet', async () => {
    await fail(live.store, [5], PARKED);
    await fail(live.store, range(4));
    await live.store.work.forgetCards([1, 2, 5, 99]);
    await live.store.work.forgetCards([]);
    expect(await counts(live.store)).toMatchObject({ retryDue: 2 });
    await queueCards(live.store, [1, 5]);
    expect((await claim(live.store, 10)).items.filter((item) => item.lane !== 'retry')).toMatchObject([
      { lane: 'schedule' },
      { lane: 'schedule' },
    ]);
  });
});
