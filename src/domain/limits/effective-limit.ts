// The effective limit of one task type: how much of the configured concurrency the gateway can take now. Gets one tick a
// second; the leader keeps what it knows. Pure: time is passed in. Why the rules are these: docs/decisions/0028-flow-control.md.
//
// Lowered for calls that are refused (strain-trials.ts finds out whether load is the reason), for latency, and by half
// while nothing succeeds. Per window (one tick, or several until enough calls were seen):
//   latency > 1.8 x normal    a trial: cut to 70 %, look again
//   latency <= 1.4 x normal   grow, if the limit was reached: by half while the gateway is at ease (1.15), by a tenth near
//                             the load that strained it last, and where calls are refused for 10 s but too few for a trial
// Between 1.4 and 1.8 times, the limits of the types that use theirs up converge. One not used up for a minute is lifted.
//
// NORMAL is the latency that does not depend on our load, and only a TRIAL can find it: cut the load to 70 %. Where latency
// falls by a fifth or more, load is the reason: the cut stays, and is repeated while normal is not known. Where it does not,
// or the rate falls with it, this latency is normal, and the limit is what it was.
import { type FleetTick, pooled, type Situation } from './fleet-tick.ts';
import type { LimitVerdict } from './strain-trials.ts';

/** The state that the next leader takes over. */
export interface LimitMemory {
  /** null: not reduced, the configured limit counts. */
  readonly limit: number | null;
  /** Latency of a gateway that is not overloaded; null while unknown. */
  readonly normalMs: number | null;
  readonly trying?: boolean; // A trial runs; the next leader begins without it.
}

/** Measurements of a type at its limit. */
interface Seen {
  readonly latencyMs: number;
  /** Successful polls per second; after a cut that is kept, the rate before it. */
  readonly rate: number;
  readonly atMs: number;
}

interface Trial {
  readonly limitBefore: number | null;
  /** Measurements before the cut; null: strain-trials.ts judges this trial. */
  readonly seen: Seen | null;
}

// Behind each constant, what chose it: about a third less or more than it fails a model of a gateway in
// test/unit/domain/limits/effective-limit.test.ts (no less, no more), or no model (by hand: only the test of its rule fails).
const ENOUGH_CALLS = 20; // no less
const POOL_SECONDS = 60; // no more
const GROW_BAND = 1.4; // no less, no more
const SLOW_BAND = 1.8; // no less, no more
const GROWTH = 0.1; // by hand
/** A gateway this close to its normal latency is far from its capacity. */
const EASE_BAND = 1.15; // no more
const EASE_GROWTH = 0.5; // no more
const FAIR = 0.1; // by hand
/** A second, and while calls are refused a window of strain-trials.ts, minus a tolerance for an early tick. */
const GROW_EVERY_MS = 900; // no more
const GROW_STRAINED_EVERY_MS = 1_900; // by hand
const CUT = 0.7; // no more
const COLLAPSE_CUT = 0.5; // by hand
/** Share of timeouts among the failures of an overloaded gateway. One that answers with errors is not overloaded. */
const COLLAPSED = 0.5; // by hand
/** A trial's cut to 70 % makes an overloaded gateway faster by 30 %, an idle one not at all. */
const FELL = 0.8; // no less
/** An overloaded gateway keeps this share of its rate after a cut. A cut that costs more is not kept. */
const KEPT = 0.9; // no less
/** Normal follows a faster gateway in steps: one fast second is not normal. */
const LEARN_WEIGHT = 0.2; // no less
const SLOW_WINDOWS = 2; // no less
/** If trials within this time cut to this share and calls are as slow as before, load was not the reason. */
const SERIES_MS = 60_000; // by hand
const IN_VAIN = 0.6; // by hand
/** How long the result of a trial is valid, unless it is confirmed. */
const BELIEVED_MS = 300_000; // no less
/** How long the limit stays 10 % below the load that strained the gateway, and does not grow while calls are refused. */
const WARY_MS = 10_000; // by hand
const WARY_SHARE = 0.9; // no less
const UNUSED_MS = 60_000; // no less
/** Counts arrive half a second late; after this time every counted call began after the change. */
const SETTLE_MS = 1_000; // no less
const FRESH_MS = 10_000; // by hand, for slow calls at a small limit; with 3 s fleets got less (0028)

