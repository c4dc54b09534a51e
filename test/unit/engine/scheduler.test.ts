// The scheduler on the live store of this process.
import { expect, it } from 'vitest';
import type { PollingConfig } from '../../../src/domain/polling-config.ts';
import { ringOf, Scheduler } from '../../../src/engine/scheduler.ts';
import { openEmbeddedLiveStore } from '../../../src/store/memory/live-store.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const CAP = 64;
const BUCKETS = 1_024;

function config(id: number, intervalSeconds: number): PollingConfig {
  const rest = {
    taskType: 'realname',
    cardCondition: 'any',
    carrierId: null,
    priority: 0,
    status: 1,
  } as const;
  return { id, name: `config ${id}`, intervalSeconds, ...rest };
}

it('lets no ring starve another of its type while the queue is full', async () => {
  const clock = new FakeClock(1_000_000);
  const { rings, work } = openEmbeddedLiveStore({ clock });
  const busy = config(1, 60);
  const calm = config(2, 3_600);
  const configs = [busy, calm];
  const scheduler = new Scheduler({
    rings,
    configs: () => configs,
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
    await rings.startGeneration(ringOf(ring), BUCKETS, { activate: true });
    await rings.add(ringOf(ring), cards);
  }
  await work.setMaxConcurrency('realname', 1_000);
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
