// The rules of the effective limit one by one, at their borders: what a tick leads to, and what it does not.
// How they work together is effective-limit.test.ts; which verdicts there are about strain is strain-trials.test.ts.
import { describe, expect, it } from 'vitest';
import { EffectiveLimit, type LimitMemory } from '../../../../src/domain/limits/effective-limit.ts';
import type { FleetTick, Situation } from '../../../../src/domain/limits/fleet-tick.ts';
import type { LimitVerdict } from '../../../../src/domain/limits/strain-trials.ts';
import { QUIET } from '../../../support/modelled-fleet.ts';

/** A hundred calls at the limit, so many of which failed. */
const calls = (latencyMs: number, { failed = 0, of = 100 } = {}): FleetTick => {
  const succeeded = of - failed;
  return { ...QUIET, succeeded, failed, succeededMs: succeeded * latencyMs, limitReached: true };
};

/** Nothing was polled. */
const IDLE: FleetTick = QUIET;

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
  after(ms: number, tick: FleetTick, situation: Partial<Situation> = {}): string | null {
    this.nowMs += ms;
    return this.limit.observe(tick, this.#situation(situation));
  }

  join(situation: Partial<Situation> = {}): string | null {
    return this.limit.joinTrial(this.#situation(situation));
  }

  /** Obeys a verdict about strain; see strain-trials.ts. */
  obey(kind: LimitVerdict['kind'], { limit = 0, load = 0 } = {}): void {
    this.limit.obey({ taskType: 'realname', kind, limit, load, reason: 'as the test says' }, this.nowMs);
  }

  /** A trial began and found that this load strained the gateway. */
  strainedBy(load: number, limit: number): void {
    this.obey('trial', { limit, load });
    this.obey('strained', { load });
  }

  #situation(given: Partial<Situation>): Situation {
    const { configured, inForce, nowMs } = this;
    return { configured, inForce, nowMs, fairLimit: inForce, strained: false, ...given };
  }
}

describe('a trial about strain', () => {
  it('sets the limit, and a verdict against load leaves it as it was before the first of them', () => {
    for (const limit of [null, 80]) {
      const type = new Type({ limit, normalMs: 50 });
      type.obey('trial', { limit: 60 });
      expect(type.inForce).toBe(60);
      type.obey('trial', { limit: 30 });
      expect(type.inForce).toBe(30);
      type.obey('restored');
      expect(type.limit.memory).toEqual({ limit, normalMs: 50 });
    }
  });

  it('leaves the limit where load was the reason, and the next one goes back to that', () => {
    const type = new Type({ limit: 80, normalMs: 50 });
    type.strainedBy(80, 56);
    expect(type.inForce).toBe(56);
    type.obey('trial', { limit: 30 });
    type.obey('restored');
    expect(type.inForce).toBe(56);
  });

  it.each(['trial', 'strained', 'restored'] as const)('settles within a second: %s', (kind) => {
    const type = new Type({ limit: 20, normalMs: 50 });
    if (kind === 'restored') type.obey('trial', { limit: 10 });
    type.obey(kind, { limit: 20, load: 100 });
    expect(type.after(999, calls(50))).toBeNull();
    expect(type.after(1, calls(50))).toContain('growing');
  });

  it.each(['trial', 'strained', 'restored'] as const)('forgets the few calls from before it: %s', (kind) => {
    const type = new Type({ limit: 40, normalMs: 50 });
    type.after(1_000, calls(50, { of: 19 }));
    type.obey(kind, { limit: 40, load: 100 });
    expect(type.after(1_000, calls(50, { of: 1 }))).toBeNull();
    expect(type.after(1_000, calls(50, { of: 19 }))).toContain('growing');
  });

  it('takes the place of a trial about latency, and a verdict against load undoes both', () => {
    const trying = () => {
      const type = new Type({ limit: 80 });
      type.after(1_000, calls(50));
      type.join();
      expect(type.inForce).toBe(56);
      return type;
    };
    const restored = trying();
    restored.obey('trial', { limit: 30, load: 56 });
    restored.obey('restored', { load: 56 });
    expect(restored.inForce).toBe(80);
    const type = trying();
    type.obey('trial', { limit: 30, load: 56 });
    type.obey('strained', { load: 56 });
    // Judged as part of the trial about latency this would restore the limit.
    expect(type.after(2_000, calls(50))).toBeNull();
    expect(type.inForce).toBe(30);
    expect(type.limit.memory.normalMs).toBeNull();
  });

  it('takes the wish for a trial about latency back', () => {
    const type = new Type();
    type.after(1_000, calls(50));
    expect(type.limit.wantsTrial).toBe(true);
    type.obey('trial', { limit: 70 });
    expect(type.limit.wantsTrial).toBe(false);
  });

  it('ends a row of trials about latency', () => {
    const type = twice();
    type.obey('strained', { load: 43 });
    type.after(1_000, calls(160));
    expect(type.join()).toBe('testing whether fewer calls help: 160 ms a call');
  });

  it('leaves normal alone where no latency was seen at the limit, or load was not the reason', () => {
    const unseen = new Type({ normalMs: 50 });
    unseen.after(100_000, { ...calls(50), limitReached: false });
    unseen.strainedBy(100, 70);
    expect(unseen.limit.memory.normalMs).toBe(50);
    const restored = new Type({ normalMs: 50 });
    restored.after(100_000, calls(50));
    restored.obey('trial', { limit: 70, load: 100 });
    restored.obey('restored', { load: 100 });
    expect(restored.limit.memory.normalMs).toBe(50);
  });
});

