// The effective limit second by second against models of gateways: what latency leads to. What refusals and timeouts lead
// to is strain-trials.test.ts.
import { describe, expect, it } from 'vitest';
import { EffectiveLimit } from '../../../../src/domain/limits/effective-limit.ts';
import { mix32 } from '../../../../src/domain/schedule/phase.ts';
import { firstRows } from '../../../support/effort.ts';
import {
  type Bearing,
  bearing,
  chance,
  draws,
  ModelledFleet,
  QUIET,
  refusing,
  steady,
} from '../../../support/modelled-fleet.ts';

const CONFIGURED = 100;

/** Slower beyond its capacity; beyond twice of it calls are refused. */
const bounded =
  (capacity: number, latencyMs: number): Bearing =>
  (own, total) => {
    const slowMs = latencyMs * Math.max(1, Math.min(2, total / capacity));
    return refusing(slowMs, (calls) => Math.round(calls * Math.max(0, 1 - (2 * capacity) / total)))(
      own,
      total,
    );
  };

describe('a gateway that bears everything', () => {
  it('keeps the configured limit, but for one trial that finds what is normal', () => {
    const fleet = new ModelledFleet();
    fleet.run(20, steady(50));
    expect(fleet.inFlight).toBe(CONFIGURED);
    expect(fleet.memory).toEqual({ limit: null, normalMs: 50 });
    const settled = fleet.log.length;
    fleet.run(3_600, steady(50));
    expect(fleet.log).toHaveLength(settled);
  });

  it('decides nothing without calls, or with few, or below the limit', () => {
    const seen: Array<ReturnType<Bearing>> = [
      {},
      { seconds: 4, succeeded: 1, succeededMs: 5_000, limitReached: true },
      { succeeded: 500, succeededMs: 500 * 50, limitReached: false },
      { succeeded: 500, succeededMs: 500 * 500, limitReached: false },
    ];
    for (const tick of seen) {
      const fleet = new ModelledFleet(1, CONFIGURED, { limit: 40, normalMs: 50 });
      expect(fleet.loads(60, () => tick).filter((load) => load !== 40)).toEqual([]);
    }
  });
});

describe('a gateway with a capacity', () => {
  it.each([1, 3])('settles between the capacity and half above it, with %i task types', (types) => {
    const capacity = 20 * types;
    const fleet = new ModelledFleet(types);
    fleet.run(60, bounded(capacity, 50));
    const load = () => fleet.inFlight / capacity;
    expect(load()).toBeGreaterThan(0.95);
    expect(load()).toBeLessThan(1.7);
    const refused = () => fleet.log.filter(({ reason }) => reason.includes('refused')).length;
    const before = refused();
    const loads = fleet.loads(1_800, bounded(capacity, 50)).map((inFlight) => inFlight / capacity);
    expect(refused()).toBe(before);
    expect(loads.filter((one) => one < 0.9).length).toBeLessThan(0.03 * loads.length);
  });

  it('follows a capacity that drops to a third and comes back', () => {
    const fleet = new ModelledFleet(3);
    fleet.run(60, bounded(60, 50));
    const dropped = fleet.nowMs / 1_000;
    fleet.run(25, bounded(20, 50));
    expect(fleet.inFlight).toBeLessThan(1.9 * 20);
    const inThe = fleet.run(30, bounded(20, 50)) / 30;
    expect(inThe).toBeGreaterThan(0.9 * 20 * 20);
    expect(
      fleet.log.filter(({ second, reason }) => second > dropped && /refused/.test(reason)).length,
    ).toBeLessThan(12);
    fleet.run(20, bounded(60, 50));
    expect(fleet.run(30, bounded(60, 50)) / 30).toBeGreaterThan(0.9 * 60 * 20);
  });

  it.each([2, 10])(
    'a capacity that changes every %i s is used, and few calls are refused',
    (everySeconds) => {
      const fleet = new ModelledFleet(3);
      const [mean, latencyMs] = [60, 50];
      const seen = { succeeded: 0, refused: 0 };
      const changing: Bearing = (own, total) => {
        const period = Math.floor(fleet.nowMs / 1_000 / everySeconds);
        const capacity = mean * (0.7 + (0.6 * (mix32(period) >>> 0)) / 2 ** 32);
        const tick = bounded(capacity, latencyMs)(own, total);
        seen.succeeded += tick.succeeded ?? 0;
        seen.refused += tick.backpressure ?? 0;
        return tick;
      };
      fleet.run(1_800, changing);
      expect(seen.succeeded).toBeGreaterThan((0.9 * 1_800 * mean * 1_000) / latencyMs);
      expect(seen.refused / (seen.succeeded + seen.refused)).toBeLessThan(0.1);
    },
  );

  it('finds the way back from the least limit, also where three calls in ten are refused whatever the load', () => {
    for (const gateway of [steady(50), refusing(50, (calls) => Math.round(0.3 * calls))]) {
      const fleet = new ModelledFleet(1, 100, { limit: 1, normalMs: 50 });
      fleet.run(120, gateway);
      expect(fleet.inFlight).toBe(100);
    }
  });

  it.each(
    firstRows(3, [
      [500, 0.2],
      [100, 0.1],
      [500, 0.08],
      [100, 0.05],
      [500, 0.1],
      [20, 0.08],
      [20, 0.05],
      [20, 0.03],
    ] as const),
  )(
    'finds the way back from two calls of %i ms, where a share of %d is refused at random',
    (latencyMs, share) => {
      for (const normalMs of [latencyMs, null]) {
        const fleet = new ModelledFleet(3, 100, { limit: 2, normalMs });
        const gateway = chance(share, latencyMs, draws(1));
        fleet.run(150, gateway);
        const full = (300 * 1_000 * (1 - share)) / latencyMs;
        expect(fleet.run(300, gateway) / 300 / full).toBeGreaterThan(0.9);
      }
    },
  );

  it('finds the way back from the least limit', () => {
    const fleet = new ModelledFleet(1, 1_000, { limit: 1, normalMs: 50 });
    fleet.run(30, steady(50));
    expect(fleet.inFlight).toBe(1_000);
  });

  it('a gateway that refuses what is too much gives all task types the same, however unequal their limits were', () => {
    const fleet = new ModelledFleet(3);
    const slow = fleet.limits.get('package');
    for (const kind of ['trial', 'strained'] as const) {
      slow?.obey({ taskType: 'package', kind, limit: 5, load: 5, reason: '' }, 0);
    }
    fleet.run(300, bearing(60, 50));
    const limits = [...fleet.limits.values()].map((limit) => limit.under(CONFIGURED));
    expect(Math.max(...limits)).toBeLessThan(1.3 * Math.min(...limits));
  });
});

