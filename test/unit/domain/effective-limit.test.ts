// The rules of the effective limit, second by second against a model of a gateway: no store, no clock. How they do with
// a real daemon is `npm run bench:flow`.
import { describe, expect, it } from 'vitest';
import { EffectiveLimit } from '../../../src/domain/effective-limit.ts';
import type { FleetTick } from '../../../src/domain/fleet-tick.ts';

const CONFIGURED = 100;

/** One second of the fleet, from how the gateway bears `calls in flight`. */
type Bearing = (inFlight: number) => Partial<FleetTick>;

const QUIET: FleetTick = {
  seconds: 1,
  succeeded: 0,
  failed: 0,
  succeededMs: 0,
  backpressure: 0,
  timeouts: 0,
  limitReached: false,
};

/** Task types that share one gateway, each at its limit, as the leader runs them. */
class Fleet {
  nowMs = 0;
  /** Every change: the second, the new limit, the reason. */
  readonly log: Array<{ second: number; limit: number; reason: string }> = [];
  readonly limits: EffectiveLimit[];

  constructor(
    types = 1,
    readonly configured = CONFIGURED,
    memory: ConstructorParameters<typeof EffectiveLimit>[0] = { limit: null, normalMs: null },
  ) {
    this.limits = Array.from({ length: types }, () => new EffectiveLimit(memory, 0));
  }

  get inFlight(): number {
    return this.limits.reduce((sum, limit) => sum + limit.under(this.configured), 0);
  }

  /** @returns polls that succeeded. */
  run(seconds: number, bearing: Bearing, inForce = Number.POSITIVE_INFINITY): number {
    let succeeded = 0;
    for (let i = 0; i < seconds; i += 1) {
      this.nowMs += 1_000;
      const total = this.inFlight;
      const seen = { ...QUIET, ...bearing(total) };
      succeeded += seen.succeeded;
      const situations = this.limits.map((limit) => ({
        configured: this.configured,
        inForce: Math.min(inForce, limit.under(this.configured)),
        nowMs: this.nowMs,
        othersRefusedAtMs: Number.NEGATIVE_INFINITY,
      }));
      const reasons = this.limits.map((limit, type) => {
        const share = (situations[type]?.inForce ?? 0) / total;
        return limit.observe(scaled(seen, share), situations[type] as (typeof situations)[0]);
      });
      if (this.limits.some((limit) => limit.wantsTrial)) {
        this.limits.forEach((limit, type) => {
          const reason = limit.joinTrial(situations[type] as (typeof situations)[0]);
          reasons[type] = reason ?? reasons[type] ?? null;
        });
      }
      for (const reason of reasons) {
        if (reason !== null) this.log.push({ second: this.nowMs / 1_000, limit: this.inFlight, reason });
      }
    }
    return succeeded;
  }
}

function scaled(tick: FleetTick, share: number): FleetTick {
  const part = (value: number) => Math.round(value * share);
  return {
    ...tick,
    succeeded: part(tick.succeeded),
    failed: part(tick.failed),
    succeededMs: tick.succeededMs * share,
    backpressure: part(tick.backpressure),
    timeouts: part(tick.timeouts),
  };
}

/** Every call takes as long, whatever the load. */
const steady =
  (latencyMs: number): Bearing =>
  (inFlight) => {
    const succeeded = Math.round((inFlight * 1_000) / latencyMs);
    return { succeeded, succeededMs: succeeded * latencyMs, limitReached: true };
  };

/** Slower beyond its capacity; beyond twice of it calls are refused and the rest of the second is a pause. */
const bounded =
  (capacity: number, latencyMs: number): Bearing =>
  (inFlight) => {
    const refused = Math.max(0, inFlight - 2 * capacity);
    const slowMs = latencyMs * Math.max(1, Math.min(2, inFlight / capacity));
    if (refused === 0) return steady(slowMs)(inFlight);
    const succeeded = 2 * capacity;
    return {
      succeeded,
      succeededMs: succeeded * slowMs,
      failed: refused,
      backpressure: refused,
      limitReached: true,
    };
  };

