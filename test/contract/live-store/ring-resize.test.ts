// Rings that grow and shrink in place: bucket by bucket, under adds, removes and a turning cursor.

import { expect, it } from 'vitest';
import { bucketOf, dueAt, nextDueAt, stepsOf } from '../../../src/domain/schedule/phase.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import type { RingState } from '../../../src/store/ports/live/rings.ts';
import { setLimit } from '../../support/limits.ts';
import { waitFor } from '../../support/wait-for.ts';
import { claim, describeRedisLiveStore, onlyRing, REALNAME, range, settle } from './stores.ts';

const RING = { configId: 7, taskType: REALNAME };
const LARGEST_BUCKET = 400;

async function build(store: LiveStore, buckets: number, intervalMs = 3_600_000): Promise<void> {
  await store.rings.configure(RING, { intervalMs, enabled: true });
  await store.rings.startGeneration(RING, buckets);
}

/** The cards of every bucket, in order of phase. */
async function bucketsOf(store: LiveStore): Promise<Array<readonly number[]>> {
  const found: Array<readonly number[]> = [];
  for (let phase: number | null = 0; phase !== null; ) {
    const page = await store.rings.page(RING, phase, 1);
    found.push(page.cardIds);
    phase = page.nextPhase;
  }
  return found;
}

/** A number in [0, 1), the same sequence in every run. */
function makeRandom(): () => number {
  let seed = 42;
  return () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return seed / 2 ** 32;
  };
}

describeRedisLiveStore('ring resize', (live) => {
  it('keeps every bucket small while cards are added, chunk by chunk, and moves no phase', async () => {
    await build(live.store, 64);
    const first = await onlyRing(live.store);
    for (let from = 1; from <= 30_000; from += 10_000) {
      await live.store.rings.add(RING, range(10_000, from));
      expect((await onlyRing(live.store)).members).toBe(from + 9_999);
      const sizes = (await bucketsOf(live.store)).map((cards) => cards.length);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(LARGEST_BUCKET);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(from + 9_999);
    }
    const grown = await onlyRing(live.store);
    expect(grown).toMatchObject({ generation: 1, building: null, members: 30_000 });
    expect(grown.buckets + grown.split).toBeGreaterThan(200);
    for (const card of range(500)) {
      const shift = nextDueAt(grown, card) - nextDueAt(first, card);
      expect(shift).toBeGreaterThanOrEqual(-0.01);
      expect(shift).toBeLessThan(first.intervalMs / first.buckets);
    }
  });

  it('halves buckets as the domain does, for ids up to 2^53 - 1', async () => {
    await build(live.store, 64);
    const random = makeRandom();
    const ids = new Set([1, 7, 8, 2 ** 31, 2 ** 32 - 1, 2 ** 35, 2 ** 35 + 7, 2 ** 53 - 1]);
    while (ids.size < 8_000) ids.add(Math.floor(random() * 2 ** Math.ceil(random() * 53)));
    await live.store.rings.add(RING, [...ids]);
    expect(await onlyRing(live.store)).toMatchObject({ buckets: 64, split: 0 });
    await live.store.rings.add(
      RING,
      range(20_000).map((n) => 2 ** 50 + 64 * n),
    );
    expect((await onlyRing(live.store)).buckets).toBeGreaterThanOrEqual(128);
    // A card in the wrong half would not be found where it belongs.
    expect(await live.store.rings.contains(RING, [...ids])).not.toContain(false);
  });

  it('shrinks when cards go, to the least number of buckets, with what was left to split and merge done in steps', async () => {
    await build(live.store, 2_048, 64_000);
    await live.store.rings.add(RING, range(20_000));
    expect((await onlyRing(live.store)).buckets).toBe(2_048);
    await live.store.rings.remove(RING, range(15_000, 5_001));
    expect(await live.store.rings.resize(RING, 16)).toBe(true);
    // A bucket under the cursor waits until the cursor has passed it.
    const limits = { maxBuckets: 1, queueCap: 1e6, fence: 1 };
    await waitFor(async () => {
      await live.store.rings.advance(RING, limits);
      return !(await live.store.rings.resize(RING, 256));
    });
    expect(await onlyRing(live.store)).toMatchObject({ buckets: 1_024, split: 0, members: 5_000 });
    expect(new Set((await bucketsOf(live.store)).flat())).toEqual(new Set(range(5_000)));
    expect(await live.store.rings.contains(RING, range(100))).not.toContain(false);
    expect(await live.store.rings.resize(RING, 256)).toBe(false);
  });

  it('moves every card once in a revolution during which the ring grows', async () => {
    const cards = range(4_000);
    let added = 0;
    const polled = await pollOneRevolution(live.store, {
      buckets: 64,
      cards,
      begin: () => {
        added = 4_000;
      },
      between: async () => {
        if (added >= 14_000) return;
        await live.store.rings.add(RING, range(250, added + 1));
        added += 250;
      },
    });
    expect((await onlyRing(live.store)).buckets).toBeGreaterThanOrEqual(128);
    const old = polled.filter((card) => card <= 4_000);
    expect(old.sort((a, b) => a - b)).toEqual(cards);
    expect(new Set(polled).size).toBe(polled.length);
  });

  it('moves every card once in a revolution during which the ring shrinks', async () => {
    const cards = range(5_000);
    const between = async () => void (await live.store.rings.resize(RING, 32));
    const polled = await pollOneRevolution(live.store, { buckets: 2_048, cards, between });
    expect(await onlyRing(live.store)).toMatchObject({ buckets: 1_024, split: 0 });
    expect(new Set(polled)).toEqual(new Set(cards));
    // Where the revolution began between two halves that were merged since, it ends with the whole bucket.
    const again = polled.filter((card, at) => polled.indexOf(card) !== at);
    expect(new Set(again.map((card) => bucketOf(card, 1_024))).size).toBeLessThanOrEqual(1);
  });

  it('a ring that is off shrinks too, whatever its cursor points at', async () => {
    await build(live.store, 2_048, 2_048);
    await live.store.rings.add(RING, range(1_000));
    const ring = await onlyRing(live.store);
    await waitFor(() => Date.now() > dueAt(ring, ring.cursor + 30));
    // To the second half of a bucket.
    const limits = { maxBuckets: 8 - ((ring.cursor + 1) % 2), queueCap: 1e6, fence: 1 };
    const { cursor } = (await live.store.rings.advance(RING, limits)).ring;
    expect(cursor % 2).toBe(1);
    await live.store.rings.configure(RING, { intervalMs: 2_048, enabled: false });
    while (await live.store.rings.resize(RING, 512));
    // The whole bucket comes again.
    expect(await onlyRing(live.store)).toMatchObject({ buckets: 1_024, split: 0, cursor: (cursor - 1) / 2 });
  });

  it('comes to one state when several instances resize, add and remove at the same time', async () => {
    await build(live.store, 64);
    const other = await live.another();
    await live.store.rings.add(RING, range(8_000));
    await live.store.rings.startGeneration(RING, 64);
    await Promise.all([
      ...range(12).map((i) => (i % 2 ? other : live.store).rings.add(RING, range(2_000, i * 2_000))),
      ...range(8).map(() => other.rings.resize(RING, 64)),
      ...range(7).map((i) => live.store.rings.remove(RING, range(100, i * 500))),
    ]);
    for (const generation of ['in use', 'built']) {
      await live.store.rings.remove(RING, range(4_000));
      await live.store.rings.add(RING, range(100));
      const { members } = await onlyRing(live.store);
      const held = (await bucketsOf(live.store)).flat();
      expect(new Set(held).size, generation).toBe(held.length);
      expect(members, generation).toBe(held.length);
      const expected = [...range(100), ...range(21_999, 4_001)];
      expect(await live.store.rings.contains(RING, expected), generation).not.toContain(false);
      expect(members, generation).toBe(expected.length);
      await live.store.rings.activate(RING);
    }
  });
});

