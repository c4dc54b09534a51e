// Advancing rings: what is due moves into the queue, once, and a late ring owes one revolution at most.

import { expect, it } from 'vitest';
import { bucketOf, dueAt } from '../../../src/domain/schedule/phase.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import type { RingState } from '../../../src/store/ports/live/rings.ts';
import type { WorkItem } from '../../../src/store/ports/live/work-queue.ts';
import { setLimit } from '../../support/limits.ts';
import { waitFor } from '../../support/wait-for.ts';
import { claim, describeLiveStore, onlyRing, REALNAME, range, settle } from './stores.ts';

const RING = { configId: 7, taskType: REALNAME };
/** A revolution. Without a limit a ring of 64 ms would never be done where a call takes longer than the buckets it moves. */
const LIMITS = { maxBuckets: 64, queueCap: 1e6, fence: 1 };
const CARDS = range(1_000);
/** A revolution that no busy machine misses as a whole, though a bucket of the 64 is due every quarter of a second. */
const SLOW_MS = 16_000;

async function build(store: LiveStore, intervalMs: number): Promise<RingState> {
  await store.rings.configure(RING, { intervalMs, enabled: true });
  await store.rings.startGeneration(RING, 64);
  await store.rings.add(RING, CARDS);
  return onlyRing(store);
}

/** Due when the bucket `ahead` after the next one is. */
const dueAhead = (ring: RingState, ahead: number) => dueAt(ring, ring.cursor + ahead);

/** The cards of the buckets from one cursor up to another. */
function cardsBetween({ cursor: from }: RingState, { cursor: to }: RingState): number[] {
  return CARDS.filter((card) => (bucketOf(card, 64) - (from % 64) + 64) % 64 < to - from);
}