describe('a gateway that bears everything', () => {
  it('keeps the configured limit, but for one trial that finds what is normal', () => {
    const fleet = new Fleet();
    fleet.run(20, steady(50));
    expect(fleet.inFlight).toBe(CONFIGURED);
    expect(fleet.limits[0]?.memory).toEqual({ limit: null, normalMs: 50 });
    const settled = fleet.log.length;
    fleet.run(3_600, steady(50));
    expect(fleet.log).toHaveLength(settled);
  });

  it('decides nothing without calls, or with few, or below the limit', () => {
    const fleet = new Fleet(1, CONFIGURED, { limit: 40, normalMs: 50 });
    fleet.run(100, () => ({}));
    fleet.run(100, () => ({ seconds: 4, succeeded: 1, succeededMs: 5_000, limitReached: true }));
    fleet.run(100, () => ({ succeeded: 500, succeededMs: 500 * 50, limitReached: false }));
    fleet.run(100, () => ({ succeeded: 500, succeededMs: 500 * 500, limitReached: false }));
    expect(fleet.log.map(({ limit }) => limit).filter((limit) => limit !== 40)).toEqual([]);
  });
});

describe('a gateway with a capacity', () => {
  it.each([1, 3])('settles between the capacity and half above it, with %i task types', (types) => {
    const fleet = new Fleet(types);
    fleet.run(60, bounded((60 / 3) * types, 50));
    const load = () => fleet.inFlight / (20 * types);
    expect(load()).toBeGreaterThan(0.95);
    expect(load()).toBeLessThan(1.7);
    const refused = () => fleet.log.filter(({ reason }) => reason.includes('refused')).length;
    const before = refused();
    const loads: number[] = [];
    for (let i = 0; i < 1_800; i += 1) {
      fleet.run(1, bounded(20 * types, 50));
      loads.push(load());
    }
    expect(refused()).toBe(before);
    expect(loads.filter((one) => one < 0.9).length).toBeLessThan(0.03 * loads.length);
  });

  it('follows a capacity that drops to a third and comes back', () => {
    const fleet = new Fleet(3);
    fleet.run(60, bounded(60, 50));
    const dropped = fleet.nowMs / 1_000;
    fleet.run(15, bounded(20, 50));
    expect(fleet.inFlight).toBeLessThan(1.9 * 20);
    const inThe = fleet.run(30, bounded(20, 50)) / 30;
    expect(inThe).toBeGreaterThan(0.9 * 20 * 20);
    expect(
      fleet.log.filter(({ second, reason }) => second > dropped && /refused/.test(reason)).length,
    ).toBeLessThan(12);
    fleet.run(20, bounded(60, 50));
    expect(fleet.run(30, bounded(60, 50)) / 30).toBeGreaterThan(0.9 * 60 * 20);
  });

  it('finds the way back from the floor', () => {
    const fleet = new Fleet(1, 1_000);
    fleet.run(60, () => ({ failed: 500, backpressure: 500, limitReached: true }));
    expect(fleet.inFlight).toBe(50);
    fleet.run(90, steady(50));
    expect(fleet.inFlight).toBe(1_000);
  });
});