interface Revolution {
  readonly buckets: number;
  readonly cards: readonly number[];
  readonly begin?: () => void;
  /** What changes the ring meanwhile, again and again. */
  readonly between: () => Promise<void>;
}

/** Polls what falls due in one revolution of a new ring; in one of a slower ring where the machine missed one as a whole. */
async function pollOneRevolution(store: LiveStore, revolution: Revolution): Promise<number[]> {
  const { buckets, cards, begin = () => {}, between } = revolution;
  await setLimit(store.work, REALNAME, 10_000);
  for (let intervalMs = 2_000; ; intervalMs *= 3) {
    await build(store, buckets, intervalMs);
    await store.rings.add(RING, cards);
    begin();
    const polled = await pollUntilItEnds(store, between);
    if (polled !== null) return polled;
    await store.rings.drop(RING);
    await settle(store, (await claim(store, 10_000)).items, 'done');
    expect((await store.work.counts(REALNAME)).queueLength).toBe(0);
  }
}

/** Advances by single buckets. @returns the cards polled; null: a revolution was left out. */
async function pollUntilItEnds(store: LiveStore, between: () => Promise<void>): Promise<number[] | null> {
  const polled: number[] = [];
  const turnsOf = (ring: RingState) => ring.cursor / stepsOf(ring);
  const end = turnsOf(await onlyRing(store)) + 1;
  for (;;) {
    const { ring, moved } = await store.rings.advance(RING, { maxBuckets: 1, queueCap: 1e6, fence: 1 });
    if (ring.skippedRevolutions > 0) return null;
    const ended = turnsOf(ring) >= end;
    if (moved > 0) {
      const { items } = await claim(store, 10_000);
      polled.push(...items.map((item) => item.cardId));
      await settle(store, items, 'done');
    }
    if (ended) return polled;
    if (moved > 0) await between();
    // Nothing is due for a while.
    else await systemClock.sleep(2);
  }
}
