// Finds out whether the gateway is strained by our load. Used by fleet-limits.ts, which passes it the counts of every task
// type once a second. Pure: time is passed in. Why the rules are these: docs/decisions/0028-flow-control.md.
//
// STRAIN is the share of the calls that are refused (429, 503). That alone says little: a gateway may refuse some cards,
// or one call in fifty, at any load. So a type that is certainly strained begins a TRIAL. All types with refused calls
// take part, because one gateway serves them: their load is cut to equal limits, and when the calls in flight have ended,
// the strain is compared.
//   It fell with the load: the lower limits stay. If the gateway is still strained, the next trial begins.
//   It did not fall: load is not the reason. The limits are restored, and that share is tolerated for five minutes.
//   It grew although the load fell: the gateway has changed meanwhile. The trial is repeated from there.
// Types that are not strained keep their limits.

import { lowerBoundOfShare } from '../numbers.ts';
import { BLOCK } from '../schedule/phase.ts';
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
  #look(one: TypeTick): View | null {
    const { taskType } = one;
    const seen = this.#gather(one);
    const { succeeded, failed, seconds } = seen.tick;
    const isComplete = succeeded + failed >= ENOUGH_CALLS && seconds >= WINDOW_SECONDS;
    if (!isComplete && seconds < LONGEST_WINDOW_SECONDS) return null;
    this.#pools.delete(taskType);
    // While nothing succeeds only a trickle passes (gateway/flow/throttle.ts), and the load says nothing.
    const view = isComplete && succeeded > 0 ? viewOf(seen) : null;
    if (view === null) this.#views.delete(taskType);
    else this.#views.set(taskType, view);
    return view;
  }

  /** @returns the counts of the present window, this tick included. */
  #gather({ taskType, tick, inForce }: TypeTick): TypeTick {
    const pool = pooled(this.#pools.get(taskType) ?? null, tick);
    this.#pools.set(taskType, pool);
    return { taskType, tick: pool, inForce };
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
    const reason = `testing whether fewer calls help: the gateway refuses ${percent(before.strain)} of ${before.calls}`;
    return strained.map(({ taskType, inForce }) => {
      const { load } = members.get(taskType) as View;
      return { taskType, kind: 'trial', limit: Math.min(limit, inForce), load, reason };
    });
  }

  #judge(trial: Trial, ticks: readonly TypeTick[], nowMs: number): LimitVerdict[] {
    if (nowMs < trial.settledAtMs) return [];
    const members = ticks.filter(({ taskType }) => trial.members.has(taskType));
    const seen = members.map((one) => this.#gather(one));
    const views = new Map(seen.map((one) => [one.taskType, viewOf(one)]));
    const after = together([...views.values()]);
    const { strain } = trial.before;
    const isEnough = after.calls * Math.min(strain, 1 - strain) >= EXPECTED_CALLS;
    const seconds = Math.max(0, ...seen.map(({ tick }) => tick.seconds));
    if (seconds < (isEnough ? WINDOW_SECONDS : LONGEST_TRIAL_SECONDS)) return [];
    this.#pools.clear();
    this.#trial = null;
    // A type whose counters were lost meanwhile cannot be compared.
    const isWhole = seen.length === trial.members.size;
    if (!isWhole || seen.every(({ tick }) => tick.succeeded === 0)) {
      for (const taskType of trial.members.keys()) this.#views.delete(taskType);
      return verdictsOf(trial, 'restored', 'no call succeeds, so load cannot be judged: limit restored');
    }
    for (const [taskType, view] of views) this.#views.set(taskType, view);
    const grew = after.strain > GREW * strain && certain(after) > strain;
    const again = grew ? this.#begin(members, nowMs) : [];
    return again.length > 0 ? again : this.#conclude(trial, after, nowMs);
  }

  #conclude(trial: Trial, after: View, nowMs: number): LimitVerdict[] {
    const { members, before, factor } = trial;
    // If load is the reason, the same number of calls is accepted out of fewer: half of that change is proof enough.
    const isAccepting = 1 - after.strain >= (1 - before.strain) / Math.sqrt(factor);
    if (isAccepting || after.strain <= FELL * certain(before)) {
      const at = ({ strain, load }: View) => [percent(strain), Math.max(1, Math.round(load))];
      const [was, is] = [at(before), at(after)];
      const reason = `${was[0]} of the calls were refused with ${was[1]} in flight, ${is[0]} with ${is[1]}`;
      return verdictsOf(trial, 'strained', reason);
    }
    for (const [taskType, view] of members) {
      const strain = Math.max(view.strain, before.strain, after.strain);
      this.#tolerated.set(taskType, { strain, untilMs: nowMs + TOLERATED_MS });
    }
    const reason = `fewer calls did not help, ${percent(after.strain)} are refused: limit restored`;
    return verdictsOf(trial, 'restored', reason);
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
const certain = ({ strain, calls }: View): number => lowerBoundOfShare(strain, calls / BLOCK);

function verdictsOf({ members }: Trial, kind: LimitVerdict['kind'], reason: string): LimitVerdict[] {
  return [...members].map(([taskType, { load }]) => ({ taskType, kind, limit: 0, load, reason }));
}

function viewOf({ tick, inForce }: TypeTick): View {
  const { succeeded, failed, durationMs, succeededMs } = tick;
  const calls = succeeded + failed;
  const failedMs = failed === 0 ? 0 : (durationMs - succeededMs) / failed;
  return {
    calls,
    strain: calls === 0 ? 0 : tick.backpressure / calls,
    load: Math.min(inForce, ((tick.limitReached ? 1 : PEAKS) * durationMs) / tick.seconds / 1_000),
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

const percent = (share: number): string =>
  `${share < 0.1 ? (100 * share).toFixed(1) : Math.round(100 * share)} %`;
