// The rules of the effective limit one by one, at their borders: what a tick leads to, and what it does not.
// How they work together is effective-limit.test.ts.
import { describe, expect, it } from 'vitest';
import { EffectiveLimit, type LimitMemory } from '../../../src/domain/effective-limit.ts';
import type { FleetTick } from '../../../src/domain/fleet-tick.ts';

const QUIET: FleetTick = {
  seconds: 1,
  succeeded: 0,
  failed: 0,
  succeededMs: 0,
  backpressure: 0,
  timeouts: 0,
  limitReached: true,
};

/** A hundred calls of a second, so many of which were refused or timed out. */
const calls = (latencyMs: number, { refused = 0, timedOut = 0, of = 100 } = {}): FleetTick => {
  const succeeded = of - refused - timedOut;
  const failed = refused + timedOut;
  const sums = { succeededMs: succeeded * latencyMs, backpressure: refused, timeouts: timedOut };
  return { ...QUIET, succeeded, failed, ...sums };
};

/** A task type whose limit is what its EffectiveLimit says, unless a test says otherwise. */
class Type {
  readonly limit: EffectiveLimit;
  nowMs = 0;

  constructor(
    memory: Partial<LimitMemory> = {},
    readonly configured = 100,
  ) {
    this.limit = new EffectiveLimit({ limit: null, normalMs: null, ...memory }, 0);
  }

  get inForce(): number {
    return this.limit.under(this.configured);
  }

