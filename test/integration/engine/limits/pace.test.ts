// A fleet of three instances at a gateway with rate limits, in compressed time: what arrives at the gateway, and who gets it.

import { afterEach, describe, expect, it } from 'vitest';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import type { RateLimit } from '../../../../src/domain/limits/rate-limit.ts';
import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { CompressedFleet, type CompressedFleetOptions } from '../../../support/compressed-fleet.ts';
import { setLimit } from '../../../support/limits.ts';

const FIFTY: RateLimit = { kind: 'calls', interfaces: null, calls: 50, unit: 'second', burst: 10 };
const FLEET: CompressedFleetOptions = {
  taskTypes: TASK_TYPES,
  cards: 1_800,
  intervalSeconds: 30,
  limit: 100,
  instances: 3,
};

let fleet: CompressedFleet;
afterEach(() => fleet.stop());

/** Starts the fleet; `arrivals` gets the time and the interface of each call. */
async function start(options: Partial<CompressedFleetOptions>) {
  fleet = await CompressedFleet.start({ ...FLEET, ...options });
  const arrivals: Array<{ at: number; name: InterfaceName }> = [];
  fleet.onCall = (name) => arrivals.push({ at: fleet.time.monotonic(), name });
  return arrivals;
}

/** Most calls within any time of this length. */
function most(arrivals: ReadonlyArray<{ at: number }>, windowMs: number): number {
  let from = 0;
  return arrivals.reduce((max, { at }, i) => {
    while ((arrivals[from]?.at ?? 0) < at - windowMs) from += 1;
    return Math.max(max, i - from + 1);
  }, 0);
}

describe('a gateway that allows 50 calls a second', () => {
  it('gets no more, nearly all of them, as many of each type, and is not taken for one that is overloaded', async () => {
    const arrivals = await start({ rateLimits: [FIFTY] });
    await fleet.time.run(5_000);
    arrivals.length = 0;
    const lowered: string[] = [];
    for (let second = 0; second < 60; second += 1) {
      await fleet.time.run(1_000);
      for (const taskType of TASK_TYPES) {
        const { effectiveConcurrency } = await fleet.live.work.counts(taskType);
        if (effectiveConcurrency < FLEET.limit) lowered.push(`${taskType} ${effectiveConcurrency}`);
      }
    }
    expect(lowered).toEqual([]);
    for (const seconds of [0.1, 1, 10, 60]) {
      expect(most(arrivals, seconds * 1_000), `in ${seconds} s`).toBeLessThanOrEqual(50 * seconds + 10);
    }
    expect(arrivals.length).toBeGreaterThan(0.95 * 50 * 60);
    for (const name of ['realname', 'flow', 'card_status']) {
      const share = arrivals.filter((call) => call.name === name).length / arrivals.length;
      expect(share, name).toBeGreaterThan(0.95 / 3);
    }
  });

  it('gets the polls of all types that their interval asks for, while they are fewer', async () => {
    const arrivals = await start({ rateLimits: [FIFTY], cards: 300 });
    await fleet.time.run(30_000);
    arrivals.length = 0;
    await fleet.time.run(60_000);
    expect(arrivals.length).toBeGreaterThan(0.95 * 1_800);
    expect(arrivals.length).toBeLessThan(1.05 * 1_800);
  });

  it('a type that is held back by few slots costs the others nothing', async () => {
    const arrivals = await start({ rateLimits: [FIFTY] });
    await setLimit(fleet.live.work, 'carddata', 1);
    fleet.behaviour = (name) => ({ delayMs: name === 'flow' ? 1_000 : 50 });
    await fleet.time.run(5_000);
    arrivals.length = 0;
    await fleet.time.run(60_000);
    expect(arrivals.length).toBeGreaterThan(0.85 * 50 * 60);
  });
});

it('a limit for one interface holds up no other', async () => {
  const arrivals = await start({ rateLimits: [{ ...FIFTY, interfaces: ['flow'], calls: 5, burst: 2 }] });
  await fleet.time.run(5_000);
  arrivals.length = 0;
  await fleet.time.run(30_000);
  const flow = arrivals.filter(({ name }) => name === 'flow');
  expect(most(flow, 1_000)).toBeLessThanOrEqual(7);
  expect(flow.length).toBeGreaterThan(0.9 * 150);
  expect(arrivals.length - flow.length).toBeGreaterThan(0.9 * 3_600);
});