describe('near the load that strained the gateway', () => {
  /** The limits that growth leads to second by second, beginning a second after the verdict. */
  function growth(
    type: Type,
    latencyMs: number,
    seconds: number,
    situation: Partial<Situation> = {},
  ): number[] {
    return Array.from({ length: seconds }, () => {
      type.after(1_000, calls(latencyMs), situation);
      return type.inForce;
    });
  }

  it('growth stops a tenth below it for ten seconds, goes on by a tenth, and above it by half', () => {
    const type = new Type({ limit: 100, normalMs: 50 }, 200);
    type.nowMs = 5_000;
    type.strainedBy(100, 50);
    const limits = growth(type, 50, 14, { fairLimit: 70 });
    expect(limits).toEqual([75, 90, 90, 90, 90, 90, 90, 90, 90, 97, 104, 156, 200, 200]);
  });

  it('growth does not leap over it, at no speed', () => {
    const type = new Type({ limit: 100, normalMs: 50 }, 200);
    type.nowMs = 5_000;
    type.strainedBy(100, 85);
    expect(growth(type, 60, 2, { fairLimit: 200 })).toEqual([90, 90]);
    const slow = new Type({ limit: 100, normalMs: 50 }, 200);
    slow.nowMs = 5_000;
    slow.strainedBy(100, 70);
    expect(growth(slow, 60, 3, { fairLimit: 60 })).toEqual([76, 82, 88]);
  });

  it('growth waits for ten seconds, to the millisecond', () => {
    const type = new Type({ limit: 100, normalMs: 50 }, 200);
    type.nowMs = 5_000;
    type.strainedBy(100, 95);
    expect(type.after(9_999, calls(50))).toBeNull();
    expect(type.after(1, calls(50))).toContain('growing');
  });

  it('a limit that is exactly there counts as near', () => {
    const type = new Type({ limit: 100, normalMs: 50 }, 200);
    type.nowMs = 5_000;
    type.strainedBy(100, 100);
    expect(type.after(9_999, calls(50))).toBeNull();
    type.after(1, calls(50));
    expect(type.inForce).toBe(110);
  });

  it('a limit above it knows no wariness', () => {
    const type = new Type({ limit: 100, normalMs: 50 }, 200);
    type.nowMs = 5_000;
    type.strainedBy(99, 100);
    type.after(1_000, calls(50));
    expect(type.inForce).toBe(150);
  });

  it('is nowhere after five minutes', () => {
    const limitAfter = (ms: number) => {
      const type = new Type({ limit: 100, normalMs: 50 }, 200);
      type.nowMs = 5_000;
      type.strainedBy(100, 60);
      type.after(ms, calls(50));
      return type.inForce;
    };
    // By half would be 90 as well, so the load is one that is farther away.
    expect([limitAfter(300_000), limitAfter(300_001)]).toEqual([90, 90]);
    const nearAfter = (ms: number) => {
      const type = new Type({ limit: 100, normalMs: 50 }, 200);
      type.nowMs = 5_000;
      type.strainedBy(100, 80);
      type.after(ms - 1_000, calls(50), { inForce: 79 });
      type.after(1_000, calls(50));
      return type.inForce;
    };
    expect([nearAfter(300_000), nearAfter(300_001)]).toEqual([90, 120]);
  });

  it('is one call at least', () => {
    const type = new Type({ limit: 1, normalMs: 50 });
    type.nowMs = 5_000;
    type.obey('strained', { limit: 1, load: 1 });
    expect(type.after(9_999, calls(50))).toBeNull();
    expect(type.after(1, calls(50))).toContain('growing');
    expect(type.inForce).toBe(2);
  });
});

