// An instance among the instances, on the live store of this process: there while it beats, gone once it stops.

import { expect, it } from 'vitest';
import { Heartbeat } from '../../../src/engine/heartbeat.ts';
import { Presence } from '../../../src/health/presence.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { InstanceInfo } from '../../../src/store/ports/live/coordination.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../support/limits.ts';

it('reports its current work every two seconds, and leaves when it stops', async () => {
  const clock = new FakeClock();
  const { coordination } = openLimitedLiveStore({ clock });
  let inFlight = 0;
  const describe = () =>
    ({ instanceId: 'w', roles: [], inFlight, clockAheadMs: 0 }) as unknown as InstanceInfo;
  const heartbeat = new Heartbeat({
    live: { coordination },
    presence: new Presence(clock),
    describe,
    clock,
    onError: (error) => expect.unreachable(String(error)),
  });
  await heartbeat.start();
  await clock.run(1);
  expect(await coordination.instances()).toMatchObject([{ instanceId: 'w', inFlight: 0 }]);
  inFlight = 7;
  await clock.run(2_000);
  expect(await coordination.instances()).toMatchObject([{ inFlight: 7 }]);
  await heartbeat.stop();
  expect(await coordination.instances()).toEqual([]);
});

it('finds out how far its clock is off, at least', async () => {
  const clock = new FakeClock();
  const { coordination } = openLimitedLiveStore({ clock });
  let aheadMs = 600_000;
  const heartbeat = new Heartbeat({
    live: { coordination },
    presence: new Presence(clock),
    describe: () => ({ instanceId: 'w', roles: [], clockAheadMs: 0 }) as unknown as InstanceInfo,
    clock: { ...systemClock, now: () => clock.now() + aheadMs },
    onError: () => {},
  });
  const found = [heartbeat.clockAheadMs];
  for (const next of [-600_000, 0]) {
    await heartbeat.runOnce();
    found.push(heartbeat.clockAheadMs);
    aheadMs = next;
  }
  await heartbeat.runOnce();
  expect([...found, heartbeat.clockAheadMs]).toEqual([null, 600_000, -600_000, 0]);
});

it('counts as gone after ten seconds without a beat', async () => {
  const clock = new FakeClock();
  const { coordination } = openLimitedLiveStore({ clock });
  const describe = () => ({ instanceId: 'w', roles: [], clockAheadMs: 0 }) as unknown as InstanceInfo;
  const presence = new Presence(clock);
  const heartbeat = new Heartbeat({ live: { coordination }, presence, describe, clock, onError: () => {} });
  clock.advance(60_000);
  expect(presence.silence, 'before the first beat').toBeNull();
  expect(await heartbeat.runOnce()).toBe(2_000);
  clock.advance(9_999);
  expect(presence.silence).toBeNull();
  expect(await coordination.instances()).toHaveLength(1);
  clock.advance(2);
  expect(presence.silence).toBe('heartbeat: no answer for 10 s');
  expect(await coordination.instances()).toEqual([]);
});

it('knows what a round trip to the live store takes: the shortest of the last three', async () => {
  const clock = new FakeClock();
  let takesMs = 0;
  const coordination = {
    heartbeat: async () => {
      clock.advance(takesMs);
      return clock.now();
    },
  };
  const heartbeat = new Heartbeat({
    live: { coordination } as never,
    presence: new Presence(clock),
    describe: () => ({ instanceId: 'w', roles: [], clockAheadMs: 0 }) as unknown as InstanceInfo,
    clock,
    onError: () => {},
  });
  const known: Array<number | null> = [];
  for (takesMs of [600, 700, 800, 5, 900, 650, 640]) {
    await heartbeat.runOnce();
    known.push(heartbeat.redisMs);
  }
  expect(known).toEqual([null, null, 600, 5, 5, 5, 640]);
});
