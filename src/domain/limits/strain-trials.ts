// Finds out whether the gateway is strained by our load. Used by the leader (engine/limits/concurrency-controller.ts), which
// passes it the counts of every task type once a second. Pure: time is passed in. Why the rules are these:
// docs/decisions/0028-flow-control.md.
//
// STRAIN is the share of the calls that are refused (429, 503). That alone says little: a gateway may refuse some cards,
// or one call in fifty, at any load. So a type that is certainly strained begins a TRIAL. All types with refused calls
// take part, because one gateway serves them: their load is cut to equal limits, and when the calls in flight have ended,
// the strain is compared.
//   It fell with the load: the lower limits stay. If the gateway is still strained, the next trial begins.
//   It did not fall: load is not the reason. The limits are restored, and that share is tolerated for five minutes.
//   It grew although the load fell: the gateway has changed meanwhile. The trial is repeated from there.
// Types that are not strained keep their limits.

import { BLOCK } from '../schedule/phase.ts';
import { lowerBoundOfShare } from '../stats/share.ts';
import type { TaskType } from '../task-type.ts';
import { type FleetTick, pooled } from './fleet-tick.ts';

/** The counts of one task type in one second. */
interface TypeTick {
  readonly taskType: TaskType;
  readonly tick: FleetTick;
  /** The limit that was in force. */
  readonly inForce: number;
}

/** A decision about the limit of a type. */
export interface LimitVerdict {
  readonly taskType: TaskType;
  /**
   * trial: a lower limit, until the next verdict. strained: the present limit stays, because `load` strained the gateway.
   * restored: as before the trial.
   */
  readonly kind: 'trial' | 'strained' | 'restored';
  /** The limit of a trial. */
  readonly limit: number;
  /** Calls in flight that strained the gateway. */
  readonly load: number;
  readonly reason: string;
}

interface View {
  readonly calls: number;
  /** 0 to 1. */
  readonly strain: number;
  /** Calls in flight. */
  readonly load: number;
  /** How long calls that are in flight when a limit changes take to be counted. */
  readonly settleMs: number;
}

interface Trial {
  readonly members: ReadonlyMap<TaskType, View>;
  readonly before: View;
  /** Share of the load that was kept. */
  readonly factor: number;
  readonly settledAtMs: number;
}

const STRAIN = 0.03;
/** Strain beyond this margin over the tolerated share is a new problem. */
const TOLERANCE = { times: 1.25, plus: 0.02 };
const TOLERATED_MS = 300_000;
const ENOUGH_CALLS = 20;
/** Longer than a second, since some gateways alternate between good and bad seconds. */
const WINDOW_SECONDS = 2;
const LONGEST_WINDOW_SECONDS = 60;
/** A trial is judged when this many accepted and refused calls can be expected, or after LONGEST_TRIAL_SECONDS. */
const EXPECTED_CALLS = 40;
const LONGEST_TRIAL_SECONDS = 10;
/** Load is the reason when strain falls to this share of its certain value before. */
const FELL = 0.5;
/** If strain grows by this factor at a lower load, the gateway has changed. */
const GREW = 1.2;
/** Calls come in bursts: below the limit, the peak of calls in flight exceeds the average by this factor. */
const PEAKS = 1.25;
const CUT = 0.7;
const DEEPEST_CUT = 0.1;
/** Counts arrive half a second late; after this time every counted call began after the change. */
const SETTLE_MS = 1_000;
const LONGEST_SETTLE_MS = 10_000;

export class StrainTrials {
  readonly #pools = new Map<TaskType, FleetTick>();
  /** The view of each type's latest window with successful calls. */
  readonly #views = new Map<TaskType, View>();
  readonly #tolerated = new Map<TaskType, { readonly strain: number; readonly untilMs: number }>();
  #trial: Trial | null = null;

  /** True while a trial runs: nothing else may change a limit. */
  get isTrying(): boolean {
    return this.#trial !== null;
  }

