// The scheduler on the live store of this process.

import { beforeEach, describe, expect, it } from 'vitest';
import { ConfigMatcher, type PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { ringOf, Scheduler } from '../../../../src/engine/schedule/scheduler.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { Rings } from '../../../../src/store/ports/live/rings.ts';
import { configOf, idsBetween } from '../../../support/card-table.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore, setLimit } from '../../../support/limits.ts';

const CAP = 64;
const BUCKETS = 1_024;

it('lets no ring starve another of its type while the queue is full', async () => {
  const clock = new FakeClock(1_000_000);
  const { rings, work } = openLimitedLiveStore({ clock });
  const busy = configOf(1);
  const calm = configOf(2, { intervalSeconds: 3_600 });
  const configs = [busy, calm];
  const scheduler = new Scheduler({
    rings,
    matcher: () => new ConfigMatcher(configs),
    fence: () => 1,
    queueCap: CAP,
    clock,
    onError: (error) => expect.unreachable(String(error)),
  });
  await scheduler.runOnce();
  const calmCards = Array.from({ length: 8 * BUCKETS }, (_, i) => 8 * BUCKETS + i);
  for (const [ring, cards] of [
    [busy, Array.from({ length: 8 * BUCKETS }, (_, i) => i)],
    [calm, calmCards],
  ] as const) {
    await rings.startGeneration(ringOf(ring), BUCKETS);
    await rings.add(ringOf(ring), cards);
  }
  await setLimit(work, 'realname', 1_000);
  const polled = { busy: 0, calm: 0 };
  // Both rings owe nearly a revolution; 16 cards a pass are polled, out of a queue that is full again after each.
  clock.advance(10 * 3_600_000 - 1_000);
  for (let claimNumber = 1; claimNumber <= 100; claimNumber += 1) {
    await scheduler.runOnce();
    const { items } = await work.claim('realname', {
      instanceId: 'w',
      claimNumber,
      max: 16,
      leaseMs: 60_000,
    });
    for (const { cardId } of items) polled[cardId < 8 * BUCKETS ? 'busy' : 'calm'] += 1;
    const settlements = items.map((item) => ({ item, verdict: 'done' as const, random: 0 }));
    await work.settle('realname', settlements, { baseMs: 1, capMs: 1 });
    clock.advance(50);
  }
  expect(polled.busy).toBeGreaterThan(300);
  expect(polled.calm).toBeGreaterThan(300);
});

describe('a pass', () => {
  /** A bucket a second. */
  const STEP_MS = 1_000;
  const FIRST = configOf(1, { intervalSeconds: BUCKETS });
  const SECOND = configOf(2, { intervalSeconds: BUCKETS });

  let clock: FakeClock;
  let live: LiveStore;
  let configs: PollingConfig[];
  /** null: another instance leads. */
  let fence: number | null;
  /** The settings and the calls that the rings got, by config id. */
  let sent: Array<{ id: number; intervalMs: number; enabled: boolean }>;
  let asked: number[];
  /** Called when a ring was asked. */
  let onAsked: () => void;
  let scheduler: Scheduler;

  beforeEach(() => {
    // A new ring begins with its first bucket.
    clock = new FakeClock(BUCKETS * STEP_MS);
    live = openLimitedLiveStore({ clock });
    [configs, fence, sent, asked, onAsked] = [[FIRST], 1, [], [], () => {}];
    scheduler = schedulerOf(CAP);
  });

  function schedulerOf(queueCap: number): Scheduler {
    return new Scheduler({
      rings: observed(live.rings),
      matcher: () => new ConfigMatcher(configs),
      fence: () => fence,
      queueCap,
      clock,
      onError: (error) => expect.unreachable(String(error)),
    });
  }

  function observed(rings: Rings): Rings {
    const own: Partial<Rings> = {
      configure: (ring, settings) => {
        sent.push({ id: ring.configId, ...settings });
        return rings.configure(ring, settings);
      },
      advance: (ring, limits) => {
        asked.push(ring.configId);
        onAsked();
        return rings.advance(ring, limits);
      },
    };
    return new Proxy(rings, {
      get: (target, name) => (own[name as keyof Rings] ?? target[name as keyof Rings]).bind(target),
    });
  }

  /** Builds the rings, without cards, and runs the pass in which the scheduler learns their cursors. */
  async function build(): Promise<void> {
    await scheduler.runOnce();
    for (const one of configs) {
      await live.rings.startGeneration(ringOf(one), BUCKETS);
    }
    clock.advance(STEP_MS);
    await scheduler.runOnce();
    asked.length = 0;
  }

  async function cursors(): Promise<number[]> {
    return (await live.rings.list()).map((ring) => ring.cursor);
  }

  it('sends nothing to the rings while another instance leads, and tries again', async () => {
    fence = null;
    expect(await scheduler.runOnce()).toBe(50);
    expect([sent, asked]).toEqual([[], []]);
    fence = 1;
    expect(await scheduler.runOnce()).toBe(50);
    expect([sent.length, asked]).toEqual([1, [1]]);
  });

  it('sends no settings to further rings after it loses the lead, even if it leads again', async () => {
    configs = [FIRST, SECOND];
    let looks = 0;
    const again = new Scheduler({
      rings: observed(live.rings),
      matcher: () => new ConfigMatcher(configs),
      // Looked at once for the pass, and before each ring.
      fence: () => (++looks < 3 ? 1 : 2),
      queueCap: CAP,
      clock,
      onError: (error) => expect.unreachable(String(error)),
    });
    await again.runOnce();
    expect(sent.map(({ id }) => id)).toEqual([1]);
  });

  it('asks no further ring when the lead is lost in the middle of it', async () => {
    configs = [FIRST, SECOND];
    onAsked = () => {
      fence = null;
    };
    await scheduler.runOnce();
    expect(asked).toEqual([1]);
  });

  it('sends configs to the rings when they change, and again every half second', async () => {
    await scheduler.runOnce();
    expect(sent.splice(0)).toEqual([{ id: 1, intervalMs: 1_024_000, enabled: true }]);
    for (const time of ['first', 'second']) {
      clock.advance(499);
      await scheduler.runOnce();
      expect(sent, `nothing changed the ${time} time`).toEqual([]);
      clock.advance(1);
      await scheduler.runOnce();
      expect(sent.splice(0), `a store may have lost it the ${time} time`).toHaveLength(1);
    }
    configs = [{ ...FIRST, intervalSeconds: 90, status: 0 }];
    await scheduler.runOnce();
    expect(sent).toEqual([{ id: 1, intervalMs: 90_000, enabled: false }]);
  });

  it('asks no ring of a config that is off, and each other one once', async () => {
    configs = [FIRST, configOf(3, { status: 0 }), SECOND];
    for (let pass = 0; pass < 3; pass += 1) {
      await scheduler.runOnce();
      clock.advance(1_000);
    }
    // Another one comes first every time.
    expect(asked).toEqual([1, 2, 2, 1, 1, 2]);
  });

  it('asks a ring when its next bucket is due, and each second', async () => {
    configs = [configOf(1, { intervalSeconds: 10 * BUCKETS }), configOf(2, { intervalSeconds: BUCKETS / 2 })];
    await build();
    for (let tick = 0; tick < 40; tick += 1) {
      await scheduler.runOnce();
      clock.advance(50);
    }
    const times = (id: number) => asked.filter((one) => one === id).length;
    expect([times(1), times(2)]).toEqual([1, 3]);
  });

  it('sends the configs again at once where the store lost its rings, also where there are many', async () => {
    configs = Array.from({ length: 300 }, (_, i) => configOf(i + 1));
    await build();
    sent.length = 0;
    clock.advance(1_000);
    await scheduler.runOnce();
    expect(sent).toEqual([]);
    for (const config of configs) await live.rings.drop(ringOf(config));
    clock.advance(1_000);
    await scheduler.runOnce();
    await scheduler.runOnce();
    expect(sent).toHaveLength(300);
  });

  it('moves all buckets that are due, the rings by turns', async () => {
    configs = [FIRST, SECOND];
    await build();
    const before = await cursors();
    clock.advance(200 * STEP_MS);
    await scheduler.runOnce();
    expect(await cursors()).toEqual(before.map((cursor) => cursor + 200));
    expect(asked).toEqual([1, 2, 1, 2, 1, 2, 1, 2]);
  });

  it('asks a ring again after a full turn, and not after one with less', async () => {
    await build();
    clock.advance(64 * STEP_MS);
    await scheduler.runOnce();
    expect(asked.splice(0)).toEqual([1, 1]);
    clock.advance(63 * STEP_MS);
    await scheduler.runOnce();
    expect(asked).toEqual([1]);
  });

  it('asks only the ring again that is behind', async () => {
    configs = [configOf(1, { intervalSeconds: 10 * BUCKETS }), SECOND];
    await build();
    clock.advance(100 * STEP_MS);
    await scheduler.runOnce();
    expect(asked).toEqual([1, 2, 2]);
  });

  it('asks no ring again once the queue is full', async () => {
    // As many as the first 64 buckets hold: the queue is full with the turn, not in the middle of it.
    const cards = idsBetween(1, 8 * BUCKETS);
    await live.rings.configure(ringOf(FIRST), { intervalMs: BUCKETS * STEP_MS, enabled: true });
    await live.rings.startGeneration(ringOf(FIRST), BUCKETS);
    await live.rings.add(ringOf(FIRST), cards);
    const { cardIds } = await live.rings.page(ringOf(FIRST), 1 / BUCKETS, 64);
    const { cardIds: head } = await live.rings.page(ringOf(FIRST), 0, 1);
    await live.rings.remove(ringOf(FIRST), head);
    scheduler = schedulerOf(cardIds.length);
    await scheduler.runOnce();
    expect(await cursors()).toEqual([1]);
    asked.length = 0;
    clock.advance(200 * STEP_MS);
    await scheduler.runOnce();
    expect(await cursors()).toEqual([65]);
    expect(asked).toEqual([1]);
  });
});
