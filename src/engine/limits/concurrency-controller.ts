// Sets the effective limit of every task type once a second, for the whole fleet. Runs on the leader; workers learn the
// limit with their next claim. The rules are in domain/limits/fleet-limits.ts: what the gateway can take, and
// how the task types share it. This file reads what the fleet counted, applies the decision and logs the
// reason. It never changes a configured limit (operations/limits/concurrency.ts).

import { type CurvePoint, withPoint } from '../../domain/limits/concurrency-curve.ts';
import { EffectiveLimit } from '../../domain/limits/effective-limit.ts';
import { divideCeiling, grantWithin, judgeLimits, type PerType } from '../../domain/limits/fleet-limits.ts';
import { type FleetTick, tickBetween } from '../../domain/limits/fleet-tick.ts';
import { DEFAULT_MAX_CONCURRENCY } from '../../domain/limits/operator-limits.ts';
import { ResumeRamp } from '../../domain/limits/resume-ramp.ts';
import { StrainTrials } from '../../domain/limits/strain-trials.ts';
import { isOwnSideWell, isOwnSideWellNow } from '../../domain/stats/own-side.ts';
import { presentMetricsOf } from '../../domain/stats/task-metrics.ts';
import { learned, storedUsual, type UsualLatency } from '../../domain/stats/usual-latency.ts';
import { askPerTaskType, perTaskType, TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { StatsReading } from '../../store/ports/live/poll-stats.ts';
import type { LimitRecord, QueueCounts } from '../../store/ports/live/work-queue.ts';
import type { AuditDigest } from '../audit-digest.ts';
import type { LeaderDeps } from '../leadership.ts';

const TICK_MS = 1_000;
/** What retries may hold of a limit while there is other work, as work-claim.lua has it. */
const RETRY_SHARE = 0.1;
/** With fewer calls in the tick, no point is added to the curve. */
const POINT_CALLS = 20;

const RAMP = 'a pause: the limit rises to its value within 30 s of the end';

interface ConcurrencyControllerDeps extends LeaderDeps {
  readonly live: Pick<LiveStore, 'work' | 'stats' | 'coordination'>;
  /** If false, only the ceiling and the ramp after a pause lower a limit. */
  readonly adaptiveConcurrency: boolean;
  /** Most concurrent calls to the gateway from all task types together; null: no ceiling. */
  readonly ceiling: number | null;
  readonly log: Logger;
  readonly digest: Pick<AuditDigest, 'note'>;
}

/** What the leader knows about a task type; forgotten when it loses the lead. */
class Watched {
  readonly limit: EffectiveLimit;
  curve: readonly CurvePoint[];
  usual: UsualLatency | null;
  /** Why the limit has its value; null without a reason. */
  reason: string | null;
  totals: StatsReading | null = null;
  /** The limit in force after the last pass; null before the first pass. */
  inForce: number | null = null;
  readonly ramp = new ResumeRamp();
  /** The state that was saved last, as JSON. */
  saved = '';

  /** A new leader continues with the record that the previous leader saved. */
  constructor(
    record: LimitRecord | null,
    isAdaptive: boolean,
    public atMs: number,
  ) {
    const memory = isAdaptive && record !== null ? record : { limit: null, normalMs: null };
    this.limit = new EffectiveLimit(memory, atMs);
    this.curve = record?.curve ?? [];
    this.usual = record?.usual ?? null;
    // A ceiling may be gone meanwhile.
    this.reason = memory.limit === null ? null : (record?.reason ?? null);
  }
}

/** What one pass has read about a task type. */
interface Sight {
  readonly taskType: TaskType;
  readonly watched: Watched;
  readonly counts: QueueCounts;
  /** Counts since the last pass; null when there is no reading to compare with. */
  readonly tick: FleetTick | null;
  readonly configured: number;
  /** The limit that was in force until this pass. */
  readonly inForce: number;
}

type Sights = Readonly<Record<TaskType, Sight>>;

export class ConcurrencyController extends LoopService<ConcurrencyControllerDeps> {
  readonly name = 'concurrency-controller';
  readonly #watched = new Map<TaskType, Watched>();
  #strain = new StrainTrials();
  /**
   * As of the last pass: while our own side is slow, what calls take says nothing about the gateway, and nothing is learned from it.
   * `now`: the calls of the last second; `lately`: all calls that are judged together.
   */
  #isWell = { now: true, lately: true };

  async runOnce(): Promise<number> {
    const lead = this.deps.fence();
    if (lead === null) {
      this.#watched.clear();
      this.#strain = new StrainTrials();
      return TICK_MS;
    }
    const { work, coordination } = this.deps.live;
    const [sights, instances, pauses] = await Promise.all([
      askPerTaskType((taskType) => this.#look(taskType)),
      coordination.instances(),
      work.pauses(),
    ]);
    this.#isWell = { now: isOwnSideWellNow(instances), lately: isOwnSideWell(instances) };
    if (this.deps.adaptiveConcurrency && this.#isWell.now) this.#judge(Object.values(sights));
    const wanted = mapTypes(sights, ({ watched, configured }) => watched.limit.under(configured));
    const paused = new Set(pauses.map(({ taskType }) => taskType));
    const ramped = mapTypes(sights, ({ taskType, watched }) => {
      const share = watched.ramp.share(paused.has(taskType), watched.atMs);
      return Math.max(1, Math.floor(wanted[taskType] * share));
    });
    const granted = this.#grant(sights, ramped);
    for (const taskType of TASK_TYPES) {
      // What it saw under another lead may be another task type's share by now.
      if (this.deps.fence() !== lead) return TICK_MS;
      // limits-in-force.ts begins a new life of the live store.
      if (!sights[taskType].counts.inForce) continue;
      await this.#set(sights[taskType], granted[taskType]);
      const isRamped = ramped[taskType] < wanted[taskType] && granted[taskType] === ramped[taskType];
      await this.#conclude(sights[taskType], wanted[taskType], granted[taskType], isRamped);
    }
    return TICK_MS;
  }

  /** Reads the fleet's counts since the last pass. */
  async #look(taskType: TaskType): Promise<Sight> {
    const { live, clock, adaptiveConcurrency } = this.deps;
    const [counts, totals] = await Promise.all([live.work.counts(taskType), live.stats.read(taskType)]);
    const nowMs = clock.monotonic();
    const watched =
      this.#watched.get(taskType) ??
      new Watched(await live.work.limitRecord(taskType), adaptiveConcurrency, nowMs);
    this.#watched.set(taskType, watched);
    const tick = watched.totals === null ? null : tickBetween(watched.totals, totals, nowMs - watched.atMs);
    watched.totals = totals;
    if (this.#isWell.lately) watched.usual = learned(watched.usual, presentMetricsOf(totals.now));
    watched.atMs = nowMs;
    const { maxConcurrency, effectiveConcurrency: inForce } = counts;
    const configured = maxConcurrency ?? DEFAULT_MAX_CONCURRENCY;
    if (tick !== null && this.#isWell.now) this.#addPoint(watched, tick, inForce);
    return { taskType, watched, counts, tick, configured, inForce };
  }

  #judge(sights: readonly Sight[]): void {
    const limits = sights.map(({ watched: { limit }, ...sight }) => ({ ...sight, limit }));
    judgeLimits(this.#strain, limits, this.deps.clock.monotonic(), (taskType, reason) => {
      (this.#watched.get(taskType) as Watched).reason = reason;
    });
  }

  /** Adds a point to the curve if the limit was reached and did not change. */
  #addPoint(watched: Watched, tick: FleetTick, concurrency: number): void {
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

  /** Divides the gateway's ceiling, if there is one. @returns the limits that may be in force now. */
  #grant(sights: Sights, wanted: PerType): PerType {
    const { ceiling } = this.deps;
    if (ceiling === null) return wanted;
    // Also where the configured limit is lower: an operator may raise that one.
    const shares = mapTypes(sights, ({ counts, inForce }) =>
      counts.inForce ? (counts.leaderLimit ?? inForce) : 0,
    );
    const needs = mapTypes(sights, ({ taskType, counts }) => {
      // No more than they may take beside other work, or a type whose calls all fail would hold the share of one that works.
      const retries = Math.min(counts.retryDue, Math.ceil(wanted[taskType] * RETRY_SHARE));
      return Math.min(wanted[taskType], counts.inFlight + counts.due + retries + counts.manualLength);
    });
    const divided = divideCeiling(ceiling, needs, shares);
    const targets = perTaskType((taskType) => Math.min(wanted[taskType], divided[taskType]));
    const inFlight = mapTypes(sights, ({ counts }) => counts.inFlight);
    return grantWithin(ceiling, targets, shares, inFlight);
  }

  /** Under a ceiling, sets a limit even if it equals the configured one, as for #grant. */
  async #set({ taskType, watched, counts, configured, inForce }: Sight, limit: number): Promise<void> {
    const { ceiling, live } = this.deps;
    const isSet =
      ceiling === null ? watched.inForce !== null && limit === inForce : limit === counts.leaderLimit;
    if (isSet) return;
    const asConfigured = limit >= configured && ceiling === null;
    await live.work.setEffectiveConcurrency(taskType, asConfigured ? null : limit);
  }

  /** Logs a change, and saves the state for the next leader and for reports. */
  async #conclude(sight: Sight, wanted: number, to: number, isRamped: boolean): Promise<void> {
    const { taskType, watched, configured, inForce: from } = sight;
    const { ceiling, live, log, digest } = this.deps;
    const unlowered =
      ceiling === null
        ? 'nothing lowers the limit any more'
        : `the ceiling of ${ceiling} calls for the gateway, shared by need`;
    const byDefault = isRamped ? RAMP : unlowered;
    const reason = to < wanted ? byDefault : watched.reason;
    if (from !== to) {
      const change = { from, to, reason: reason ?? byDefault };
      log.info({ task_type: taskType, ...change }, 'effective limit');
      digest.note({
        action: 'limit.adapt',
        object: `task_type ${taskType}`,
        before: { effectiveConcurrency: from },
        after: { effectiveConcurrency: to, reason: change.reason },
      });
    }
    watched.inForce = to;
    const { curve, limit } = watched;
    const usual = watched.usual === null ? null : storedUsual(watched.usual);
    const record = { ...limit.memory, reason: to < configured ? reason : null, curve, usual };
    const text = JSON.stringify(record);
    if (text === watched.saved) return;
    await live.work.saveLimitRecord(taskType, record);
    watched.saved = text;
  }
}

/** Reads one value of every task type. */
function mapTypes<T>(sights: Sights, read: (sight: Sight) => T): Record<TaskType, T> {
  return perTaskType((taskType) => read(sights[taskType]));
}