describe('a limit that is not used up', () => {
  const unused = { ...calls(50), limitReached: false };

  it('is lifted after a minute, where no call was made too', () => {
    for (const tick of [unused, IDLE]) {
      const type = new Type({ limit: 40, normalMs: 50 });
      expect(type.after(59_999, tick)).toBeNull();
      expect(type.inForce).toBe(40);
      expect(type.after(1, tick)).toBe('the lower limit was not used up for a minute: lifted');
      expect(type.limit.memory).toEqual({ limit: null, normalMs: 50 });
      expect(type.after(1, tick)).toBeNull();
    }
  });

  it('stays where it was used up meanwhile', () => {
    const reached = new Type({ limit: 40, normalMs: 50 });
    reached.after(30_000, calls(75));
    expect(reached.after(59_999, unused)).toBeNull();
    expect(reached.after(1, unused)).toContain('lifted');
  });

  it('counts as used up also in the second in which it settles', () => {
    const type = new Type({ limit: 40, normalMs: 50 });
    type.obey('strained', { load: 40 });
    type.after(999, calls(50));
    expect(type.after(59_999, unused)).toBeNull();
    expect(type.after(1, unused)).toContain('lifted');
  });

  it('stays during a trial', () => {
    const latency = new Type({ limit: 80 });
    latency.after(1_000, calls(50));
    latency.join();
    expect(latency.after(61_000, IDLE)).toBeNull();
    expect(latency.inForce).toBe(56);
  });

  it('is nothing to lift where it is not reduced', () => {
    expect(new Type({ normalMs: 50 }).after(61_000, IDLE)).toBeNull();
  });
});

describe('growing', () => {
  it.each([
    [1_149, 60],
    [1_151, 46],
    [1_400, 46],
  ])('at %i ms where 1000 are normal and a fair limit is 67, from 40 to %i', (latencyMs, limit) => {
    const type = new Type({ limit: 40, normalMs: 1_000 });
    expect(type.after(1_000, calls(latencyMs), { fairLimit: 67 })).toContain('growing');
    expect(type.inForce).toBe(limit);
  });

  it('by one at least, and to the configured limit at most', () => {
    for (const latencyMs of [50, 60]) {
      const small = new Type({ limit: 1, normalMs: 50 });
      small.after(1_000, calls(latencyMs));
      expect(small.limit.memory.limit).toBe(2);
    }
    const below = new Type({ limit: 50, normalMs: 50 }, 76);
    below.after(1_000, calls(50));
    expect(below.limit.memory.limit).toBe(75);
    const exact = new Type({ limit: 50, normalMs: 50 }, 75);
    exact.after(1_000, calls(50));
    expect(exact.limit.memory.limit).toBeNull();
    const beyond = new Type({ limit: 50, normalMs: 50 }, 74);
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
    const grows = (tick: FleetTick, situation: Partial<Situation> = {}) =>
      new Type({ limit: 40, normalMs: 50 }).after(10_000, tick, situation) !== null;
    expect(grows(calls(50))).toBe(true);
    expect(grows({ ...calls(50), limitReached: false })).toBe(false);
    expect(grows(calls(50), { inForce: 39 })).toBe(false);
    expect(grows(calls(50, { failed: 50 }))).toBe(true);
    expect(grows(calls(71))).toBe(false);
    expect(grows(calls(71), { strained: true })).toBe(false);
  });

  it.each([
    ['at ease', 50],
    ['not known to be at ease', null],
  ])('by a tenth every 1.9 s when calls have been refused for 10 s, %s', (_, normalMs) => {
    const type = new Type({ limit: 40, normalMs });
    expect(type.after(9_999, calls(50), { strained: true })).toBeNull();
    expect(type.after(1, calls(50), { strained: true })).toContain('growing');
    expect(type.inForce).toBe(44);
    expect(type.after(1_899, calls(50), { strained: true })).toBeNull();
    expect(type.after(1, calls(50), { strained: true })).toContain('growing');
    expect(type.inForce).toBe(48);
  });

  it('while calls are refused first makes the limits of the task types equal', () => {
    const type = new Type({ limit: 40, normalMs: 50 });
    expect(type.after(1_000, calls(50), { strained: true, fairLimit: 60 })).toContain('slots go to');
    expect(type.inForce).toBe(46);
  });

  it('is not for a limit that is not reduced', () => {
    const type = new Type({ normalMs: 50 });
    expect(type.after(1_000, calls(50))).toBeNull();
    const atConfigured = new Type({ limit: 100, normalMs: 50 });
    expect(atConfigured.after(1_000, calls(50))).toBeNull();
    expect(atConfigured.limit.memory.limit).toBeNull();
  });
});

