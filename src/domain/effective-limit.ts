// The effective limit of one task type: how much of the configured concurrency the gateway can take just now, judged
// from what the whole fleet saw. Used by the leader (engine/concurrency-controller.ts), which feeds it one tick a
// second. Pure: time is passed in, nothing is read or written here. Why the rules are these:
// docs/decisions/0013-effective-limit.md.
//
// In short, per decision (one tick, or several until enough calls were seen):
//   429 or 503 > 1 %          cut to 70 %, from 10 % on to a half
//   timeouts > 5 %            cut to 70 %; where three cuts do not help, load is not the reason: restored, tolerated
//   latency > 1.8 x normal    a trial: cut to 70 %, look again
//   latency <= 1.4 x normal   grow by 10 % (20 % up to 1.15), if the limit was reached and nothing else was wrong
// Between 1.4 and 1.8 times the limit stays. It never falls below a floor of 5 % of the configured one.
//
// NORMAL is the latency that does not depend on our load, and only a TRIAL can tell it: cut the load to 70 %. Latency
// falls with it by a fifth or more: load is the reason, the cut stays, and where normal is not known yet it is cut
// again. It does not fall, or the rate falls with it: the gateway is as slow as that by itself, this is normal, and the limit is what it was.
import { type FleetTick, pooled, type Situation } from './fleet-tick.ts';

/** What is worth keeping when another instance takes the lead. */
export interface LimitMemory {
  /** null: not reduced, the configured limit counts. */
  readonly limit: number | null;
  /** Latency of a gateway that is not overloaded; null while nobody knows it. */
  readonly normalMs: number | null;
}

interface Trial {
  readonly symptom: 'latency' | 'timeouts';
  readonly limitBefore: number | null;
  /** Latency in ms, or timeouts in percent. */
  readonly before: number;
  /** Polls a second that succeeded before the first cut. */
  readonly rate: number;
  readonly cuts: number;
}

const BACKPRESSURE_PERCENT = 1;
const TIMEOUT_PERCENT = 5;
/** So many calls make a share of them mean something. */
const ENOUGH_CALLS = 20;
const POOL_SECONDS = 60;
const GROW_BAND = 1.4;
const SLOW_BAND = 1.8;
const GROWTH = 0.1;
/** A gateway this close to normal is far from its capacity: the step ends within the band. */
const IDLE_BAND = 1.15;
const IDLE_GROWTH = 0.2;
/** A second, less what a tick may come early. */
const GROW_EVERY_MS = 900;
const CUT = 0.7;
const DEEP_CUT = 0.5;
const MANY_PERCENT = 10;
const FLOOR_SHARE = 0.05;
/** A trial's cut to 70 % makes an overloaded gateway faster by 30 %, an idle one not at all. */
const FELL = 0.8;
/** ... and an overloaded one does as much as before. A cut that costs more of the rate is not kept. */
const KEPT = 0.9;
/** Normal follows a faster gateway in steps: the luckiest second is not what is normal. */
const LEARN_WEIGHT = 0.2;
/** A slow decision may be chance; this many in a row are not. */
const SLOW_DECISIONS = 2;
const TIMEOUT_CUTS = 3;
/** Trials within this time follow each other; cut to this share in vain, load was not the reason after all. */
const SERIES_MS = 60_000;
const IN_VAIN = 0.6;
/** Above it the gateway is down, and that is no reason to go on as before. */
const MOST_TOLERATED_PERCENT = 50;
/** What a trial found holds for so long, unless it is seen again. */
const BELIEVED_MS = 300_000;
/** Normal is in doubt when the gateway refuses calls it answers at normal speed; but not again before this. */
const DOUBT_AFTER_MS = 60_000;
/** For so long the limit stays 10 % below the one the gateway refused. */
const WARY_MS = 20_000;
const WARY_SHARE = 0.9;
/** Counts arrive half a second late; with this every call counted began after the change. */
const SETTLE_MS = 1_000;
const FRESH_MS = 3_000;

export class EffectiveLimit {
  #limit: number | null;
  #normalMs: number | null;
  /** When normal was last seen, and last found by a trial. */
  #seenAtMs: number;
  #foundAtMs: number;
  #pool: FleetTick | null = null;
  #settledAtMs = Number.NEGATIVE_INFINITY;
  #slowDecisions = 0;
  #trial: Trial | null = null;
  #refused: { readonly limit: number; readonly atMs: number } | null = null;
  #tolerated: { readonly percent: number; readonly untilMs: number } | null = null;
  /** The last latency seen at the limit: what a trial compares with. */
  #atLimit: { readonly latencyMs: number; readonly rate: number; readonly atMs: number } | null = null;
  #wantsTrial = false;
  /** The first of the trials that followed each other. */
  #first: { readonly trial: Trial; readonly inForce: number; readonly atMs: number } | null = null;

  constructor(memory: LimitMemory, nowMs: number) {
    this.#limit = memory.limit;
    this.#normalMs = memory.normalMs;
    this.#seenAtMs = nowMs;
    this.#foundAtMs = nowMs;
  }

