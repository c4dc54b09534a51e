// Sets the effective limit of every task type once a second, for the whole fleet. Runs on the leader; workers learn the
// limit with their next claim. The rules are in domain/limits: strain-trials.ts and effective-limit.ts (what the
// gateway can take), gateway-ceiling.ts (how the task types share it). This file reads what the fleet counted, applies
// the decision and logs the reason. It never changes a configured limit (operations/limits/concurrency.ts).

import { type CurvePoint, withPoint } from '../../domain/limits/concurrency-curve.ts';
import { EffectiveLimit } from '../../domain/limits/effective-limit.ts';
import { type FleetTick, type Situation, tickBetween } from '../../domain/limits/fleet-tick.ts';
import { divideCeiling, grantWithin, type PerType } from '../../domain/limits/gateway-ceiling.ts';
import { DEFAULT_MAX_CONCURRENCY } from '../../domain/limits/max-concurrency.ts';
import { StrainTrials } from '../../domain/limits/strain-trials.ts';
import { askPerTaskType, perTaskType, TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { type LoopErrorHandler, LoopService } from '../../platform/loop.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { StatsReading } from '../../store/ports/live/poll-stats.ts';
import type { QueueCounts } from '../../store/ports/live/work-queue.ts';
import type { AuditDigest } from '../audit-digest.ts';

const TICK_MS = 1_000;
/** With fewer calls in the tick, no point is added to the curve. */
const POINT_CALLS = 20;

interface ConcurrencyControllerDeps {
  readonly live: Pick<LiveStore, 'work' | 'stats'>;
  readonly fence: () => number | null;
  /** If false, only the ceiling lowers a limit. */
  readonly adaptiveConcurrency: boolean;
  /** Most concurrent calls to the gateway from all task types together; null: no ceiling. */
  readonly ceiling: number | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly digest: Pick<AuditDigest, 'note'>;
  readonly onError: LoopErrorHandler;
}

/** What the leader knows about a task type; forgotten when it loses the lead. */
interface Watched {
  readonly limit: EffectiveLimit;
  curve: readonly CurvePoint[];
  /** Why the limit has its value; null without a reason. */
  reason: string | null;
  totals: StatsReading | null;
  atMs: number;
  /** The limit in force after the last pass; null before the first pass. */
  inForce: number | null;
  /** The state that was saved last, as JSON. */
  saved: string;
}

/** What one pass has read about a task type. */
interface Sight {
  readonly watched: Watched;
  readonly counts: QueueCounts;
  /** Counts since the last pass; null when there is no reading to compare with. */
  readonly tick: FleetTick | null;
  readonly configured: number;
}

type Sights = Readonly<Record<TaskType, Sight>>;

export class ConcurrencyController extends LoopService {
  readonly #watched = new Map<TaskType, Watched>();
  #strain = new StrainTrials();

  constructor(private readonly deps: ConcurrencyControllerDeps) {
    super('concurrency-controller', deps);
  }

  async runOnce(): Promise<number> {
    if (this.deps.fence() === null) {
      this.#watched.clear();
      this.#strain = new StrainTrials();
      return TICK_MS;
    }
    const sights = await askPerTaskType((taskType) => this.#look(taskType));
    if (this.deps.adaptiveConcurrency) this.#judge(sights);
    const wanted = mapTypes(sights, ({ watched, configured }) => watched.limit.under(configured));
    const granted = await this.#apply(sights, wanted);
    for (const taskType of TASK_TYPES) {
      await this.#conclude(taskType, sights[taskType], wanted[taskType], granted[taskType]);
    }
    return TICK_MS;
  }

  /** Reads the fleet's counts since the last pass. */
  async #look(taskType: TaskType): Promise<Sight> {
    const { live, clock } = this.deps;
    const [counts, totals] = await Promise.all([live.work.counts(taskType), live.stats.read(taskType)]);
    const nowMs = clock.monotonic();
    const watched = this.#watched.get(taskType) ?? (await this.#takeOver(taskType, nowMs));
    const tick = watched.totals === null ? null : tickBetween(watched.totals, totals, nowMs - watched.atMs);
    watched.totals = totals;
    watched.atMs = nowMs;
    const sight = { watched, counts, tick, configured: counts.maxConcurrency ?? DEFAULT_MAX_CONCURRENCY };
    if (tick !== null) this.#addPoint(sight, tick);
    return sight;
  }

  /** A new leader continues with what the previous leader saved. */
  async #takeOver(taskType: TaskType, nowMs: number): Promise<Watched> {
    const record = await this.deps.live.work.limitRecord(taskType);
    const known = this.deps.adaptiveConcurrency && record !== null ? record : { limit: null, normalMs: null };
    const watched: Watched = {
      limit: new EffectiveLimit(known, nowMs),
      curve: record?.curve ?? [],
      reason: record?.reason ?? null,
      totals: null,
      atMs: nowMs,
      inForce: null,
      saved: '',
    };
    this.#watched.set(taskType, watched);
    return watched;
  }

  /** Judges the strain for all types together, then each limit on its own. */
  #judge(sights: Sights): void {
    const nowMs = this.deps.clock.monotonic();
    const ticks = TASK_TYPES.flatMap((taskType) => {
      const { tick, counts } = sights[taskType];
      return tick === null ? [] : { taskType, tick, inForce: counts.effectiveConcurrency };
    });
    for (const verdict of this.#strain.observe(ticks, nowMs)) {
      const { watched } = sights[verdict.taskType];
      watched.limit.obey(verdict, nowMs);
      watched.reason = verdict.reason;
    }
    if (this.#strain.isTrying) return;
    const usedUp = ticks.filter(({ tick }) => tick.limitReached);
    const fairLimit = usedUp.reduce((sum, { inForce }) => sum + inForce, 0) / usedUp.length;
    const situations = perTaskType(
      (taskType): Situation => ({
        configured: sights[taskType].configured,
        inForce: sights[taskType].counts.effectiveConcurrency,
        nowMs,
        fairLimit: usedUp.length === 0 ? sights[taskType].counts.effectiveConcurrency : fairLimit,
        strained: this.#strain.isStrained(taskType, nowMs),
      }),
    );
    for (const { taskType, tick } of ticks) {
      const { watched } = sights[taskType];
      watched.reason = watched.limit.observe(tick, situations[taskType]) ?? watched.reason;
    }
    if (!ticks.some(({ taskType }) => sights[taskType].watched.limit.wantsTrial)) return;
    for (const { taskType } of ticks) {
      const { watched } = sights[taskType];
      watched.reason = watched.limit.joinTrial(situations[taskType]) ?? watched.reason;
    }
  }

  /** Adds a point to the curve if the limit was reached and did not change. */
  #addPoint({ watched, counts }: Sight, tick: FleetTick): void {
    const { effectiveConcurrency: concurrency } = counts;
    const calls = tick.succeeded + tick.failed;
    if (!tick.limitReached || calls < POINT_CALLS || tick.succeeded === 0) return;
    if (concurrency !== watched.inForce) return;
    watched.curve = withPoint(watched.curve, {
      concurrency,
      ratePerSecond: tick.succeeded / tick.seconds,
      avgDurationMs: tick.succeededMs / tick.succeeded,
      backpressurePercent: (100 * tick.backpressure) / calls,
      atMs: this.deps.clock.now(),
    });
  }

  /** Sets the limits. @returns the limits in force now. */
  async #apply(sights: Sights, wanted: PerType): Promise<PerType> {
    const { ceiling } = this.deps;
    if (ceiling === null) {
      for (const taskType of TASK_TYPES) await this.#set(taskType, sights[taskType], wanted[taskType]);
      return wanted;
    }
    const known = TASK_TYPES.every((taskType) => sights[taskType].watched.inForce !== null);
    const inForce = mapTypes(sights, ({ counts }) => counts.effectiveConcurrency);
    const needs = mapTypes(sights, ({ counts }, taskType) =>
      Math.min(wanted[taskType], counts.inFlight + counts.due + counts.manualLength),
    );
    const shares = divideCeiling(ceiling, needs, known ? inForce : null);
    const targets = mapTypes(sights, (_, taskType) => Math.min(wanted[taskType], shares[taskType]));
    // Lower limits first and count calls in flight after that: above a lowered limit their number can only fall.
    const lowered = mapTypes(sights, (_, taskType) => Math.min(inForce[taskType], targets[taskType]));
    for (const taskType of TASK_TYPES) await this.#set(taskType, sights[taskType], lowered[taskType]);
    const { work } = this.deps.live;
    const inFlight = await askPerTaskType(async (taskType) => (await work.counts(taskType)).inFlight);
    const granted = grantWithin(ceiling, targets, lowered, inFlight);
    for (const taskType of TASK_TYPES) {
      if (granted[taskType] > lowered[taskType])
        await work.setEffectiveConcurrency(taskType, granted[taskType]);
    }
    return granted;
  }

  /** Under a ceiling, sets the limit even if it equals the configured one: an operator may raise that one. */
  async #set(taskType: TaskType, { watched, counts, configured }: Sight, limit: number): Promise<void> {
    if (watched.inForce !== null && limit === counts.effectiveConcurrency) return;
    const asConfigured = limit >= configured && this.deps.ceiling === null;
    await this.deps.live.work.setEffectiveConcurrency(taskType, asConfigured ? null : limit);
  }

  /** Logs a change, and saves the state for the next leader and for reports. */
  async #conclude(taskType: TaskType, sight: Sight, wanted: number, to: number): Promise<void> {
    const { watched, counts, configured } = sight;
    const { ceiling, live } = this.deps;
    const held = `the ceiling of ${ceiling} calls for the gateway, shared by need`;
    const from = counts.effectiveConcurrency;
    const reason = to < wanted ? held : watched.reason;
    if (from !== to) this.#report(taskType, from, to, reason ?? held);
    watched.inForce = to;
    const record = {
      ...watched.limit.memory,
      reason: to < configured ? reason : null,
      curve: watched.curve,
    };
    const text = JSON.stringify(record);
    if (text === watched.saved) return;
    await live.work.saveLimitRecord(taskType, record);
    watched.saved = text;
  }

  #report(taskType: TaskType, from: number, to: number, reason: string): void {
    const { log, digest } = this.deps;
    log.info({ task_type: taskType, from, to, reason }, 'effective limit');
    digest.note({
      action: 'limit.adapt',
      object: `task_type ${taskType}`,
      before: { effectiveConcurrency: from },
      after: { effectiveConcurrency: to, reason },
    });
  }
}

/** Reads one value of every task type. */
function mapTypes<T>(sights: Sights, read: (sight: Sight, taskType: TaskType) => T): Record<TaskType, T> {
  return perTaskType((taskType) => read(sights[taskType], taskType));
}
