// Rings: configuration, membership, generations.
import { expect, it } from 'vitest';
import { dueAt, nextDueAt } from '../../../src/domain/schedule/phase.ts';
import type { RingState } from '../../../src/store/ports/live/rings.ts';
import { describeLiveStore, onlyRing, REALNAME, range } from './stores.ts';

const RING = { configId: 7, taskType: REALNAME };
const ON = { intervalMs: 60_000, enabled: true };
const NO_LIMITS = { maxBuckets: 1e6, queueCap: 1e6, fence: 1 };

/** The instant within the interval at which a card is due. */
function phaseMs(ring: RingState, cardId: number): number {
  return (nextDueAt(ring, cardId) - ring.anchorMs) % ring.intervalMs;
}

describeLiveStore('rings', (live) => {
  /** Of the generation in use. */
  const members = async () => (await live.store.rings.list())[0]?.members;

  it('starts configured but never built, and is listed', async () => {
    await live.store.rings.configure(RING, ON);
    const ring = await onlyRing(live.store);
    expect(ring).toMatchObject({ ...RING, ...ON, generation: 0, cursor: 0, members: 0, building: null });
    await live.store.rings.configure(
      { configId: 8, taskType: 'package' },
      { intervalMs: 1_000, enabled: false },
    );
    const listed = await live.store.rings.list();
    expect(listed).toHaveLength(2);
    expect(listed).toContainEqual(ring);
    expect(listed).toContainEqual(
      expect.objectContaining({ configId: 8, taskType: 'package', enabled: false }),
    );
    const advanced = await live.store.rings.advance(RING, NO_LIMITS);
    expect(advanced).toMatchObject({ ring, moved: 0, queueLength: 0 });
  });

  it('configuring twice changes nothing', async () => {
    await live.store.rings.configure(RING, ON);
    const ring = await onlyRing(live.store);
    await live.store.rings.configure(RING, ON);
    expect(await onlyRing(live.store)).toEqual(ring);
  });

  it('adds and removes idempotently, and counts its members', async () => {
    await live.store.rings.configure(RING, ON);
    await live.store.rings.startGeneration(RING, 64);
    const started = await onlyRing(live.store);
    expect(started).toMatchObject({ generation: 1, buckets: 64, members: 0, building: null });
    for (let i = 0; i < 2; i += 1) {
      await live.store.rings.add(RING, range(5_000));
      expect(await members()).toBe(5_000);
    }
    await live.store.rings.add(RING, range(10, 4_996));
    expect(await members()).toBe(5_005);
    for (let i = 0; i < 2; i += 1) {
      await live.store.rings.remove(RING, [1, 2, 999_999]);
      expect(await members()).toBe(5_003);
    }
    expect(await live.store.rings.contains(RING, [1, 3, 2, 5_005, 5_006])).toEqual([
      false,
      true,
      false,
      true,
      false,
    ]);
    await live.store.rings.add(RING, []);
    expect(await members()).toBe(5_003);
  });

  it('holds ids past 32 bits', async () => {
    const big = [2 ** 31, 2 ** 32 + 5, 89_860_012_345_678];
    await live.store.rings.configure(RING, ON);
    await live.store.rings.startGeneration(RING, 64);
    await live.store.rings.add(RING, big);
    expect(await members()).toBe(3);
    expect(await live.store.rings.contains(RING, [...big, 2 ** 32 + 4])).toEqual([true, true, true, false]);
  });

  it('refuses cards for a ring that was never built or is not there', async () => {
    await expect(live.store.rings.add(RING, [1])).rejects.toMatchObject({ kind: 'not_found' });
    await live.store.rings.remove(RING, [1]);
    expect(await live.store.rings.contains(RING, [1])).toEqual([false]);
    await live.store.rings.configure(RING, ON);
    await expect(live.store.rings.add(RING, [1])).rejects.toMatchObject({ kind: 'conflict' });
    await live.store.rings.remove(RING, [1]);
    expect(await live.store.rings.contains(RING, [1])).toEqual([false]);
  });

  it('grows to a new generation that keeps every member, every phase and the next due time', async () => {
    await live.store.rings.configure(RING, { intervalMs: 6_400, enabled: true });
    await live.store.rings.startGeneration(RING, 64);
    await live.store.rings.add(RING, range(3_000));
    await live.store.rings.advance(RING, NO_LIMITS);
    await live.store.rings.startGeneration(RING, 256);
    const old = await onlyRing(live.store);
    expect(old).toMatchObject({ generation: 1, members: 3_000, building: { generation: 2, buckets: 256 } });
    // As the initialiser does: everything again, while single cards come and go.
    await live.store.rings.add(RING, range(2_000));
    expect(await members()).toBe(3_000);
    await live.store.rings.remove(RING, [1_500]);
    await live.store.rings.add(RING, [...range(1_000, 2_001), 7_777]);
    expect(await live.store.rings.contains(RING, [1_500, 7_777, 2_500])).toEqual([false, true, true]);
    await live.store.rings.activate(RING);
    const grown = await onlyRing(live.store);
    expect(grown).toMatchObject({ generation: 2, buckets: 256, members: 3_000, building: null });
    expect(dueAt(grown, grown.cursor)).toBeCloseTo(dueAt(old, old.cursor), 3);
    expect(await live.store.rings.contains(RING, [1_500, 7_777, ...range(5)])).toEqual([
      false,
      true,
      ...range(5).map(() => true),
    ]);
    const step = old.intervalMs / old.buckets;
    for (const card of range(200)) {
      const shift = phaseMs(grown, card) - phaseMs(old, card);
      expect(shift).toBeGreaterThanOrEqual(-0.01);
      expect(shift).toBeLessThan(step);
    }
    await live.store.rings.activate(RING);
    expect(await onlyRing(live.store)).toEqual(grown);
  });

  it('discards an unfinished generation', async () => {
    await live.store.rings.configure(RING, ON);
    await live.store.rings.startGeneration(RING, 64);
    await live.store.rings.add(RING, range(10));
    await live.store.rings.startGeneration(RING, 128);
    await live.store.rings.add(RING, range(10, 100));
    await live.store.rings.startGeneration(RING, 128);
    const again = await onlyRing(live.store);
    expect(again.building?.buckets).toBe(128);
    await live.store.rings.add(RING, [500]);
    await live.store.rings.activate(RING);
    const ring = await onlyRing(live.store);
    expect(ring.members).toBe(1);
    expect(await live.store.rings.contains(RING, [1, 100, 500])).toEqual([false, false, true]);
  });

  it('shrinks without skipping a bucket', async () => {
    await live.store.rings.configure(RING, { intervalMs: 128, enabled: true });
    await live.store.rings.startGeneration(RING, 128);
    await live.store.rings.startGeneration(RING, 64);
    const before = (await live.store.rings.advance(RING, { ...NO_LIMITS, maxBuckets: 128 })).ring;
    await live.store.rings.activate(RING);
    const after = await onlyRing(live.store);
    expect(after.cursor).toBe(Math.floor(before.cursor / 2));
  });

  it('is gone after drop, and comes back empty', async () => {
    await live.store.rings.configure(RING, ON);
    await live.store.rings.startGeneration(RING, 2_048);
    await live.store.rings.add(RING, range(1_000));
    await live.store.rings.drop(RING);
    await live.store.rings.drop(RING);
    expect(await live.store.rings.list()).toEqual([]);
    await expect(live.store.rings.advance(RING, NO_LIMITS)).rejects.toMatchObject({ kind: 'not_found' });
    await live.store.rings.configure(RING, ON);
    await live.store.rings.startGeneration(RING, 2_048);
    expect(await live.store.rings.contains(RING, range(1_000))).not.toContain(true);
    await live.store.rings.add(RING, range(1_000));
    expect(await members()).toBe(1_000);
  });

  it('starts a further generation when others add and remove at the same time', async () => {
    await live.store.rings.configure(RING, ON);
    await live.store.rings.startGeneration(RING, 64);
    await live.store.rings.add(RING, range(2_000));
    const other = await live.another();
    const changes = range(20).map(async (i) => {
      await other.rings.remove(RING, range(50, i * 100));
      await other.rings.add(RING, range(50, 10_000 + i * 100));
    });
    const growth = (async () => {
      await live.store.rings.startGeneration(RING, 256);
      await live.store.rings.add(RING, range(2_000));
    })();
    await Promise.all([...changes, growth]);
    await live.store.rings.add(
      RING,
      range(1_000, 10_100).filter((id) => id % 100 < 50),
    );
    await live.store.rings.remove(
      RING,
      range(1_000, 10_100).filter((id) => id % 100 >= 50),
    );
    await live.store.rings.activate(RING);
    const ring = await onlyRing(live.store);
    const all = range(12_500);
    const present = (await live.store.rings.contains(RING, all)).filter(Boolean);
    expect(ring.members).toBe(present.length);
  });
});
