import { expect, it } from 'vitest';
import { readFleet } from '../../../../../src/store/ports/live/fleet-reading.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../../../support/limits.ts';
import { statsDelta } from '../../../../support/stats-delta.ts';

it('judges each task type by its own rings, queue and polls', async () => {
  const clock = new FakeClock(Date.parse('2026-11-21T02:00:00Z'));
  const live = openLimitedLiveStore({ clock });
  for (const [configId, taskType, members] of [
    [1, 'realname', [1, 2, 3]],
    [2, 'package', [4]],
  ] as const) {
    const ring = { configId, taskType };
    await live.rings.configure(ring, { intervalMs: 60_000, enabled: true });
    await live.rings.startGeneration(ring, 64);
    await live.rings.add(ring, [...members]);
  }
  await live.stats.record('realname', 'w', 1, statsDelta({ succeeded: 9, failed: 1, durationMs: 500 }));

  const fleet = await readFleet(live);
  expect(fleet.realname.metrics).toMatchObject({
    queueLength: 0,
    polls: 10,
    successRate: 90,
    avgDurationMs: 50,
    schedule: { scheduledCards: 3 },
  });
  expect(fleet.package.metrics).toMatchObject({
    queueLength: 0,
    polls: 0,
    successRate: null,
    schedule: { scheduledCards: 1 },
  });
  expect(fleet.carddata.metrics.schedule.scheduledCards).toBe(0);
});

it("judges the schedule by the store's clock, which dates it", async () => {
  const live = openLimitedLiveStore({ clock: new FakeClock(Date.now() - 600_000) });
  const ring = { configId: 1, taskType: 'carddata' } as const;
  await live.rings.configure(ring, { intervalMs: 60_000, enabled: true });
  await live.rings.startGeneration(ring, 64);
  const { schedule } = (await readFleet(live)).carddata.metrics;
  expect(schedule).toMatchObject({
    scheduleLagSeconds: 0,
    intervalSeconds: 60,
    achievedIntervalSeconds: null,
  });
});