describe('where load is as high as it should be', () => {
  /** Calls take so much more than normal, and a fair limit is this. */
  const shared = (limit: number, fairLimit: number, latencyMs = 1_500) => {
    const type = new Type({ limit, normalMs: 1_000 }, 1_000);
    const reason = type.after(1_000, calls(latencyMs), { fairLimit });
    expect(reason).toBe(
      type.inForce === limit ? null : 'slots go to the task types that need them; their sum stays the same',
    );
    return type.inForce;
  };

  it.each([
    ['up by a tenth of what is fair', 40, 67, 46],
    ['down by a tenth of what is fair', 100, 67, 94],
    ['up to what is fair', 60, 67.5, 66],
    ['no higher than that', 6, 7.5, 7],
    ['no lower than that', 9, 7.5, 8],
    ['by one at least', 1, 5, 2],
  ])('a limit comes %s', (_, limit, fairLimit, to) => {
    expect(shared(limit, fairLimit)).toBe(to);
  });

  it('limits that differ by a tenth are fair', () => {
    expect([shared(90, 100), shared(110, 100)]).toEqual([90, 110]);
    expect([shared(89, 100), shared(111, 100)]).toEqual([99, 101]);
  });

  it('none comes nearer that is not reached, not reduced or not in force', () => {
    const seen = calls(75);
    expect(
      new Type({ limit: 40, normalMs: 50 }).after(1_000, seen, { inForce: 39, fairLimit: 60 }),
    ).toBeNull();
    expect(new Type({ normalMs: 50 }).after(1_000, seen, { fairLimit: 60 })).toBeNull();
    const unused = { ...seen, limitReached: false };
    expect(new Type({ limit: 40, normalMs: 50 }).after(1_000, unused, { fairLimit: 60 })).toBeNull();
  });

  it('no limit comes nearer where calls are so slow that a trial is due', () => {
    expect(shared(40, 100, 1_801)).toBe(40);
  });

  it('the next step follows 0.9 s and a call later', () => {
    const type = new Type({ limit: 40, normalMs: 50 });
    expect(type.after(1_000, calls(75), { fairLimit: 60 })).not.toBeNull();
    expect(type.after(974, calls(75), { fairLimit: 60 })).toBeNull();
    expect(type.after(1, calls(75), { fairLimit: 60 })).not.toBeNull();
  });
});