  /** Whether there was recently more strain than is tolerated: too little for a trial, but the limit must not grow. */
  isStrained(taskType: TaskType, nowMs: number): boolean {
    const { succeeded = 0, failed = 0, backpressure = 0 } = this.#pools.get(taskType) ?? {};
    const present = succeeded + failed < ENOUGH_CALLS ? 0 : backpressure / (succeeded + failed);
    const latest = this.#views.get(taskType)?.strain ?? 0;
    return Math.max(present, latest) > this.#bearable(taskType, nowMs);
  }

  /** Processes the counts of one second. */
  observe(ticks: readonly TypeTick[], nowMs: number): LimitVerdict[] {
    return this.#trial === null ? this.#watch(ticks, nowMs) : this.#judge(this.#trial, ticks, nowMs);
  }

  #watch(ticks: readonly TypeTick[], nowMs: number): LimitVerdict[] {
    const isTrouble = ticks.map((one) => this.#isTrouble(one, nowMs)).includes(true);
    const strained = ticks.filter(({ taskType }) => (this.#views.get(taskType)?.strain ?? 0) > STRAIN);
    return isTrouble ? this.#begin(strained, nowMs) : [];
  }

  /** The first window with strain shows only a part of it, so a trial is compared with the next one. */
  #isTrouble(one: TypeTick, nowMs: number): boolean {
    const before = this.#views.get(one.taskType);
    const view = this.#look(one);
    if (before === undefined || view === null) return false;
    return Math.min(certain(before), certain(view)) > this.#bearable(one.taskType, nowMs);
  }

  /** @returns the view of a complete window; null until the window is complete. */
  #look({ taskType, tick, inForce }: TypeTick): View | null {
    const seen = pooled(this.#pools.get(taskType) ?? null, tick);
    const isComplete = seen.succeeded + seen.failed >= ENOUGH_CALLS && seen.seconds >= WINDOW_SECONDS;
    if (!isComplete && seen.seconds < LONGEST_WINDOW_SECONDS) {
      this.#pools.set(taskType, seen);
      return null;
    }
    this.#pools.delete(taskType);
    // While nothing succeeds only a trickle passes (gateway/throttle.ts), and the load says nothing.
    if (!isComplete || seen.succeeded === 0) {
      this.#views.delete(taskType);
      return null;
    }
    const view = viewOf(seen, inForce);
    this.#views.set(taskType, view);
    return view;
  }

  #begin(strained: readonly TypeTick[], nowMs: number): LimitVerdict[] {
    const members = new Map(strained.map(({ taskType }) => [taskType, this.#views.get(taskType) as View]));
    const before = together([...members.values()]);
    // If load is the reason, the accepted calls are about the gateway's capacity.
    const wanted = Math.max(DEEPEST_CUT, Math.min(CUT, 1.1 * (1 - before.strain)));
    const limit = Math.max(1, Math.floor((wanted * before.load) / members.size));
    const factor = (limit * members.size) / before.load;
    // There is no lower limit, or no lower load, to compare with.
    if (factor >= 1 || strained.every(({ inForce }) => limit >= inForce)) return [];
    this.#trial = { members, before, factor, settledAtMs: nowMs + SETTLE_MS + before.settleMs };
    this.#pools.clear();
    const reason = `trial: ${percent(before.strain)} of ${before.calls} calls were refused; is load the reason?`;
    return strained.map(({ taskType, inForce }) => {
      const { load } = members.get(taskType) as View;
      return { taskType, kind: 'trial', limit: Math.min(limit, inForce), load, reason };
    });
  }

  #judge(trial: Trial, ticks: readonly TypeTick[], nowMs: number): LimitVerdict[] {
    if (nowMs < trial.settledAtMs) return [];
    const members = ticks.filter(({ taskType }) => trial.members.has(taskType));
    const seen = members.map(({ taskType, tick, inForce }) => {
      const pool = pooled(this.#pools.get(taskType) ?? null, tick);
      this.#pools.set(taskType, pool);
      return { taskType, pool, inForce };
    });
    const calls = seen.reduce((sum, { pool }) => sum + pool.succeeded + pool.failed, 0);
    const { strain } = trial.before;
    const isEnough = calls * Math.min(strain, 1 - strain) >= EXPECTED_CALLS;
    const seconds = Math.max(0, ...seen.map(({ pool }) => pool.seconds));
    if (seconds < (isEnough ? WINDOW_SECONDS : LONGEST_TRIAL_SECONDS)) return [];
    this.#pools.clear();
    this.#trial = null;
    // A type whose counters were lost meanwhile cannot be compared.
    const isWhole = members.length === trial.members.size;
    if (!isWhole || seen.every(({ pool }) => pool.succeeded === 0)) return this.#giveUp(trial);
    for (const { taskType, pool, inForce } of seen) this.#views.set(taskType, viewOf(pool, inForce));
    const after = together(members.map(({ taskType }) => this.#views.get(taskType) as View));
    const grew = after.strain > GREW * strain && certain(after) > strain;
    const again = grew ? this.#begin(members, nowMs) : [];
    return again.length > 0 ? again : this.#conclude(trial, after, nowMs);
  }

  #giveUp({ members }: Trial): LimitVerdict[] {
    const reason = 'no call succeeds, which says nothing about load: restored';
    return [...members].map(([taskType, { load }]) => {
      this.#views.delete(taskType);
      return { taskType, kind: 'restored', limit: 0, load, reason };
    });
  }

  #conclude({ members, before, factor }: Trial, after: View, nowMs: number): LimitVerdict[] {
    // If load is the reason, the same number of calls is accepted out of fewer: half of that change is proof enough.
    const isAccepting = 1 - after.strain >= (1 - before.strain) / Math.sqrt(factor);
    const isLoad = isAccepting || after.strain <= FELL * certain(before);
    const inFlight = ({ load }: View) => Math.max(1, Math.round(load));
    const reason = isLoad
      ? `${percent(before.strain)} of the calls were refused with ${inFlight(before)} in flight, ${percent(after.strain)} with ${inFlight(after)}`
      : `${percent(after.strain)} of the calls are refused whatever the load: restored`;
    return [...members].map(([taskType, { load, strain }]) => {
      const tolerated = Math.max(strain, before.strain, after.strain);
      if (!isLoad) this.#tolerated.set(taskType, { strain: tolerated, untilMs: nowMs + TOLERATED_MS });
      return { taskType, kind: isLoad ? 'strained' : 'restored', limit: 0, load, reason };
    });
  }

  /** The highest strain that does not start a trial. */
  #bearable(taskType: TaskType, nowMs: number): number {
    const tolerated = this.#tolerated.get(taskType);
    if (tolerated === undefined || nowMs >= tolerated.untilMs) return STRAIN;
    const { times, plus } = TOLERANCE;
    return Math.max(STRAIN, Math.min(times * tolerated.strain + plus, 1 - (1 - tolerated.strain) / times));
  }
}

/** The lowest true strain that explains a view. Cards of one block are polled, and may be refused, together. */
function certain({ strain, calls }: View): number {
  return lowerBoundOfShare(strain, calls / BLOCK);
}

function viewOf(seen: FleetTick, inForce: number): View {
  const { succeeded, failed, durationMs, succeededMs } = seen;
  const calls = succeeded + failed;
  const failedMs = failed === 0 ? 0 : (durationMs - succeededMs) / failed;
  return {
    calls,
    strain: calls === 0 ? 0 : seen.backpressure / calls,
    load: Math.min(inForce, ((seen.limitReached ? 1 : PEAKS) * durationMs) / seen.seconds / 1_000),
    settleMs: Math.min(LONGEST_SETTLE_MS, Math.max(failedMs, succeeded === 0 ? 0 : succeededMs / succeeded)),
  };
}

function together(views: readonly View[]): View {
  const sum = (read: (view: View) => number) => views.reduce((total, view) => total + read(view), 0);
  const calls = sum((view) => view.calls);
  return {
    calls,
    strain: calls === 0 ? 0 : sum((view) => view.strain * view.calls) / calls,
    load: sum((view) => view.load),
    settleMs: Math.max(0, ...views.map((view) => view.settleMs)),
  };
}

function percent(share: number): string {
  const value = 100 * share;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} %`;
}