describe('what load is not the reason of', () => {
  it('costs a trial, not the limit: a gateway that is simply slower than before', () => {
    const fleet = new Fleet();
    fleet.run(30, steady(50));
    fleet.run(15, steady(400));
    expect(fleet.inFlight).toBe(CONFIGURED);
    expect(fleet.limits[0]?.memory.normalMs).toBe(400);
    fleet.run(30, steady(50));
    expect(fleet.limits[0]?.memory.normalMs).toBeCloseTo(50, 0);
  });

  it('a latency that alternates', () => {
    for (const period of [1, 2, 5, 7]) {
      const fleet = new Fleet();
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
    const fleet = new Fleet();
    // 30 % less in flight: a quarter faster, and 7 % fewer polls.
    const own: Bearing = (inFlight) => steady(50 * (inFlight / CONFIGURED) ** 0.8)(inFlight);
    const most = own(CONFIGURED).succeeded ?? 0;
    fleet.run(60, own);
    expect(fleet.run(600, own) / 600).toBeGreaterThan(0.9 * most);
  });

  it('timeouts of some cards', () => {
    const fleet = new Fleet();
    fleet.run(30, steady(50));
    let sum = 0;
    const some: Bearing = (inFlight) => {
      sum += inFlight;
      const well = steady(50)(inFlight);
      return {
        ...well,
        failed: Math.round((well.succeeded ?? 0) / 4),
        timeouts: Math.round((well.succeeded ?? 0) / 4),
      };
    };
    fleet.run(600, some);
    expect(fleet.inFlight).toBe(CONFIGURED);
    expect(sum / 600).toBeGreaterThan(0.9 * CONFIGURED);
  });
});

describe('a gateway in trouble', () => {
  it('gets the floor, and no less, while everything times out', () => {
    const fleet = new Fleet();
    fleet.run(60, (inFlight) => ({ failed: 5 * inFlight, timeouts: 5 * inFlight, limitReached: true }));
    expect(fleet.inFlight).toBe(5);
    expect(fleet.log.at(-1)?.reason).toContain('timed out');
  });

  it('gets the floor, and no less, while it refuses everything', () => {
    for (const configured of [1, 2, 7, 100, 100_000]) {
      const fleet = new Fleet(1, configured);
      fleet.run(300, () => ({ failed: 50, backpressure: 50, limitReached: true }));
      expect(fleet.inFlight).toBe(Math.max(1, Math.ceil(0.05 * configured)));
    }
  });

  it('is not cut for one refused call in many, nor for one in few', () => {
    const fleet = new Fleet(1, CONFIGURED, { limit: null, normalMs: 50 });
    fleet.run(50, () => ({
      succeeded: 999,
      succeededMs: 999 * 50,
      failed: 1,
      backpressure: 1,
      limitReached: true,
    }));
    expect(fleet.log).toEqual([]);
    const few = new Fleet(1, CONFIGURED, { limit: null, normalMs: 50 });
    few.run(3, () => ({ failed: 1, backpressure: 1, limitReached: true }));
    expect(few.log).toEqual([]);
  });

  it('judges a small limit by many ticks together', () => {
    const fleet = new Fleet(1, 10, { limit: 2, normalMs: 1_000 });
    fleet.run(120, (inFlight) => ({
      succeeded: inFlight,
      succeededMs: inFlight * 1_000,
      limitReached: true,
    }));
    expect(fleet.inFlight).toBe(10);
  });
});

describe('the configured limit', () => {
  it('counts at once when it is set below the effective one', () => {
    const limit = new EffectiveLimit({ limit: 40, normalMs: 50 }, 0);
    expect(limit.under(30)).toBe(30);
    limit.observe(QUIET, {
      configured: 30,
      inForce: 30,
      nowMs: 1_000,
      othersRefusedAtMs: Number.NEGATIVE_INFINITY,
    });
    expect(limit.memory.limit).toBeNull();
  });

  it('is not taken for reached while less than the effective limit is in force', () => {
    const fleet = new Fleet(1, CONFIGURED, { limit: 40, normalMs: 50 });
    fleet.run(30, steady(50), 10);
    expect(fleet.inFlight).toBe(40);
  });
});

it('does not grow while another type is refused by the same gateway', () => {
  const limit = new EffectiveLimit({ limit: 40, normalMs: 50 }, 0);
  const well = { ...QUIET, ...steady(50)(40) };
  const situation = { configured: CONFIGURED, inForce: 40 };
  expect(limit.observe(well, { ...situation, nowMs: 5_000, othersRefusedAtMs: 4_000 })).toBeNull();
  expect(limit.observe(well, { ...situation, nowMs: 8_000, othersRefusedAtMs: 4_000 })).toContain('growing');
});
