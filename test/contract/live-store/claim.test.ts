// Claiming: limits, lanes, pauses, and claims that are sent twice.

import { expect, it } from 'vitest';
import { DEFAULT_MAX_CONCURRENCY } from '../../../src/domain/limits/operator-limits.ts';
import { pauseByOperator, setLimit } from '../../support/limits.ts';
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

describeLiveStore('claim', (live) => {
  it('gives out due cards once, with the slots they take', async () => {
    await queueCards(live.store, range(5));
    await setLimit(live.store.work, REALNAME, 8);
    const first = await claim(live.store, 3);
    const second = await claim(live.store, 10);
    expect(cardIdsOf([...first.items, ...second.items])).toEqual(range(5));
    expect(first.items.every((item) => item.lane === 'schedule' && item.member === String(item.cardId))).toBe(
      true,
    );
    expect([first.freeSlots, second.freeSlots]).toEqual([5, 3]);
    expect(await live.store.work.counts(REALNAME)).toEqual({
      queueLength: 5,
      due: 0,
      waitedMs: 0,
      retryDue: 0,
      backoff: 0,
      inFlight: 5,
      manualLength: 0,
      maxConcurrency: 8,
      effectiveConcurrency: 8,
      leaderLimit: null,
      inForce: true,
    });
  });

  it('returns the time of the claim by its own clock, also when the claim is sent again', async () => {
    expect((await claim(live.store, 1)).claimedAtMs).toBeNull();
    await queueCards(live.store, [1]);
    const request = { instanceId: 'w1', claimNumber: 1, max: 1, leaseMs: 15_000 };
    const before = Math.floor(await live.store.now());
    const { items, claimedAtMs } = await live.store.work.claim(REALNAME, request);
    const after = await live.store.now();
    expect(claimedAtMs).toBeGreaterThanOrEqual(before);
    expect(claimedAtMs).toBeLessThanOrEqual(after);
    expect(await live.store.work.claim(REALNAME, request)).toMatchObject({ items, claimedAtMs });
  });

  it('returns how late each scheduled card is, once', async () => {
    await queueCards(live.store, range(5));
    await live.store.manual.push(REALNAME, ['900']);
    const dueAtMs = new Map<number, number>();
    for (const cardId of range(5)) {
      const { queued } = await live.store.work.place(REALNAME, cardId, []);
      dueAtMs.set(cardId, queued?.dueAtMs ?? Number.NaN);
    }
    const request = { instanceId: 'w1', claimNumber: 1, max: 10, leaseMs: 60_000 };
    const { items, claimedAtMs, lateMs } = await live.store.work.claim(REALNAME, request);
    const scheduled = items.filter(({ lane }) => lane === 'schedule');
    expect(scheduled).toHaveLength(5);
    expect(lateMs).toEqual(scheduled.map(({ cardId }) => (claimedAtMs ?? 0) - (dueAtMs.get(cardId) ?? 0)));
    expect((await live.store.work.claim(REALNAME, request)).lateMs).toEqual([]);
  });

  it('claims nothing from an empty queue', async () => {
    const { items, freeSlots, pausedMs } = await claim(live.store, 10);
    expect({ items, freeSlots, pausedMs }).toEqual({
      items: [],
      freeSlots: DEFAULT_MAX_CONCURRENCY,
      pausedMs: 0,
    });
  });

  it('claims nothing while the limit lies below what runs', async () => {
    await queueCards(live.store, range(20));
    await setLimit(live.store.work, REALNAME, 10);
    const running = await claim(live.store, 10);
    await setLimit(live.store.work, REALNAME, 4);
    await live.store.work.release(REALNAME, running.items.slice(0, 6));
    expect(await claim(live.store, 10)).toMatchObject({ items: [], freeSlots: 0 });
    await live.store.work.release(REALNAME, running.items.slice(6, 8));
    const next = await claim(live.store, 10);
    expect(next.items).toHaveLength(2);
    expect(next.freeSlots).toBe(0);
  });

  it('gives slots back first, and the same once when it is sent twice', async () => {
    await queueCards(live.store, range(1_100));
    await setLimit(live.store.work, REALNAME, 1_050);
    await live.store.manual.push(REALNAME, ['7001']);
    const { items } = await claim(live.store, 1_050);
    const request = { instanceId: 'w', claimNumber: 1, max: 10, leaseMs: 600_000, released: items.slice(2) };
    const next = await live.store.work.claim(REALNAME, request);
    expect(next.items).toHaveLength(10);
    expect(next.freeSlots).toBe(1_038);
    const released = [...items.slice(2), ...items.slice(0, 1)];
    const again = await live.store.work.claim(REALNAME, { ...request, released });
    expect(again.items.map(({ member }) => member).sort()).toEqual(
      next.items.map(({ member }) => member).sort(),
    );
    expect(again.freeSlots).toBe(1_039);
    expect(await settle(live.store, items, 'done')).toEqual({ fenced: 0 });
  });

  it('returns the same items when sent twice', async () => {
    await queueCards(live.store, range(20));
    await live.store.manual.push(REALNAME, ['900:t1', '901:t1']);
    const request = { instanceId: 'w', claimNumber: 41, max: 8, leaseMs: 60_000 };
    const first = await live.store.work.claim(REALNAME, request);
    const again = await live.store.work.claim(REALNAME, request);
    const byMember = (a: { member: string }, b: { member: string }) => (a.member < b.member ? -1 : 1);
    expect(first.items).toHaveLength(8);
    expect([...again.items].sort(byMember)).toEqual([...first.items].sort(byMember));
    expect(again.freeSlots).toBe(first.freeSlots);
    expect((await live.store.work.counts(REALNAME)).inFlight).toBe(8);
    const next = await live.store.work.claim(REALNAME, { ...request, claimNumber: 42 });
    const held = new Set(first.items.map((item) => item.member));
    expect(next.items.filter((item) => held.has(item.member))).toEqual([]);
  });

  it('makes a new claim when the claim that is sent again has expired', async () => {
    await queueCards(live.store, range(3));
    const request = { instanceId: 'w', claimNumber: 1, max: 3, leaseMs: 100 };
    const first = await live.store.work.claim(REALNAME, request);
    await leasesToExpire(live.store);
    const again = await live.store.work.claim(REALNAME, request);
    expect(cardIdsOf(again.items)).toEqual(range(3));
    expect(again.items[0]?.token).not.toBe(first.items[0]?.token);
  });

  it('takes manual work first, but half at most while the schedule has work', async () => {
    await queueCards(live.store, range(20));
    await live.store.manual.push(REALNAME, range(20, 100).map(String));
    const lanes = (await claim(live.store, 10)).items.map((item) => item.lane);
    expect(lanes.filter((lane) => lane === 'manual')).toHaveLength(5);
    expect(lanes.filter((lane) => lane === 'schedule')).toHaveLength(5);
  });

  it('lets both lanes live when slots come one at a time', async () => {
    await queueCards(live.store, range(20));
    await live.store.manual.push(REALNAME, range(20, 100).map(String));
    const lanes: string[] = [];
    for (let i = 0; i < 10; i += 1)
      lanes.push(...(await claim(live.store, 1)).items.map((item) => item.lane));
    expect(lanes.filter((lane) => lane === 'manual')).toHaveLength(5);
  });

  it('lets either lane take what the other leaves', async () => {
    await queueCards(live.store, range(10));
    await live.store.manual.push(REALNAME, ['500', '501']);
    const first = await claim(live.store, 10);
    expect(first.items.filter((item) => item.lane === 'manual').map((item) => item.member)).toEqual([
      '500',
      '501',
    ]);
    expect(first.items).toHaveLength(10);
    await live.store.manual.push(REALNAME, range(20, 600).map(String));
    const second = await claim(live.store, 10);
    expect(second.items.filter((item) => item.lane === 'schedule')).toHaveLength(2);
    expect(second.items).toHaveLength(10);
  });

  it('keeps manual entries in order and distinguishes trigger entries from cards', async () => {
    await live.store.manual.push(REALNAME, ['7:trigger-a', '8', '9:trigger-b']);
    const { items } = await claim(live.store, 2);
    expect(items.map(({ cardId, member, lane }) => ({ cardId, member, lane }))).toEqual([
      { cardId: 7, member: '7:trigger-a', lane: 'manual' },
      { cardId: 8, member: '8', lane: 'manual' },
    ]);
    expect((await live.store.work.counts(REALNAME)).manualLength).toBe(1);
  });

  it('runs an entry that is in the manual list twice two times, one after the other', async () => {
    await live.store.manual.push(REALNAME, ['7', '7', '8']);
    const first = await claim(live.store, 10);
    expect(first.items.map((item) => item.member)).toEqual(['7', '8']);
    expect((await claim(live.store, 10)).items).toEqual([]);
    expect((await live.store.work.counts(REALNAME)).manualLength).toBe(1);
    await settle(live.store, first.items, 'done');
    expect((await claim(live.store, 10)).items.map((item) => item.member)).toEqual(['7']);
    expect((await live.store.work.counts(REALNAME)).manualLength).toBe(0);
  });

  it('polls a card by hand while the schedule polls it', async () => {
    await queueCards(live.store, [7]);
    await live.store.manual.push(REALNAME, ['7']);
    const { items } = await claim(live.store, 10);
    expect(items.map((item) => item.lane).sort()).toEqual(['manual', 'schedule']);
    await live.store.work.release(REALNAME, items.slice(0, 1));
    expect((await live.store.work.counts(REALNAME)).inFlight).toBe(1);
    expect(await settle(live.store, items, 'done')).toEqual({ fenced: 0 });
    expect(await live.store.work.counts(REALNAME)).toMatchObject({
      queueLength: 0,
      inFlight: 0,
      manualLength: 0,
    });
  });

  it('gives out long lists in one claim', async () => {
    await setLimit(live.store.work, REALNAME, 20_000);
    await queueCards(live.store, range(9_000));
    await live.store.manual.push(REALNAME, range(9_000, 20_000).map(String));
    const { items } = await claim(live.store, 18_000);
    expect(new Set(items.map((item) => item.member)).size).toBe(18_000);
    await settle(live.store, items, 'done');
    expect(await live.store.work.counts(REALNAME)).toMatchObject({
      queueLength: 0,
      inFlight: 0,
      manualLength: 0,
    });
  });

  it('keeps task types apart', async () => {
    await queueCards(live.store, range(3));
    await setLimit(live.store.work, REALNAME, 5);
    await pauseByOperator(live.store.work, REALNAME, { ms: 60_000, reason: 'test', by: 'me' });
    const other = await live.store.work.claim('package', {
      instanceId: 'w',
      claimNumber: 1,
      max: 5,
      leaseMs: 1_000,
    });
    expect(other).toEqual({
      inForce: true,
      items: [],
      claimedAtMs: null,
      lateMs: [],
      freeSlots: DEFAULT_MAX_CONCURRENCY,
      pausedMs: 0,
    });
    expect((await live.store.work.counts('carddata')).maxConcurrency).toBe(DEFAULT_MAX_CONCURRENCY);
  });
});