  /** Lets so much time pass and observes a tick. */
  after(ms: number, tick: FleetTick, situation: { inForce?: number; othersRefusedAtMs?: number } = {}) {
    this.nowMs += ms;
    return this.limit.observe(tick, this.#situation(situation));
  }

  join(situation: { inForce?: number } = {}): string | null {
    return this.limit.joinTrial(this.#situation(situation));
  }

  #situation(given: { inForce?: number; othersRefusedAtMs?: number }) {
    const { configured, inForce, nowMs } = this;
    return { configured, inForce, nowMs, othersRefusedAtMs: Number.NEGATIVE_INFINITY, ...given };
  }
}

describe('refused calls', () => {
  it.each([
    [1, 100, null],
    [3, 70, '1.5 % of 200 calls were refused (429 or 503)'],
    [19, 70, '9.5 % of 200 calls were refused (429 or 503)'],
    [20, 50, '10 % of 200 calls were refused (429 or 503)'],
    [190, 50, '95 % of 200 calls were refused (429 or 503)'],
  ])('%i of 200 leave a limit of %i', (refused, limit, reason) => {
    const type = new Type({ normalMs: 50 });
    expect(type.limit.refusedAtMs).toBe(Number.NEGATIVE_INFINITY);
    expect(type.after(5_000, calls(50, { refused, of: 200 }))).toBe(reason);
    expect(type.inForce).toBe(limit);
    expect(type.limit.refusedAtMs).toBe(reason === null ? Number.NEGATIVE_INFINITY : 5_000);
  });

  it('exactly one in a hundred is borne', () => {
    expect(new Type().after(1_000, calls(50, { refused: 1 }))).toBeNull();
  });

  it('that came before a cut settled count no more: a second and the time of a call', () => {
    const type = new Type({ normalMs: 50 });
    const refused = calls(50, { refused: 10 });
    expect(type.after(1_000, refused)).not.toBeNull();
    expect(type.after(1_049, refused)).toBeNull();
    expect(type.after(1, refused)).not.toBeNull();
    expect(type.inForce).toBe(25);
    const nothingElse = calls(0, { refused: 100 });
    expect(type.after(1_050, nothingElse)).not.toBeNull();
    expect(type.after(999, nothingElse)).toBeNull();
    expect(type.after(1, nothingElse)).not.toBeNull();
  });

  it('change nothing at the floor', () => {
    const type = new Type({ limit: 5, normalMs: 50 });
    expect(type.after(1_000, calls(50, { refused: 50 }))).toBeNull();
    expect(type.inForce).toBe(5);
    expect(type.limit.refusedAtMs).toBe(Number.NEGATIVE_INFINITY);
  });

  it('keep the limit a tenth below what was refused, for twenty seconds', () => {
    const type = new Type({ limit: 100, normalMs: 50 }, 200);
    type.after(1_000, calls(50, { refused: 10 }));
    const limits: number[] = [];
    for (let second = 3; second <= 20; second += 1) {
      type.after(type.nowMs === 1_000 ? 2_000 : 1_000, calls(50));
      limits.push(type.inForce);
    }
    expect(limits.slice(0, 5)).toEqual([60, 72, 86, 90, 90]);
    expect(limits.at(-1)).toBe(90);
    expect(type.after(999, calls(50))).toBeNull();
    expect(type.after(1, calls(50))).toBe('the limit was reached and a call takes 50 ms: growing');
    expect(type.inForce).toBe(108);
  });

  it('at the least limit leave it there as long', () => {
    const type = new Type({ limit: 6, normalMs: 50 });
    type.after(1_000, calls(50, { refused: 10 }));
    expect(type.inForce).toBe(5);
    expect(type.after(2_000, calls(50))).toBeNull();
    expect(type.inForce).toBe(5);
  });

  it.each([
    ['at normal speed, long after it was found', 60_001, 69, null],
    ['at normal speed, soon after it was found', 60_000, 69, 50],
    ['slowly', 60_001, 71, 50],
  ])('%s: normal afterwards', (_, ms, latencyMs, normalMs) => {
    const type = new Type({ normalMs: 50 });
    type.after(ms, calls(latencyMs, { refused: 5 }));
    expect(type.limit.memory.normalMs).toBe(normalMs);
  });

  it('all of them say nothing of what is normal', () => {
    const type = new Type({ normalMs: 50 });
    type.after(100_000, calls(0, { refused: 100 }));
    expect(type.limit.memory).toEqual({ limit: 50, normalMs: 50 });
    const unknown = new Type();
    unknown.after(100_000, calls(50, { refused: 5 }));
    expect(unknown.limit.memory).toEqual({ limit: 70, normalMs: null });
  });
});

describe('timeouts', () => {
  it.each([
    [5, 100, null],
    [6, 70, '6.0 % of 100 calls timed out'],
    [30, 70, '30 % of 100 calls timed out'],
  ])('%i percent leave a limit of %i', (timedOut, limit, reason) => {
    const type = new Type({ normalMs: 50 });
    expect(type.after(1_000, calls(50, { timedOut }))).toBe(reason);
    expect(type.inForce).toBe(limit);
  });

  it('settle within a second', () => {
    const type = new Type({ normalMs: 50 });
    type.after(1_000, calls(50, { timedOut: 20 }));
    expect(type.after(999, calls(50, { timedOut: 20 }))).toBeNull();
    expect(type.after(1, calls(50, { timedOut: 20 }))).not.toBeNull();
  });

  it('that three cuts do not change are borne for five minutes, and four tenths more of them', () => {
    const type = new Type({ limit: 80, normalMs: 50 });
    const limits = [1, 2, 3].map(() => {
      type.after(2_000, calls(50, { timedOut: 20 }));
      return type.inForce;
    });
    expect(limits).toEqual([56, 39, 27]);
    const reason = type.after(2_000, calls(50, { timedOut: 16 }));
    expect(reason).toBe('16 % of 100 calls time out whatever the load: restored');
    expect(type.inForce).toBe(80);
    const restoredAtMs = type.nowMs;
    expect(type.after(999, calls(50, { timedOut: 90 }))).toBeNull();
    expect(type.after(1, calls(50, { timedOut: 22 }))).toBeNull();
    expect(type.inForce).toBe(80);
    type.after(restoredAtMs + 299_999 - type.nowMs, calls(50, { timedOut: 22 }));
    expect(type.inForce).toBe(80);
    type.after(1, calls(50, { timedOut: 6 }));
    expect(type.inForce).toBe(56);
  });

  it('more than four tenths above what is borne are too many', () => {
    const type = new Type({ normalMs: 50 });
    for (let cut = 0; cut < 4; cut += 1) type.after(2_000, calls(50, { timedOut: 20 }));
    expect(type.inForce).toBe(100);
    expect(type.after(2_000, calls(50, { timedOut: 29 }))).toBe('29 % of 100 calls timed out');
  });

  it.each([
    ['fewer with every cut', 15],
    ['half of all', 50],
  ])('%s: go on being a reason to cut', (_, last) => {
    const type = new Type({ normalMs: 50 });
    for (let cut = 0; cut < 3; cut += 1) type.after(2_000, calls(50, { timedOut: last === 50 ? 50 : 20 }));
    expect(type.inForce).toBe(34);
    expect(type.after(2_000, calls(50, { timedOut: last }))).toContain('timed out');
    expect(type.inForce).toBe(23);
  });

  it('that end are forgotten: three cuts are three in a row', () => {
    const type = new Type({ limit: 50, normalMs: 50 });
    const timedOut = calls(90, { timedOut: 20 });
    for (let cut = 0; cut < 2; cut += 1) type.after(2_000, timedOut);
    type.after(2_000, calls(90)); // too slow to grow
    expect(type.inForce).toBe(24);
    const limits = [1, 2, 3].map(() => {
      type.after(2_000, timedOut);
      return type.inForce;
    });
    expect(limits).toEqual([16, 11, 7]);
    type.after(2_000, timedOut);
    expect(type.inForce).toBe(24);
  });

  it('say nothing new at the floor', () => {
    const type = new Type({ limit: 5, normalMs: 50 });
    expect(type.after(2_000, calls(50, { timedOut: 20 }))).toBeNull();
  });
});

describe('growing', () => {
  it.each([
    [1_149, 48],
    [1_151, 44],
    [1_399, 44],
    [1_401, 40],
  ])('at %i ms where 1000 are normal, from 40 to %i', (latencyMs, limit) => {
    const type = new Type({ limit: 40, normalMs: 1_000 });
    type.after(1_000, calls(latencyMs));
    expect(type.inForce).toBe(limit);
  });

  it('by one at least, and to the configured limit at most', () => {
    const small = new Type({ limit: 3, normalMs: 50 });
    small.after(1_000, calls(50));
    expect(small.limit.memory.limit).toBe(4);
    const exact = new Type({ limit: 50, normalMs: 50 }, 60);
    exact.after(1_000, calls(50));
    expect(exact.limit.memory.limit).toBeNull();
    const beyond = new Type({ limit: 50, normalMs: 50 }, 59);
    beyond.after(1_000, calls(50));
    expect(beyond.limit.memory.limit).toBeNull();
  });

  it.each([
    [50, 900],
    [450, 900],
    [1_000, 1_450],
  ])('again after calls of %i ms in %i ms', (latencyMs, ms) => {
    const type = new Type({ limit: 20, normalMs: latencyMs });
    expect(type.after(1_000, calls(latencyMs))).not.toBeNull();
    expect(type.after(ms - 1, calls(latencyMs))).toBeNull();
    expect(type.after(1, calls(latencyMs))).not.toBeNull();
  });

  it('needs the limit to be reached, in force, and nothing else to be wrong', () => {
    const grows = (tick: FleetTick, situation: Parameters<Type['after']>[2] = {}) =>
      new Type({ limit: 40, normalMs: 50 }).after(10_000, tick, situation) !== null;
    expect(grows(calls(50))).toBe(true);
    expect(grows({ ...calls(50), limitReached: false })).toBe(false);
    expect(grows(calls(50), { inForce: 39 })).toBe(false);
    expect(grows(calls(50, { refused: 1, of: 1_000 }))).toBe(false);
    expect(grows(calls(50, { timedOut: 25, of: 1_000 }))).toBe(true);
    expect(grows(calls(50, { timedOut: 26, of: 1_000 }))).toBe(false);
    expect(grows(calls(50), { othersRefusedAtMs: 7_001 })).toBe(false);
    expect(grows(calls(50), { othersRefusedAtMs: 7_000 })).toBe(true);
  });

  it('is not for a limit that is not reduced', () => {
    const type = new Type({ normalMs: 50 });
    expect(type.after(1_000, calls(50))).toBeNull();
    const atConfigured = new Type({ limit: 100, normalMs: 50 });
    expect(atConfigured.after(1_000, calls(50))).toBeNull();
    expect(atConfigured.limit.memory.limit).toBeNull();
  });
});

describe('what is normal', () => {
  it('follows a faster gateway by a fifth of the way, and a slower one not at all', () => {
    const type = new Type({ normalMs: 50 });
    type.after(1_000, calls(40));
    expect(type.limit.memory.normalMs).toBeCloseTo(48, 9);
    type.after(1_000, calls(60));
    expect(type.limit.memory.normalMs).toBeCloseTo(48, 9);
  });

  it('is in doubt when it was not seen for five minutes, within a tenth: a trial is wanted', () => {
    const seenAfter = (ms: number, type = new Type({ normalMs: 50 })) => {
      type.after(ms, calls(60));
      return [type.limit.wantsTrial, type.limit.memory.normalMs];
    };
    expect(seenAfter(300_000)).toEqual([false, 50]);
    expect(seenAfter(300_001)).toEqual([true, null]);
    const seen = new Type({ normalMs: 50 });
    seen.after(1_000, calls(54));
    expect(seenAfter(300_000, seen)).toEqual([false, 50]);
  });
});

describe('a trial', () => {
  it('is wanted as long as normal is not known, by a type at its limit', () => {
    const type = new Type();
    type.after(1_000, { ...calls(50), limitReached: false });
    expect(type.limit.wantsTrial).toBe(false);
    type.after(1_000, calls(50));
    expect(type.limit.wantsTrial).toBe(true);
    type.after(1_000, QUIET);
    expect(type.limit.wantsTrial).toBe(false);
  });

  it('is wanted after two slow decisions in a row', () => {
    const type = new Type({ normalMs: 50 });
    const wants = [91, 91, 60, 91, 89, 91, 91].map((latencyMs) => {
      type.after(1_000, calls(latencyMs));
      return type.limit.wantsTrial;
    });
    expect(wants).toEqual([false, true, false, false, false, false, true]);
    expect(type.join()).toBe('trial: 91 ms a call, normal were 50 ms');
  });

  it('cuts to 70 %, and leaves it there where calls are faster by more than a fifth and as many', () => {
    const type = new Type();
    type.after(1_000, calls(9.5));
    expect(type.join()).toBe('trial: is 9.5 ms normal, or load?');
    expect(type.inForce).toBe(70);
    expect(type.after(1_009, calls(5))).toBeNull();
    expect(type.limit.wantsTrial).toBe(false);
    expect(type.after(1, calls(7.5, { of: 90 }))).toBeNull();
    expect(type.limit.memory).toEqual({ limit: 70, normalMs: null });
    expect(type.limit.wantsTrial).toBe(true);
    // The next one compares with the rate before the first.
    expect(type.join()).toBe('trial: is 7.5 ms normal, or load?');
    expect(type.inForce).toBe(49);
    expect(type.after(2_000, calls(5, { of: 89 }))).toContain('restored');
    expect(type.inForce).toBe(70);
  });

  it.each([
    ['calls are hardly faster', 41, 100],
    ['fewer succeed', 30, 89],
  ])('restores the limit where %s: this is normal', (_, latencyMs, of) => {
    const type = new Type({ limit: 80 });
    type.after(1_000, calls(50));
    type.join();
    expect(type.inForce).toBe(56);
    expect(type.after(2_000, calls(latencyMs, { of }))).toBe(
      `less load gains nothing, ${latencyMs} ms a call is normal: restored`,
    );
    expect(type.limit.memory).toEqual({ limit: 80, normalMs: latencyMs });
    expect(type.after(1_000 + latencyMs - 1, calls(0, { refused: 50 }))).toBeNull();
    expect(type.after(1, calls(0, { refused: 50 }))).not.toBeNull();
  });

  it('of a rate takes the seconds that were pooled', () => {
    const type = new Type();
    type.after(1_000, { ...calls(50), seconds: 2 });
    type.join();
    // 50 a second before, 50 a second now: kept.
    expect(type.after(2_000, calls(30, { of: 50 }))).toBeNull();
    expect(type.inForce).toBe(70);
  });

  it('is followed by another while calls are slower than normal and four tenths', () => {
    for (const [latencyMs, wanted] of [
      [69, false],
      [71, true],
    ] as const) {
      const type = new Type({ normalMs: 50 });
      for (let i = 0; i < 2; i += 1) type.after(1_000, calls(200));
      type.join();
      type.after(2_000, calls(latencyMs));
      expect(type.limit.wantsTrial).toBe(wanted);
      expect(type.limit.memory.normalMs).toBe(50);
    }
  });

  it('is joined by types that were at their limit within three seconds, have settled and are in no other', () => {
    const fresh = new Type();
    fresh.after(1_000, calls(50));
    fresh.nowMs += 3_000;
    expect(fresh.join()).not.toBeNull();
    expect(fresh.join()).toBeNull();
    fresh.nowMs += 2_000;
    expect(fresh.join()).toBeNull(); // its trial is not judged yet

    const late = new Type();
    late.after(1_000, calls(50));
    late.nowMs += 3_001;
    expect(late.join()).toBeNull();

    const never = new Type();
    expect(never.join()).toBeNull();
    never.after(1_000, { ...calls(50), limitReached: false });
    expect(never.join()).toBeNull();

    const unsettled = new Type({ limit: 50, normalMs: 1_000 });
    unsettled.after(1_000, calls(1_000)); // grows, settled in 1450 ms
    unsettled.nowMs += 1_449;
    expect(unsettled.join()).toBeNull();
    unsettled.nowMs += 1;
    expect(unsettled.join()).not.toBeNull();
  });

  it('is not possible at the floor: what is seen there is normal', () => {
    const type = new Type({ limit: 5 });
    type.after(1_000, calls(50));
    expect(type.limit.wantsTrial).toBe(true);
    expect(type.join()).toBeNull();
    expect(type.limit.memory).toEqual({ limit: 5, normalMs: 50 });
  });

  it('is over when calls are refused', () => {
    const type = new Type();
    type.after(1_000, calls(50));
    type.join();
    type.after(2_000, calls(50, { refused: 10 }));
    expect(type.inForce).toBe(35);
    // Judged as part of the trial it would restore the limit.
    type.after(2_000, calls(50));
    expect(type.inForce).toBe(35);
  });

  it('says nothing where no call succeeded', () => {
    const type = new Type({ normalMs: 50 });
    expect(type.after(1_000, { ...QUIET, failed: 100 })).toBeNull();
    expect(type.limit.memory).toEqual({ limit: null, normalMs: 50 });
  });
});

describe('trials in a row', () => {
  /** Two trials that seemed to help: in force 49 of 100, 200 ms before the first. */
  function twice(): Type {
    const type = new Type();
    type.after(1_000, calls(200));
    type.join();
    type.after(2_000, calls(150));
    type.join();
    type.after(2_000, calls(110));
    expect(type.inForce).toBe(49);
    return type;
  }

  it('were wrong where calls are as slow as before the first with little more than half in force', () => {
    const type = twice();
    type.after(1_000, calls(160));
    expect(type.join()).toBe('160 ms a call whatever the load: restored');
    expect(type.limit.memory).toEqual({ limit: null, normalMs: 160 });
    expect(type.after(1_159, calls(0, { refused: 50 }))).toBeNull();
    expect(type.after(1, calls(0, { refused: 50 }))).not.toBeNull();
  });

  it.each([
    ['calls are faster than that', 159, 1_000, 49],
    ['it is a minute ago', 160, 56_001, 49],
    ['more is in force', 160, 1_000, 61],
    ['as much is in force as before', 160, 1_000, 90],
  ])('go on where %s', (_, latencyMs, ms, inForce) => {
    const type = twice();
    type.after(ms, calls(latencyMs));
    expect(type.join({ inForce })).toBe(`trial: is ${latencyMs} ms normal, or load?`);
  });

  it('are a row for exactly a minute, and up to six tenths of the first', () => {
    const type = twice();
    type.after(56_000, calls(160));
    expect(type.join({ inForce: 60 })).toContain('whatever the load');
  });
});

describe('few calls', () => {
  it('are pooled until there are twenty, or as many as may run', () => {
    const type = new Type({ limit: 40, normalMs: 50 });
    expect(type.after(1_000, calls(50, { of: 10 }))).toBeNull();
    expect(type.after(1_000, calls(50, { of: 9 }))).toBeNull();
    expect(type.after(1_000, calls(50, { of: 1 }))).toContain('growing');
    const small = new Type({ limit: 3, normalMs: 50 });
    expect(small.after(1_000, calls(50, { of: 2 }))).toBeNull();
    expect(small.after(1_000, calls(50, { of: 1 }))).toContain('growing');
  });

  it('are twenty where some were refused or timed out, however few may run', () => {
    for (const trouble of [{ refused: 1 }, { timedOut: 1 }]) {
      const type = new Type({ limit: 3, normalMs: 50 }, 10);
      expect(type.after(1_000, calls(50, { of: 19, ...trouble }))).toBeNull();
      expect(type.inForce).toBe(3);
      expect(type.after(1_000, calls(50, { of: 1, ...trouble }))).not.toBeNull();
      expect(type.inForce).toBeLessThan(3);
    }
  });

  it('are forgotten after a minute', () => {
    const type = new Type({ limit: 40, normalMs: 50 });
    type.after(60_000, { ...calls(50, { of: 19 }), seconds: 60 });
    expect(type.after(1_000, calls(50, { of: 1 }))).toBeNull();
    const sooner = new Type({ limit: 40, normalMs: 50 });
    sooner.after(59_000, { ...calls(50, { of: 19 }), seconds: 59 });
    expect(sooner.after(1_000, calls(50, { of: 1 }))).not.toBeNull();
  });

  it('of before a change do not count after it', () => {
    const type = new Type({ limit: 40, normalMs: 50 });
    type.after(1_000, calls(50));
    type.after(899, calls(50, { of: 19 }));
    expect(type.after(1, calls(50, { of: 1 }))).toBeNull();
  });

  it('or none decide nothing', () => {
    const type = new Type();
    expect(type.after(1_000, QUIET, { inForce: 0 })).toBeNull();
    expect(type.limit.wantsTrial).toBe(false);
  });
});
