// A ring's phase in absolute time: where a new ring begins, how one that is elsewhere comes to it, and what a ring that was lost
// still owes.

import { describe, expect, it } from 'vitest';
import { bucketOf, dueAt, nextDueAt, offPhaseMs } from '../../../src/domain/schedule/phase.ts';
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import type { RingState } from '../../../src/store/ports/live/rings.ts';
import { setLimit } from '../../support/limits.ts';
import { waitFor } from '../../support/wait-for.ts';
import { cardIdsOf, claim, describeLiveStore, onlyRing, REALNAME, range } from './stores.ts';

const RING = { configId: 7, taskType: REALNAME } as const;
const HOUR_MS = 3_600_000;
const ON = { intervalMs: HOUR_MS, enabled: true };
const LIMITS = { maxBuckets: 1e6, queueCap: 1e6, fence: 1 };
const CARDS = range(1_000);

describeLiveStore('the phase of a ring', (live) => {
  it('is the same after the ring was lost, and a third of the interval from those of the other types', async () => {
    const { rings } = live.store;
    const due = async (taskType: (typeof TASK_TYPES)[number]) => {
      const ring = { configId: 7, taskType };
      await rings.configure(ring, ON);
      await rings.startGeneration(ring, 64);
      const state = (await rings.list()).find((one) => one.taskType === taskType) as RingState;
      const now = await live.store.now();
      expect(dueAt(state, state.cursor)).toBeGreaterThan(now - 5_000);
      expect(dueAt(state, state.cursor)).toBeLessThan(now + HOUR_MS / 64);
      await rings.drop(ring);
      return nextDueAt(state, 4_711) % HOUR_MS;
    };
    const dues: number[] = [];
    for (const taskType of TASK_TYPES) {
      dues.push(await due(taskType));
      expect(await due(taskType)).toBe(dues.at(-1));
    }
    const gaps = dues.map((at, i) => ((dues[(i + 1) % 3] as number) - at + HOUR_MS) % HOUR_MS);
    expect(gaps).toEqual([HOUR_MS / 3, HOUR_MS / 3, HOUR_MS / 3]);
  });

  it('is reached bucket by bucket after a change of interval, at twice the pace at most', async () => {
    const { rings } = live.store;
    await rings.configure(RING, ON);
    await rings.startGeneration(RING, 64);
    const intervalMs = 6_400;
    await rings.configure(RING, { intervalMs, enabled: true });
    let ring = await onlyRing(live.store);
    let late = offPhaseMs(ring);
    const { skippedRevolutions } = ring;
    await waitFor(async () => {
      const before = ring;
      ring = (await rings.advance(RING, LIMITS)).ring;
      const turned = ((ring.cursor - before.cursor) * intervalMs) / 64;
      const now = offPhaseMs(ring);
      // A late ring makes up half of what it turned, an early one waits as long.
      if (ring.skippedRevolutions === skippedRevolutions) {
        const made = late > 0 ? Math.min(late, turned / 2) : Math.max(late, -turned);
        expect(Math.abs(now - (late - made))).toBeLessThan(2);
      }
      late = now;
      return late === 0;
    });
    expect((await rings.advance(RING, LIMITS)).ring.anchorMs % intervalMs).toBeLessThan(1);
  });
});

describeLiveStore('a ring that was lost', (live) => {
  /** Builds the ring. @returns the cards that were handed out with it */
  async function build(owedFromMs: number | null, owed?: { queueCap: number }): Promise<number[]> {
    const { rings, work } = live.store;
    await rings.configure(RING, ON);
    await rings.startGeneration(RING, 64, { owedFromMs });
    await rings.add(RING, CARDS, owed);
    await setLimit(work, REALNAME, 2_000);
    return cardIdsOf((await claim(live.store, 2_000)).items);
  }

  /** The cards whose bucket was due so long before the cursor. */
  function passedSince(ring: RingState, ms: number): number[] {
    const steps = Math.floor((ms / HOUR_MS) * 64);
    return CARDS.filter((card) => (ring.cursor - 1 - bucketOf(card, 64) + 64 * 1e6) % 64 < steps);
  }

  describe.each([
    ['once', 0],
    ['and whole revolutions before, which are skipped,', 3 * HOUR_MS],
  ])('%s', (_, moreMs) => {
    it('hands out at once what fell due since, and nothing else', async () => {
      // In the middle of a bucket.
      const now = await live.store.now();
      const from = Math.floor(now / (HOUR_MS / 64)) * (HOUR_MS / 64) - 19.5 * (HOUR_MS / 64);
      const handed = await build(from - moreMs, { queueCap: 1e6 });
      const ring = await onlyRing(live.store);
      const sinceMs = dueAt(ring, ring.cursor) - from;
      expect(handed).toEqual(passedSince(ring, sinceMs));
      expect(handed.length).toBeGreaterThan(200);
    });
  });

  it('owes nothing where nothing is known of it, where it is not asked to, or while the queue is full', async () => {
    const from = (await live.store.now()) - HOUR_MS / 2;
    expect(await build(null, { queueCap: 1e6 })).toEqual([]);
    await live.store.rings.drop(RING);
    expect(await build(from)).toEqual([]);
    await live.store.rings.drop(RING);
    expect(await build(from, { queueCap: 0 })).toEqual([]);
  });

  it('owes nothing more once it is loaded', async () => {
    const from = (await live.store.now()) - HOUR_MS / 2;
    const { rings, work } = live.store;
    await rings.configure(RING, ON);
    await rings.startGeneration(RING, 64, { owedFromMs: from });
    await rings.activate(RING);
    await rings.add(RING, CARDS, { queueCap: 1e6 });
    expect((await work.counts(REALNAME)).due).toBe(0);
  });
});
