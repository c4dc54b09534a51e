// Urgent cards: before all others, each once, wherever they are, and never more than there is room for.

import { expect, it } from 'vitest';
import type { Urgency } from '../../../src/store/ports/live/work-queue.ts';
import { pauseByOperator } from '../../support/limits.ts';
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
const WAITS_LONG = { baseMs: 1e9, capMs: 1e12 };

describeLiveStore('urgent cards', (live) => {
  const makeUrgent = (cardIds: readonly number[], urgency: Urgency = 'urgent', cap = CAP) =>
    live.store.work.makeUrgent(REALNAME, cardIds, urgency, cap);
  const counts = () => live.store.work.counts(REALNAME);
  /** @returns the cards of a claim, in its order, with their lanes. */
  const lanes = async (max: number) =>
    (await claim(live.store, max)).items.map(({ cardId, lane }) => [cardId, lane]);

  it('come before all others, each once, however often they are made urgent', async () => {
    const other = await live.another();
    await queueCards(live.store, range(100));
    await makeUrgent([100, 200]);
    await other.work.makeUrgent(REALNAME, [200, 99], 'urgent', CAP);
    await makeUrgent([]);
    expect(await counts()).toMatchObject({ queueLength: 101, due: 101, retryDue: 0, backoff: 0 });
    const { items, lateMs } = await claim(live.store, 8);
    expect(items.map(({ cardId }) => cardId).slice(0, 3)).toEqual([100, 200, 99]);
    expect(items.map(({ lane }) => lane)).toEqual([
      ...Array<string>(3).fill('urgent'),
      ...Array<string>(5).fill('schedule'),
    ]);
    expect(lateMs).toHaveLength(8);
    for (const ms of lateMs) {
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(ms).toBeLessThan(600_000);
    }
  });

  it('urgent cards that come first are before the other urgent ones, also if they were urgent before', async () => {
    await makeUrgent([1, 2, 3]);
    await makeUrgent([3, 4], 'first');
    await makeUrgent([4]);
    expect(await lanes(4)).toEqual([3, 4, 1, 2].map((cardId) => [cardId, 'urgent']));
  });

  it('take half of the claims while others are due, and all of them otherwise', async () => {
    await queueCards(live.store, range(20));
    await makeUrgent(range(20, 101));
    const many = await lanes(10);
    expect(many.filter(([, lane]) => lane === 'urgent')).toHaveLength(5);
    const single: unknown[] = [];
    for (let i = 0; i < 12; i += 1) single.push((await lanes(1))[0]?.[1]);
    expect(single.filter((lane) => lane === 'urgent')).toHaveLength(6);
    expect(await lanes(100), 'what one kind leaves').toHaveLength(18);
    expect(await counts()).toMatchObject({ due: 0 });
    await makeUrgent([300, 301]);
    expect(await lanes(2)).toEqual([300, 301].map((cardId) => [cardId, 'urgent']));
  });

  it('get their turn next to the manual list, even with one slot', async () => {
    await queueCards(live.store, range(20));
    await live.store.manual.push(REALNAME, range(20, 201).map(String));
    await makeUrgent(range(20, 101));
    const taken: unknown[] = [];
    for (let i = 0; i < 16; i += 1) taken.push((await lanes(1))[0]?.[1]);
    expect(taken.filter((lane) => lane === 'manual')).toHaveLength(8);
    expect(taken.filter((lane) => lane === 'urgent')).toHaveLength(4);
    expect(taken.filter((lane) => lane === 'schedule')).toHaveLength(4);
    expect(taken.slice(0, 4)).toContain('urgent');
  });

  it('come in chunks, as many as there are', async () => {
    await makeUrgent(range(2_500));
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
      await other.work.makeUrgent(REALNAME, [cardId], 'urgent', CAP);
      return heard > 0;
    });
  });

  it.each([
    ['done', PARKED],
    ['failed', PARKED],
    ['returned', PARKED],
  ] as const)(
    'are polled once more when they run, as soon as that poll is settled: %s',
    async (verdict, backoff) => {
      await queueCards(live.store, [1, 2, 3]);
      const { items } = await claim(live.store, 1);
      await makeUrgent([1]);
      await makeUrgent([1], 'first');
      expect(await lanes(1), 'while it runs').toEqual([[2, 'schedule']]);
      expect(await settle(live.store, items, verdict, backoff)).toEqual({ fenced: 0 });
      // The answer was lost: the same settlement comes again.
      expect(await settle(live.store, items, verdict, backoff)).toEqual({ fenced: 1 });
      expect(await counts()).toMatchObject({ queueLength: 3, due: 2, retryDue: 0, backoff: 0 });
      const again = (await claim(live.store, 2)).items;
      expect(again.map(({ cardId, lane }) => [cardId, lane])).toEqual([
        [1, 'urgent'],
        [3, 'schedule'],
      ]);
      await settle(live.store, again, 'done');
      await live.store.work.reap(REALNAME);
      expect(await counts()).toMatchObject({ queueLength: 1, due: 0, retryDue: 0, backoff: 0 });
    },
  );

  it('wake those that wait for work when such a poll is settled', async () => {
    await queueCards(live.store, [1]);
    const { items } = await claim(live.store, 1);
    await makeUrgent([1]);
    let heard = 0;
    live.store.work.onWork(REALNAME, () => {
      heard += 1;
    });
    await settle(live.store, items, 'done');
    await waitFor(async () => {
      // The subscription may come after the first message.
      if (heard === 0) {
        const claimed = await claim(live.store, 1);
        await makeUrgent([1]);
        await settle(live.store, claimed.items, 'done');
      }
      return heard > 0;
    });
  });

  it('keep the pause of a poll that failed meanwhile, and are first when it is over', async () => {
    await queueCards(live.store, [1, 2]);
    const { items } = await claim(live.store, 1);
    await makeUrgent([1]);
    const settlement = {
      item: items[0] as (typeof items)[0],
      verdict: 'failed' as const,
      random: 0,
      waitMs: 300,
    };
    await live.store.work.settle(REALNAME, [settlement], PARKED);
    expect(await counts()).toMatchObject({ queueLength: 1 });
    await waitFor(async () => (await counts()).retryDue === 1);
    await live.store.work.reap(REALNAME);
    expect(await counts()).toMatchObject({ queueLength: 2, retryDue: 0, backoff: 0 });
    expect(await lanes(2)).toEqual([
      [1, 'urgent'],
      [2, 'schedule'],
    ]);
  });

  it('are first, and once in the queue, when the worker that ran them died', async () => {
    await queueCards(live.store, [1]);
    const { items } = await claim(live.store, 1, { leaseMs: 300 });
    await makeUrgent([1]);
    await queueCards(live.store, [2, 3]);
    await leasesToExpire(live.store);
    await live.store.work.reap(REALNAME);
    expect(await settle(live.store, items, 'done'), 'the late worker').toEqual({ fenced: 1 });
    expect(await lanes(2)).toEqual([
      [1, 'urgent'],
      [2, 'schedule'],
    ]);
    expect(await counts()).toMatchObject({ queueLength: 3, retryDue: 0, backoff: 0 });
  });

  it('are not polled once more when another worker took them after their lease', async () => {
    await queueCards(live.store, [1]);
    await claim(live.store, 1, { leaseMs: 50 });
    await makeUrgent([1]);
    await leasesToExpire(live.store);
    const { items } = await claim(live.store, 1);
    await live.store.work.reap(REALNAME);
    await settle(live.store, items, 'done');
    await live.store.work.reap(REALNAME);
    expect(await counts()).toMatchObject({ queueLength: 0, retryDue: 0, backoff: 0 });
  });

  it('are urgent again after a reset of their slots', async () => {
    await queueCards(live.store, [1, 2]);
    await claim(live.store, 2, { leaseMs: 100 });
    await makeUrgent([2]);
    await live.store.work.resetSlots(REALNAME);
    await waitFor(async () => {
      await live.store.work.reap(REALNAME);
      return (await live.store.work.place(REALNAME, 1, [])).queued?.before === 1;
    });
    expect(await lanes(2)).toEqual([
      [2, 'urgent'],
      [1, 'schedule'],
    ]);
  });

  it('keep their backoff while they wait to be retried, and come at once where they are left to their ring', async () => {
    await queueCards(live.store, [1, 2]);
    const { items } = await claim(live.store, 2);
    await settle(live.store, items.slice(0, 1), 'failed', WAITS_LONG);
    await settle(live.store, items.slice(1), 'failed', PARKED);
    await makeUrgent([1, 2]);
    await makeUrgent([1, 2]);
    expect(await counts()).toMatchObject({ queueLength: 1, due: 1, backoff: 1, retryDue: 0 });
    const retried = (await claim(live.store, 2)).items;
    expect(retried).toMatchObject([{ cardId: 2, lane: 'urgent' }]);
    await settle(live.store, retried, 'failed', PARKED);
    expect(await counts(), 'nothing brings it again by itself').toMatchObject({
      retryDue: 0,
      queueLength: 0,
    });
  });

  it('need not share the slots of the retries', async () => {
    await queueCards(live.store, [1]);
    const { items } = await claim(live.store, 1);
    await settle(live.store, items, 'failed', { baseMs: 0, capMs: 1 });
    expect(await counts()).toMatchObject({ retryDue: 1 });
    await makeUrgent([1]);
    expect(await counts()).toMatchObject({ retryDue: 0, queueLength: 1 });
    expect(await lanes(1)).toEqual([[1, 'urgent']]);
  });

  it('stay urgent when they are returned, also if their claim was sent twice', async () => {
    await queueCards(live.store, range(3));
    await makeUrgent([3]);
    const request = { instanceId: 'w', claimNumber: 7, max: 2, leaseMs: 60_000 };
    const first = await live.store.work.claim(REALNAME, request);
    const { items } = await live.store.work.claim(REALNAME, request);
    expect(items.map(({ cardId, lane }) => [cardId, lane])).toEqual([
      [3, 'urgent'],
      [1, 'schedule'],
    ]);
    expect(items).toEqual(first.items);
    await settle(live.store, items, 'returned');
    await makeUrgent([100]);
    expect(await lanes(4)).toEqual([
      [3, 'urgent'],
      [100, 'urgent'],
      [2, 'schedule'],
      [1, 'schedule'],
    ]);
  });

  it('are half as many as the queue may hold, of each urgency; a full queue takes them, too', async () => {
    await queueCards(live.store, range(20));
    await makeUrgent(range(8, 101), 'urgent', 10);
    expect(await counts()).toMatchObject({ queueLength: 25 });
    await makeUrgent(range(8, 201), 'first', 10);
    // In the same millisecond, too, Redis has 101 before 18.
    await makeUrgent(range(3, 18), 'urgent', 10);
    expect(await counts(), 'cards that wait need no room').toMatchObject({
      queueLength: 30,
      retryDue: 0,
      backoff: 0,
    });
    const claimed = await lanes(16);
    expect(claimed.slice(0, 8).map(([cardId]) => cardId)).toEqual([201, 202, 203, 204, 205, 101, 102, 103]);
  });

  it('were due when they became urgent', async () => {
    const before = await live.store.now();
    await queueCards(live.store, [1]);
    await makeUrgent([2], 'first');
    const { queued, running } = await live.store.work.place(REALNAME, 2, []);
    expect(running).toBeNull();
    expect(queued?.before).toBe(0);
    expect(queued?.dueAtMs).toBeGreaterThan(before - 1);
    expect(queued?.dueAtMs).toBeLessThanOrEqual(await live.store.now());
  });

  it('are forgotten with their card', async () => {
    await queueCards(live.store, [1]);
    const { items } = await claim(live.store, 1);
    await makeUrgent([1]);
    await live.store.work.forgetCards([1]);
    await settle(live.store, items, 'done');
    expect(await counts()).toMatchObject({ queueLength: 0 });
  });

  it('stay due while their type is paused', async () => {
    await pauseByOperator(live.store.work, REALNAME, { ms: 600_000, reason: '', by: 'test' });
    await makeUrgent([1]);
    expect((await claim(live.store, 1)).items).toEqual([]);
    await live.store.work.resume(REALNAME);
    expect(cardIdsOf((await claim(live.store, 1)).items)).toEqual([1]);
  });
});