export class EffectiveLimit {
  #limit: number | null;
  #normalMs: number | null;
  #normalSeenAtMs: number;
  #pool: FleetTick | null = null;
  #settledAtMs = Number.NEGATIVE_INFINITY;
  #usedUpAtMs: number;
  #slowWindows = 0;
  /** The last time that few calls were refused, or that a trial found the cause. */
  #calmAtMs: number;
  #trial: Trial | null = null;
  /** The last load that strained the gateway. */
  #strained: { readonly load: number; readonly atMs: number } | null = null;
  /** The last latency at the limit, to compare a trial with. */
  #atLimit: Seen | null = null;
  #wantsTrial = false;
  /** The first trial of the present series. */
  #first: (Trial & { readonly seen: Seen; readonly inForce: number }) | null = null;

  constructor(memory: LimitMemory, nowMs: number) {
    this.#limit = memory.limit;
    this.#normalMs = memory.normalMs;
    this.#normalSeenAtMs = nowMs;
    this.#usedUpAtMs = nowMs;
    this.#calmAtMs = nowMs;
  }

  get memory(): LimitMemory {
    return { limit: this.#limit, normalMs: this.#normalMs, ...(this.#trial && { trying: true }) };
  }

  /** The limit, at most the configured one. */
  under(configured: number): number {
    return Math.min(configured, this.#limit ?? configured);
  }

  /** A trial should begin. It is more reliable when all task types join, because the gateway serves them together. */
  get wantsTrial(): boolean {
    return this.#wantsTrial;
  }

  /** Processes one tick. @returns why the limit changed, null when it did not. */
  observe(tick: FleetTick, situation: Situation): string | null {
    const { configured, inForce, nowMs, strained } = situation;
    this.#wantsTrial = false;
    if (this.#limit !== null && this.#limit >= configured) this.#limit = null;
    if (tick.limitReached) this.#usedUpAtMs = nowMs;
    if (!strained) this.#calmAtMs = nowMs;
    if (nowMs < this.#settledAtMs) {
      this.#pool = null;
      return null;
    }
    const seen = pooled(this.#pool, tick);
    const enough = seen.succeeded === 0 ? ENOUGH_CALLS : Math.min(ENOUGH_CALLS, inForce);
    const isEnough = seen.succeeded + seen.failed >= enough;
    this.#pool = isEnough || seen.seconds >= POOL_SECONDS ? null : seen;
    return (isEnough ? this.#decide(seen, situation) : null) ?? this.#liftUnused(nowMs);
  }

  /** Applies the verdict of a strain trial. */
  obey({ kind, limit, load }: LimitVerdict, nowMs: number): void {
    const { limitBefore } = this.#trial ?? { limitBefore: this.#limit };
    this.#pool = null;
    this.#trial = kind === 'trial' ? { limitBefore, seen: null } : null;
    this.#first = null;
    this.#wantsTrial = false;
    this.#settledAtMs = nowMs + SETTLE_MS;
    this.#calmAtMs = nowMs;
    if (kind === 'trial') this.#limit = limit;
    if (kind === 'restored') this.#limit = limitBefore;
    if (kind === 'strained') this.#strained = { load, atMs: nowMs };
  }

  /** Begins a trial if this type works at its limit; see `wantsTrial`. @returns why the limit changed. */
  joinTrial(situation: Situation): string | null {
    const { inForce, nowMs } = situation;
    const seen = this.#atLimit;
    if (this.#trial !== null || nowMs < this.#settledAtMs) return null;
    if (seen === null || nowMs - seen.atMs > FRESH_MS) return null;
    if (this.#inVain(seen, situation))
      return `fewer calls did not help, ${ms(seen.latencyMs)} a call: limit restored`;
    const limitBefore = this.#limit;
    if (!this.#cut(CUT, seen.latencyMs, situation)) {
      this.#believe(seen.latencyMs, nowMs);
      return null;
    }
    this.#trial = { limitBefore, seen };
    this.#first ??= { limitBefore, seen, inForce };
    const usually = this.#normalMs === null ? '' : `, usually ${ms(this.#normalMs)}`;
    return `testing whether fewer calls help: ${ms(seen.latencyMs)} a call${usually}`;
  }

  /** Restores the limit if a series of trials halved the load and calls are as slow as before: load was not the reason. */
  #inVain(seen: Seen, { inForce, nowMs }: Situation): boolean {
    const first = this.#first;
    if (first === null) return false;
    const isOver = nowMs - first.seen.atMs > SERIES_MS || inForce >= WARY_SHARE * first.inForce;
    if (isOver) this.#first = null;
    if (isOver || inForce > IN_VAIN * first.inForce) return false;
    if (seen.latencyMs < FELL * first.seen.latencyMs) return false;
    this.#restore(first.limitBefore, seen, nowMs);
    return true;
  }

  #decide(seen: FleetTick, situation: Situation): string | null {
    const { nowMs, strained } = situation;
    if (seen.succeeded === 0) return this.#collapse(seen, situation);
    const latencyMs = seen.succeededMs / seen.succeeded;
    const now = { latencyMs, rate: seen.succeeded / seen.seconds, atMs: nowMs };
    if (this.#trial?.seen) return this.#judge(this.#trial.limitBefore, this.#trial.seen, now);
    this.#learn(latencyMs, nowMs);
    this.#atLimit = seen.limitReached ? now : null;
    if (!seen.limitReached) return null;
    if (nowMs - this.#normalSeenAtMs > BELIEVED_MS) this.#normalMs = null;
    // While many calls are refused, accepted calls may take equally long at any load.
    this.#wantsTrial = this.#normalMs === null && !strained;
    if (this.#wantsTrial) return null;
    const normalMs = this.#normalMs ?? latencyMs;
    this.#slowWindows = latencyMs > SLOW_BAND * normalMs ? this.#slowWindows + 1 : 0;
    this.#wantsTrial = this.#slowWindows >= SLOW_WINDOWS;
    if (this.#slowWindows > 0) return null;
    const isSlow = latencyMs > GROW_BAND * normalMs;
    const shared = isSlow || strained ? this.#share(latencyMs, situation) : null;
    if (shared !== null || isSlow || (strained && nowMs - this.#calmAtMs < WARY_MS)) return shared;
    return this.#grow(latencyMs, situation);
  }

  /** Halves the limit: an overloaded gateway may answer no call in time. If load is not the reason, the limit soon recovers. */
  #collapse(seen: FleetTick, situation: Situation): string | null {
    const { inForce, nowMs } = situation;
    if (seen.failed < ENOUGH_CALLS || seen.timeouts < COLLAPSED * seen.failed) return null;
    this.#trial = null;
    if (!this.#cut(COLLAPSE_CUT, 0, situation)) return null;
    this.#strained = { load: Math.max(inForce, this.#strained?.load ?? 0), atMs: nowMs };
    return `none of ${seen.failed} calls succeeded, ${seen.timeouts} timed out`;
  }

  /** Judges a trial whose cut has settled: was load the reason? */
  #judge(limitBefore: number | null, before: Seen, now: Seen): string | null {
    const { latencyMs, rate, atMs: nowMs } = now;
    this.#trial = null;
    if (latencyMs >= FELL * before.latencyMs || rate < KEPT * before.rate) {
      this.#restore(limitBefore, now, nowMs);
      return `fewer calls did not help, ${ms(latencyMs)} a call is normal now: limit restored`;
    }
    this.#atLimit = { ...now, rate: before.rate };
    this.#wantsTrial = this.#normalMs === null || latencyMs > GROW_BAND * this.#normalMs;
    return null;
  }

  /** Moves the limit towards those of the other types; their sum stays the same, because the load is right. */
  #share(latencyMs: number, { inForce, nowMs, fairLimit }: Situation): string | null {
    if (this.#limit === null || inForce !== this.#limit || isFair(inForce, fairLimit)) return null;
    const step = stepOf(fairLimit);
    this.#limit = inForce + Math.trunc(Math.max(-step, Math.min(step, fairLimit - inForce)));
    this.#settledAtMs = nowMs + GROW_EVERY_MS + latencyMs;
    return 'slots go to the task types that need them; their sum stays the same';
  }

  #grow(latencyMs: number, situation: Situation): string | null {
    const { configured, inForce, nowMs, strained } = situation;
    // If a lower limit is in force, reaching it proves nothing about this one.
    if (this.#limit === null || inForce < this.#limit) return null;
    const to = this.#nextLimit(this.#limit, latencyMs, situation);
    if (to <= this.#limit) return null;
    this.#limit = to >= configured ? null : to;
    const everyMs = strained ? GROW_STRAINED_EVERY_MS : GROW_EVERY_MS;
    this.#settledAtMs = nowMs + Math.max(everyMs, latencyMs + GROW_EVERY_MS / 2);
    return `the limit was reached and a call takes ${ms(latencyMs)}: growing`;
  }

  #nextLimit(limit: number, latencyMs: number, { fairLimit, nowMs, strained }: Situation): number {
    const isAtEase = !strained && this.#normalMs !== null && latencyMs <= EASE_BAND * this.#normalMs;
    const slow = limit + stepOf(fairLimit);
    const quick = isAtEase ? limit + Math.max(1, Math.floor(EASE_GROWTH * limit)) : slow;
    const { load = 0, atMs = 0 } = this.#strained ?? {};
    if (limit > load || nowMs - atMs > BELIEVED_MS) this.#strained = null;
    if (this.#strained === null) return quick;
    const wary = Math.max(1, Math.floor(WARY_SHARE * load));
    if (limit < wary) return Math.min(wary, quick);
    return nowMs - atMs < WARY_MS ? limit : slow;
  }

  #liftUnused(nowMs: number): string | null {
    if (this.#limit === null || this.#trial !== null || nowMs - this.#usedUpAtMs < UNUSED_MS) return null;
    this.#limit = null;
    return 'the lower limit was not used up for a minute: lifted';
  }

  /** @returns false when there is no lower limit. */
  #cut(factor: number, latencyMs: number, { inForce, nowMs }: Situation): boolean {
    const to = Math.max(1, Math.floor(factor * inForce));
    this.#slowWindows = 0;
    this.#settledAtMs = nowMs + SETTLE_MS + latencyMs;
    if (to >= inForce) return false;
    this.#limit = to;
    return true;
  }

  #restore(limitBefore: number | null, { latencyMs }: Seen, nowMs: number): void {
    this.#believe(latencyMs, nowMs);
    this.#trial = null;
    this.#first = null;
    this.#limit = limitBefore;
    this.#settledAtMs = nowMs + SETTLE_MS + latencyMs;
  }

  #believe(latencyMs: number, nowMs: number): void {
    this.#normalMs = latencyMs;
    this.#normalSeenAtMs = nowMs;
  }

  #learn(latencyMs: number, nowMs: number): void {
    if (this.#normalMs === null) return;
    if (latencyMs <= 1.1 * this.#normalMs) this.#normalSeenAtMs = nowMs;
    if (latencyMs < this.#normalMs) this.#normalMs += LEARN_WEIGHT * (latencyMs - this.#normalMs);
  }
}

/** All types take the same step, so that types that share a gateway reach equal limits. */
const stepOf = (fairLimit: number): number => Math.max(1, Math.floor(GROWTH * fairLimit));
const isFair = (limit: number, fairLimit: number): boolean => Math.abs(limit - fairLimit) <= FAIR * fairLimit;
const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