describe('what load is not the reason of', () => {
  it('costs a trial, not the limit: a gateway that is simply slower than before', () => {
    const fleet = new ModelledFleet();
    fleet.run(30, steady(50));
    fleet.run(15, steady(400));
    expect(fleet.inFlight).toBe(CONFIGURED);
    expect(fleet.memory?.normalMs).toBe(400);
    fleet.run(30, steady(50));
    expect(fleet.memory?.normalMs).toBeCloseTo(50, 0);
  });

  it('a latency that alternates', () => {
    for (const period of [1, 2, 5, 7]) {
      const fleet = new ModelledFleet();
      fleet.run(30, steady(50));
      let lowest = CONFIGURED;
      let sum = 0;
      for (let second = 0; second < 600; second += 1) {
        fleet.run(1, steady(Math.floor(second / period) % 2 === 0 ? 50 : 200));
        lowest = Math.min(lowest, fleet.inFlight);
        sum += fleet.inFlight;
      }
      expect(lowest).toBeGreaterThanOrEqual(0.3 * CONFIGURED);
      expect(sum / 600).toBeGreaterThan(0.7 * CONFIGURED);
    }
  });

  it('a latency that falls with the load, and the rate with it: the bottleneck is our own', () => {
    const fleet = new ModelledFleet();
    // 30 % less in flight: a quarter faster, and 7 % fewer polls.
    const own: Bearing = (inFlight, total) => steady(50 * (inFlight / CONFIGURED) ** 0.8)(inFlight, total);
    const most = own(CONFIGURED, CONFIGURED).succeeded ?? 0;
    fleet.run(60, own);
    expect(fleet.run(600, own) / 600).toBeGreaterThan(0.9 * most);
  });
});

it('judges a small limit by many ticks together', () => {
  const fleet = new ModelledFleet(1, 10, { limit: 2, normalMs: 1_000 });
  fleet.run(120, (inFlight) => ({
    succeeded: inFlight,
    succeededMs: inFlight * 1_000,
    limitReached: true,
  }));
  expect(fleet.inFlight).toBe(10);
});

describe('the configured limit', () => {
  it('counts at once when it is set below the effective one', () => {
    const limit = new EffectiveLimit({ limit: 40, normalMs: 50 }, 0);
    expect(limit.under(30)).toBe(30);
    limit.observe(QUIET, { configured: 30, inForce: 30, nowMs: 1_000, fairLimit: 30, strained: false });
    expect(limit.memory.limit).toBeNull();
  });

  it('is not taken for reached while less than the effective limit is in force', () => {
    const fleet = new ModelledFleet(1, CONFIGURED, { limit: 40, normalMs: 50 });
    fleet.run(30, steady(50), 10);
    expect(fleet.inFlight).toBe(40);
  });
});