describeLiveStore('advance', (live) => {
  it('moves exactly the cards of the buckets that are due', async () => {
    const ring = await build(live.store, SLOW_MS);
    await waitFor(() => Date.now() > dueAhead(ring, 2));
    const { ring: after, moved, queueLength } = await live.store.rings.advance(RING, LIMITS);
    expect(after.cursor).toBeGreaterThanOrEqual(ring.cursor + 3);
    expect(after.cursor).toBeLessThan(ring.cursor + 64);
    const expected = cardsBetween(ring, after);
    expect(moved).toBe(expected.length);
    expect(queueLength).toBe(expected.length);
    await setLimit(live.store.work, REALNAME, 2_000);
    const claimed = (await claim(live.store, 2_000)).items.map((item) => item.cardId);
    expect(claimed.sort((a, b) => a - b)).toEqual(expected);
  });

  it('gives cards the instant their bucket was due: the earlier bucket is claimed first', async () => {
    const ring = await build(live.store, 640);
    await waitFor(() => Date.now() > dueAhead(ring, 20));
    await live.store.rings.advance(RING, LIMITS);
    const first = cardsBetween(ring, { ...ring, cursor: ring.cursor + 1 });
    const claimed = (await claim(live.store, first.length)).items.map((item) => item.cardId);
    expect(claimed.sort((a, b) => a - b)).toEqual(first);
  });

  it('moves nothing before the time, and never the same card twice', async () => {
    const ring = await build(live.store, 64);
    let moved = 0;
    const turn = async () => {
      const step = await live.store.rings.advance(RING, LIMITS);
      moved += step.moved;
      return step.ring.cursor;
    };
    // Where the machine stalls, revolutions are left out: until each bucket has come, then for two more.
    await waitFor(async () => (await turn()) > ring.cursor && moved >= CARDS.length);
    const cursor = await turn();
    await waitFor(async () => (await turn()) > cursor + 130);
    expect(moved).toBe(CARDS.length);
    expect((await live.store.work.counts(REALNAME)).queueLength).toBe(CARDS.length);
    expect((await live.store.rings.advance(RING, LIMITS)).ring.anchorMs).toBe(ring.anchorMs);
  });

  it('leaves alone what runs, and what waits to be retried, when the ring comes round', async () => {
    await build(live.store, 64);
    await setLimit(live.store.work, REALNAME, 2_000);
    const running: WorkItem[] = [];
    const comesRound = async () => {
      const { cursor } = (await live.store.rings.advance(RING, LIMITS)).ring;
      await waitFor(async () => (await live.store.rings.advance(RING, LIMITS)).ring.cursor > cursor + 130);
    };
    await comesRound();
    while (running.length < CARDS.length) running.push(...(await claim(live.store, 2_000)).items);
    await comesRound();
    expect((await claim(live.store, 2_000)).items, 'cards that run are not given out again').toEqual([]);
    const [failing, others] = [running.slice(0, 5), running.slice(5)];
    await settle(live.store, failing, 'failed', { baseMs: 1e9, capMs: 1e12 });
    await comesRound();
    expect((await live.store.work.counts(REALNAME)).retryDue, 'no retry is due sooner for it').toBe(0);
    expect(await settle(live.store, others, 'done')).toEqual({ fenced: 0 });
  });

  it('obeys maxBuckets', async () => {
    const ring = await build(live.store, SLOW_MS);
    await waitFor(() => Date.now() > dueAhead(ring, 2));
    expect((await live.store.rings.advance(RING, { ...LIMITS, maxBuckets: 1 })).ring.cursor).toBe(
      ring.cursor + 1,
    );
    expect((await live.store.rings.advance(RING, { ...LIMITS, maxBuckets: 2 })).ring.cursor).toBe(
      ring.cursor + 3,
    );
    expect((await live.store.rings.advance(RING, { ...LIMITS, maxBuckets: 0 })).ring.cursor).toBe(
      ring.cursor + 3,
    );
  });

  it('stops at the queue cap and goes on below it', async () => {
    const ring = await build(live.store, 1_280);
    await waitFor(() => Date.now() > dueAhead(ring, 35));
    const first = await live.store.rings.advance(RING, { ...LIMITS, queueCap: 100 });
    expect(first.queueLength).toBeGreaterThanOrEqual(100);
    expect(first.queueLength).toBeLessThan(200);
    const full = await live.store.rings.advance(RING, { ...LIMITS, queueCap: 100 });
    expect(full).toMatchObject({ moved: 0, queueLength: first.queueLength });
    expect(
      (await live.store.rings.advance(RING, { ...LIMITS, queueCap: 101 + first.moved })).moved,
    ).toBeGreaterThan(0);
  });

  it('skips whole revolutions of a ring that is late by more than one', async () => {
    const ring = await build(live.store, 50);
    await waitFor(() => Date.now() > dueAhead(ring, 0) + 500);
    const before = Date.now();
    const { ring: after, moved } = await live.store.rings.advance(RING, { ...LIMITS, maxBuckets: 1 });
    const skipped = after.cursor - 1 - ring.cursor;
    expect(skipped % 64).toBe(0);
    expect(skipped / 64).toBeGreaterThanOrEqual(10);
    expect(moved).toBe(cardsBetween(ring, { ...ring, cursor: ring.cursor + 1 }).length);
    expect(dueAt(after, after.cursor)).toBeGreaterThan(before - 2 * 50);
  });

  it('refuses a fencing token that a newer leader has outdated', async () => {
    const ring = await build(live.store, 64);
    await waitFor(() => Date.now() > dueAhead(ring, 10));
    expect(
      (await live.store.rings.advance(RING, { ...LIMITS, fence: 5, maxBuckets: 1 })).ring.cursor % 64,
    ).toBe((ring.cursor + 1) % 64);
    const refused = await live.store.rings.advance(RING, { ...LIMITS, fence: 4 });
    expect(refused).toMatchObject({ moved: 0 });
    expect(refused.ring.cursor % 64).toBe((ring.cursor + 1) % 64);
    await live.store.rings.advance(RING, { ...LIMITS, fence: 6, maxBuckets: 1 });
    expect((await live.store.rings.advance(RING, { ...LIMITS, fence: 5, maxBuckets: 1 })).moved).toBe(0);
  });

  it('moves nothing while disabled; the pause is no lag afterwards', async () => {
    const ring = await build(live.store, 640);
    await live.store.rings.configure(RING, { intervalMs: 640, enabled: false });
    await waitFor(() => Date.now() > dueAhead(ring, 30));
    const paused = await live.store.rings.advance(RING, LIMITS);
    expect(paused).toMatchObject({ moved: 0 });
    const before = Date.now();
    await live.store.rings.configure(RING, { intervalMs: 640, enabled: true });
    const enabled = await onlyRing(live.store);
    expect(enabled.cursor).toBe(paused.ring.cursor);
    expect(dueAt(enabled, enabled.cursor)).toBeGreaterThan(before - 100);
    expect(dueAt(enabled, enabled.cursor)).toBeLessThanOrEqual(Date.now() + 10);
  });

  it('keeps an early next bucket early when the ring comes back at once', async () => {
    const ring = await build(live.store, 64_000);
    const first = (await live.store.rings.advance(RING, LIMITS)).ring;
    await live.store.rings.configure(RING, { intervalMs: 64_000, enabled: false });
    await live.store.rings.configure(RING, { intervalMs: 64_000, enabled: true });
    const back = await onlyRing(live.store);
    expect(dueAt(back, back.cursor)).toBeCloseTo(dueAt(first, first.cursor), 1);
    expect(back.anchorMs).toBeCloseTo(ring.anchorMs, 1);
  });

  it('re-anchors on a shorter interval: the next bucket is due one new step from now at the latest', async () => {
    await build(live.store, 3_600_000);
    const before = (await live.store.rings.advance(RING, LIMITS)).ring;
    const now = Date.now();
    await live.store.rings.configure(RING, { intervalMs: 64_000, enabled: true });
    const after = await onlyRing(live.store);
    expect(after.cursor).toBe(before.cursor);
    expect(dueAt(after, after.cursor)).toBeGreaterThan(now);
    expect(dueAt(after, after.cursor)).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  it('re-anchors on a longer interval: the next bucket keeps its due time', async () => {
    await build(live.store, 64_000);
    const before = (await live.store.rings.advance(RING, LIMITS)).ring;
    await live.store.rings.configure(RING, { intervalMs: 3_600_000, enabled: true });
    const after = await onlyRing(live.store);
    expect(after.cursor).toBe(before.cursor);
    expect(dueAt(after, after.cursor)).toBeCloseTo(dueAt(before, before.cursor), 1);
  });

  it('counts skipped revolutions, and how long a whole one takes', async () => {
    const built = await build(live.store, 200);
    const readyMs = dueAt(built, 64 * Math.ceil(built.cursor / 64)) + 700;
    await waitFor(() => Date.now() > readyMs);
    // Up to its beginning, where a revolution counts as begun.
    const limits = { ...LIMITS, maxBuckets: 16 };
    while (((await onlyRing(live.store)).lapStartedAtMs ?? 0) === 0)
      await live.store.rings.advance(RING, limits);
    const late = (await live.store.rings.advance(RING, limits)).ring;
    expect(late.skippedRevolutions).toBeGreaterThanOrEqual(3);
    expect(late.achievedIntervalMs).toBeNull();
    expect(late.lapStartedAtMs).toBeGreaterThanOrEqual(readyMs);
    // The rest of the revolution comes 600 ms later: three times as long as configured.
    await waitFor(() => Date.now() > (late.lapStartedAtMs as number) + 600);
    let lap = late;
    await waitFor(async () => {
      lap = (await live.store.rings.advance(RING, limits)).ring;
      return lap.achievedIntervalMs !== null;
    });
    expect(lap.achievedIntervalMs).toBeGreaterThanOrEqual(600);
    expect(lap.skippedRevolutions).toBeGreaterThan(late.skippedRevolutions);
    await live.store.rings.configure(RING, { intervalMs: 60_000, enabled: true });
    const changed = await onlyRing(live.store);
    expect(changed).toMatchObject({ achievedIntervalMs: null, lapStartedAtMs: null });
    expect(changed.skippedRevolutions).toBe(lap.skippedRevolutions);
  });

  it('by two callers at once moves every card once', async () => {
    const ring = await build(live.store, SLOW_MS);
    const other = await live.another();
    await waitFor(() => Date.now() > dueAhead(ring, 2));
    const results = await Promise.all(
      [live.store, other, live.store, other].map((store) => store.rings.advance(RING, LIMITS)),
    );
    const cursor = Math.max(...results.map((result) => result.ring.cursor));
    const moved = results.reduce((sum, result) => sum + result.moved, 0);
    expect(cursor).toBeGreaterThanOrEqual(ring.cursor + 3);
    expect(moved).toBe(cardsBetween(ring, { ...ring, cursor }).length);
    expect((await live.store.work.counts(REALNAME)).queueLength).toBe(moved);
  });
});