  get memory(): LimitMemory {
    return { limit: this.#limit, normalMs: this.#normalMs };
  }

  /** The limit, at most the configured one. */
  under(configured: number): number {
    return Math.min(configured, this.#limit ?? configured);
  }

  /** When it was last cut for refused calls; -Infinity: never. */
  get refusedAtMs(): number {
    return this.#refused?.atMs ?? Number.NEGATIVE_INFINITY;
  }

  /** A trial should begin. It tells more when all task types join in, because the gateway serves them together. */
  get wantsTrial(): boolean {
    return this.#wantsTrial;
  }

  /** Takes one tick in. @returns why the limit changed, null when it did not. */
  observe(tick: FleetTick, situation: Situation): string | null {
    const { configured, inForce, nowMs } = situation;
    this.#wantsTrial = false;
    if (this.#limit !== null && this.#limit >= configured) this.#limit = null;
    if (nowMs < this.#settledAtMs) {
      this.#pool = null;
      return null;
    }
    const seen = pooled(this.#pool, tick);
    const calls = seen.succeeded + seen.failed;
    const troubled = seen.backpressure + seen.timeouts > 0;
    if (calls === 0 || calls < (troubled ? ENOUGH_CALLS : Math.min(ENOUGH_CALLS, inForce))) {
      this.#pool = seen.seconds < POOL_SECONDS ? seen : null;
      return null;
    }
    this.#pool = null;
    return this.#decide(seen, situation);
  }

  /** Begins a trial where this type works at its limit; see `wantsTrial`. @returns why the limit changed. */
  joinTrial(situation: Situation): string | null {
    const { nowMs } = situation;
    const seen = this.#atLimit;
    if (this.#trial !== null || nowMs < this.#settledAtMs) return null;
    if (seen === null || nowMs - seen.atMs > FRESH_MS) return null;
    const { latencyMs, rate } = seen;
    const reason =
      this.#normalMs === null
        ? `trial: is ${ms(latencyMs)} normal, or load?`
        : `trial: ${ms(latencyMs)} a call, normal were ${ms(this.#normalMs)}`;
    if (this.#inVain(latencyMs, situation)) return `${ms(latencyMs)} a call whatever the load: restored`;
    const limitBefore = this.#limit;
    if (!this.#cut(CUT, latencyMs, situation)) {
      this.#believe(latencyMs, nowMs);
      return null;
    }
    this.#trial = { symptom: 'latency', limitBefore, before: latencyMs, rate, cuts: 1 };
    this.#first ??= { trial: this.#trial, inForce: situation.inForce, atMs: nowMs };
    return reason;
  }

  /** Trials blamed load again and again, and with half of it calls are as slow as ever: they were wrong. Restores. */
  #inVain(latencyMs: number, { inForce, nowMs }: Situation): boolean {
    const first = this.#first;
    if (first === null) return false;
    const over = nowMs - first.atMs > SERIES_MS || inForce >= WARY_SHARE * first.inForce;
    if (over) this.#first = null;
    if (over || inForce > IN_VAIN * first.inForce || latencyMs < FELL * first.trial.before) return false;
    this.#first = null;
    this.#believe(latencyMs, nowMs);
    this.#restore(first.trial, latencyMs, nowMs);
    return true;
  }

  #decide(seen: FleetTick, situation: Situation): string | null {
    const { nowMs } = situation;
    const calls = seen.succeeded + seen.failed;
    const latencyMs = seen.succeeded === 0 ? null : seen.succeededMs / seen.succeeded;
    const refusedPercent = (100 * seen.backpressure) / calls;
    if (refusedPercent > BACKPRESSURE_PERCENT)
      return this.#giveWay(refusedPercent, calls, latencyMs, situation);
    const timeoutPercent = (100 * seen.timeouts) / calls;
    if (timeoutPercent > this.#bearable(nowMs)) return this.#relieve(timeoutPercent, calls, situation);
    if (this.#trial?.symptom === 'timeouts') this.#trial = null;
    if (latencyMs === null) return null;
    const rate = seen.succeeded / seen.seconds;
    if (this.#trial !== null) return this.#judge(this.#trial, latencyMs, rate, situation);
    this.#learn(latencyMs, nowMs);
    this.#atLimit = seen.limitReached ? { latencyMs, rate, atMs: nowMs } : null;
    if (!seen.limitReached) return null;
    if (this.#normalMs === null || nowMs - this.#seenAtMs > BELIEVED_MS) {
      this.#normalMs = null;
      this.#wantsTrial = true;
      return null;
    }
    this.#slowDecisions = latencyMs > SLOW_BAND * this.#normalMs ? this.#slowDecisions + 1 : 0;
    if (this.#slowDecisions >= SLOW_DECISIONS) this.#wantsTrial = true;
    const sound = seen.backpressure === 0 && timeoutPercent <= this.#bearable(nowMs) / 2;
    return sound && latencyMs <= GROW_BAND * this.#normalMs ? this.#grow(latencyMs, situation) : null;
  }

  /** The gateway refuses calls. */
  #giveWay(percent: number, calls: number, latencyMs: number | null, situation: Situation): string | null {
    const { inForce, nowMs } = situation;
    const asUsual = latencyMs !== null && this.#normalMs !== null && latencyMs <= GROW_BAND * this.#normalMs;
    if (asUsual && nowMs - this.#foundAtMs > DOUBT_AFTER_MS) this.#normalMs = null;
    this.#trial = null;
    const factor = percent < MANY_PERCENT ? CUT : DEEP_CUT;
    if (!this.#cut(factor, latencyMs ?? 0, situation)) return null;
    this.#refused = { limit: inForce, atMs: nowMs };
    return `${share(percent)} of ${calls} calls were refused (429 or 503)`;
  }

  /** Calls time out. Three cuts in a row that change nothing: it is not the load, and a low limit would only do harm. */
  #relieve(percent: number, calls: number, situation: Situation): string | null {
    const { nowMs } = situation;
    const running = this.#trial?.symptom === 'timeouts' ? this.#trial : null;
    const begun: Trial = { symptom: 'timeouts', limitBefore: this.#limit, before: percent, rate: 0, cuts: 0 };
    let trial = running ?? begun;
    if (trial.cuts >= TIMEOUT_CUTS) {
      if (percent >= FELL * trial.before && percent < MOST_TOLERATED_PERCENT) {
        this.#tolerated = { percent, untilMs: nowMs + BELIEVED_MS };
        this.#restore(trial, 0, nowMs);
        return `${share(percent)} of ${calls} calls time out whatever the load: restored`;
      }
      trial = begun;
    }
    const changed = this.#cut(CUT, 0, situation);
    this.#trial = { ...trial, cuts: trial.cuts + 1 };
    return changed ? `${share(percent)} of ${calls} calls timed out` : null;
  }

  /** The cut of a trial has settled: was load the reason? */
  #judge(trial: Trial, latencyMs: number, rate: number, { nowMs }: Situation): string | null {
    this.#trial = null;
    if (latencyMs >= FELL * trial.before || rate < KEPT * trial.rate) {
      this.#believe(latencyMs, nowMs);
      this.#restore(trial, latencyMs, nowMs);
      return `less load gains nothing, ${ms(latencyMs)} a call is normal: restored`;
    }
    this.#atLimit = { latencyMs, rate: trial.rate, atMs: nowMs };
    this.#wantsTrial = this.#normalMs === null || latencyMs > GROW_BAND * this.#normalMs;
    return null;
  }

  #grow(latencyMs: number, { configured, inForce, nowMs, othersRefusedAtMs }: Situation): string | null {
    // With a lower limit in force than this one, reaching it says nothing about this one.
    if (this.#limit === null || inForce < this.#limit) return null;
    if (nowMs - othersRefusedAtMs < FRESH_MS) return null;
    const idle = this.#normalMs !== null && latencyMs <= IDLE_BAND * this.#normalMs;
    let to = this.#limit + Math.max(1, Math.floor((idle ? IDLE_GROWTH : GROWTH) * this.#limit));
    if (this.#refused !== null && nowMs - this.#refused.atMs < WARY_MS) {
      to = Math.min(to, Math.floor(WARY_SHARE * this.#refused.limit));
    }
    if (to <= this.#limit) return null;
    this.#limit = to >= configured ? null : to;
    this.#settledAtMs = nowMs + Math.max(GROW_EVERY_MS, latencyMs + GROW_EVERY_MS / 2);
    return `the limit was reached and a call takes ${ms(latencyMs)}: growing`;
  }

  /** @returns false at the floor. */
  #cut(factor: number, latencyMs: number, { configured, inForce, nowMs }: Situation): boolean {
    const floor = Math.max(1, Math.ceil(FLOOR_SHARE * configured));
    const to = Math.max(floor, Math.floor(factor * inForce));
    this.#slowDecisions = 0;
    this.#settledAtMs = nowMs + SETTLE_MS + latencyMs;
    if (to >= inForce) return false;
    this.#limit = to;
    return true;
  }

  #restore(trial: Trial, latencyMs: number, nowMs: number): void {
    this.#trial = null;
    this.#limit = trial.limitBefore;
    this.#settledAtMs = nowMs + SETTLE_MS + latencyMs;
  }

  #believe(latencyMs: number, nowMs: number): void {
    this.#normalMs = latencyMs;
    this.#seenAtMs = nowMs;
    this.#foundAtMs = nowMs;
  }

  #learn(latencyMs: number, nowMs: number): void {
    if (this.#normalMs === null) return;
    if (latencyMs <= 1.1 * this.#normalMs) this.#seenAtMs = nowMs;
    if (latencyMs < this.#normalMs) this.#normalMs += LEARN_WEIGHT * (latencyMs - this.#normalMs);
  }

  /** Timeouts in percent that are no reason to cut. */
  #bearable(nowMs: number): number {
    if (this.#tolerated === null || nowMs >= this.#tolerated.untilMs) return TIMEOUT_PERCENT;
    return Math.max(TIMEOUT_PERCENT, GROW_BAND * this.#tolerated.percent);
  }
}

const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
const share = (percent: number): string => `${percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