describe('where no call succeeds', () => {
  /** So many calls fail, and so many of them by timeout. */
  const failed = (of: number, timeouts: number): FleetTick => ({ ...calls(0, { of, failed: of }), timeouts });

  it.each([
    [20, 10, 20],
    [20, 9, 40],
    [19, 19, 40],
    [200, 200, 20],
  ])('%i failures, %i of them timeouts, leave %i of a limit of 40', (of, timeouts, limit) => {
    const type = new Type({ limit: 40, normalMs: 50 });
    const reason = type.after(1_000, failed(of, timeouts));
    expect(type.limit.memory).toEqual({ limit, normalMs: 50 });
    const said = `none of ${of} calls succeeded, ${timeouts} timed out`;
    expect(reason).toBe(limit === 40 ? null : said);
  });

  it('waits for twenty calls, also where the limit is lower', () => {
    const type = new Type({ limit: 8, normalMs: 50 });
    expect(type.after(1_000, failed(10, 10))).toBeNull();
    expect(type.after(1_000, failed(10, 10))).toContain('none of 20 calls succeeded');
    expect(type.inForce).toBe(4);
  });

  it('the limit is halved again a second later, down to one', () => {
    const type = new Type({ normalMs: 50 }, 5);
    expect(type.after(1_000, failed(30, 30))).not.toBeNull();
    expect(type.inForce).toBe(2);
    expect(type.after(999, failed(30, 30))).toBeNull();
    expect(type.after(1, failed(30, 30))).not.toBeNull();
    expect(type.inForce).toBe(1);
    expect(type.after(2_000, failed(30, 30))).toBeNull();
  });

  it('growth stops below the load at which that began', () => {
    const type = new Type({ limit: 100, normalMs: 50 }, 200);
    for (const ms of [5_000, 1_000]) type.after(ms, failed(100, 60));
    const limits = Array.from({ length: 6 }, () => {
      type.after(1_000, calls(50));
      return type.inForce;
    });
    expect(limits).toEqual([37, 55, 82, 90, 90, 90]);
  });

  it('a trial about latency is over', () => {
    const type = new Type({ limit: 80 });
    type.after(1_000, calls(50));
    type.join();
    type.after(2_000, failed(100, 100));
    expect(type.inForce).toBe(28);
    // Judged as part of that trial this would restore the limit.
    expect(type.after(2_000, calls(50))).toBeNull();
    expect(type.limit.memory).toEqual({ limit: 28, normalMs: null });
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
    expect(type.limit.wantsTrial).toBe(false);
    type.after(1_000, { ...calls(50), limitReached: false });
    expect(type.limit.wantsTrial).toBe(false);
    type.after(1_000, calls(50));
    expect(type.limit.wantsTrial).toBe(true);
    type.after(1_000, IDLE);
    expect(type.limit.wantsTrial).toBe(false);
  });

  it('is wanted after two slow decisions in a row', () => {
    const type = new Type({ normalMs: 50 });
    const wants = [91, 91, 60, 91, 89, 91, 91].map((latencyMs) => {
      type.after(1_000, calls(latencyMs));
      return type.limit.wantsTrial;
    });
    expect(wants).toEqual([false, true, false, false, false, false, true]);
    expect(type.join()).toBe('testing whether fewer calls help: 91 ms a call, usually 50 ms');
  });

  it('cuts to 70 %, and leaves it there where calls are faster by more than a fifth and as many', () => {
    const type = new Type();
    type.after(1_000, calls(9.5));
    expect(type.join()).toBe('testing whether fewer calls help: 9.5 ms a call');
    expect(type.inForce).toBe(70);
    expect(type.after(1_009, calls(5))).toBeNull();
    expect(type.limit.wantsTrial).toBe(false);
    expect(type.after(1, calls(7.5, { of: 90 }))).toBeNull();
    expect(type.limit.memory).toEqual({ limit: 70, normalMs: null });
    expect(type.limit.wantsTrial).toBe(true);
    // The next one compares with the rate before the first.
    expect(type.join()).toBe('testing whether fewer calls help: 7.5 ms a call');
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
      `fewer calls did not help, ${latencyMs} ms a call is normal now: limit restored`,
    );
    expect(type.limit.memory).toEqual({ limit: 80, normalMs: latencyMs });
    expect(type.after(1_000 + latencyMs - 1, calls(latencyMs))).toBeNull();
    expect(type.after(1, calls(latencyMs))).toContain('growing');
  });

  it('a trial of a rate takes the seconds that were pooled', () => {
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

  it('is joined by types that were at their limit within ten seconds, have settled and are in no other', () => {
    const fresh = new Type();
    fresh.after(1_000, calls(50));
    fresh.nowMs += 10_000;
    expect(fresh.join()).not.toBeNull();
    expect(fresh.join()).toBeNull();
    fresh.nowMs += 2_000;
    expect(fresh.join()).toBeNull(); // its trial is not judged yet

    const late = new Type();
    late.after(1_000, calls(50));
    late.nowMs += 10_001;
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

  it('is not possible at the least limit: what is seen there is normal', () => {
    const type = new Type({ limit: 1 });
    type.after(1_000, calls(50));
    expect(type.limit.wantsTrial).toBe(true);
    expect(type.join()).toBeNull();
    expect(type.limit.memory).toEqual({ limit: 1, normalMs: 50 });
  });

  it('is not wanted where no call succeeded', () => {
    const type = new Type();
    expect(type.after(1_000, calls(0, { failed: 100 }))).toBeNull();
    expect(type.limit.wantsTrial).toBe(false);
  });
});

describe('trials in a row', () => {
  it('were wrong where calls are as slow as before the first with little more than half in force', () => {
    const type = twice();
    type.after(1_000, calls(160));
    expect(type.join()).toBe('fewer calls did not help, 160 ms a call: limit restored');
    expect(type.limit.memory).toEqual({ limit: 90, normalMs: 160 });
    expect(type.after(1_159, calls(160))).toBeNull();
    expect(type.after(1, calls(160))).toContain('growing');
  });

  it.each([
    ['calls are faster than that', 159, 1_000, 43],
    ['it is a minute ago', 160, 56_001, 43],
    ['more is in force', 160, 1_000, 55],
    ['as much is in force as before', 160, 1_000, 81],
  ])('go on where %s', (_, latencyMs, ms, inForce) => {
    const type = twice();
    type.after(ms, calls(latencyMs));
    expect(type.join({ inForce })).toBe(`testing whether fewer calls help: ${latencyMs} ms a call`);
  });

  it('are a row for exactly a minute, and up to six tenths of the first', () => {
    const type = twice();
    type.after(56_000, calls(160));
    expect(type.join({ inForce: 54 })).toContain('fewer calls did not help');
  });

  it('are a row no more once as much is in force as before the first', () => {
    const type = twice();
    type.after(1_000, calls(160));
    type.join({ inForce: 81 });
    expect(type.inForce).toBe(56);
    type.after(3_000, calls(120));
    type.after(1_000, calls(170));
    expect(type.join({ inForce: 54 })).toBe('testing whether fewer calls help: 170 ms a call');
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

  it('are forgotten after a minute', () => {
    const type = new Type({ limit: 40, normalMs: 50 });
    type.after(60_000, { ...calls(50, { of: 19 }), seconds: 60 });
    expect(type.after(1_000, calls(50, { of: 1 }))).toBeNull();
    const sooner = new Type({ limit: 40, normalMs: 50 });
    sooner.after(59_000, { ...calls(50, { of: 19 }), seconds: 59 });
    expect(sooner.after(1_000, calls(50, { of: 1 }))).not.toBeNull();
  });

  it('calls from before a change do not count after it', () => {
    const type = new Type({ limit: 40, normalMs: 50 });
    type.after(1_000, calls(50));
    type.after(899, calls(50, { of: 19 }));
    expect(type.after(1, calls(50, { of: 1 }))).toBeNull();
  });

  it('or none decide nothing', () => {
    const type = new Type();
    expect(type.after(1_000, { ...IDLE, limitReached: true }, { inForce: 0 })).toBeNull();
    expect(type.limit.wantsTrial).toBe(false);
  });
});

/** Two trials that seemed to help: in force 43 of 90, 200 ms before the first. */
function twice(): Type {
  const type = new Type({ limit: 90 });
  type.after(1_000, calls(200));
  type.join();
  type.after(2_000, calls(150));
  type.join();
  type.after(2_000, calls(110));
  expect(type.inForce).toBe(43);
  return type;
}
