// The only judge of the fleet: reads the stores, returns its state and the reasons. Engine (alert rules, heartbeat), operations
// (statistics, doctor) and metrics use it; it imports none of them. Built by stores.ts; opens nothing.

import type { TaskConditions } from '../domain/alerts/alert-rule.ts';
import type { RecordedLimits } from '../domain/limits/in-force.ts';
import { DEFAULT_MAX_CONCURRENCY } from '../domain/limits/operator-limits.ts';
import type { GatewayFacts } from '../domain/limits/rate-limit.ts';
import { catchingUp } from '../domain/limits/resume-ramp.ts';
import type { GrowthHistory } from '../domain/results/usage-growth.ts';
import { CardCounts } from '../domain/schedule/card-counts.ts';
import { isInForce, type MaintenanceWindow, shownNow } from '../domain/schedule/maintenance.ts';
import { ConfigMatcher } from '../domain/schedule/polling-config.ts';
import type { StopSettings } from '../domain/stops/stop.ts';
import { askPerTaskType, perTaskType, type TaskType } from '../domain/task-type.ts';
import type { Clock } from '../platform/clock.ts';
import { SharedReading } from '../platform/shared-reading.ts';
import { readFleet } from '../store/ports/live/fleet-reading.ts';
import type { LiveStore } from '../store/ports/live/live-store.ts';
import type { LimitRecord, QueueCounts } from '../store/ports/live/work-queue.ts';
import type { RecordStore } from '../store/ports/records/record-store.ts';
import { fleetCapacityOf, paceShareOf } from './capacity.ts';
import { ChangeWatch } from './change-watch.ts';
import { type ClockGap, isStarting, readClockGap } from './fleet-faults.ts';
import {
  cutOffFrom,
  gatewayReportOf,
  heldFollowUpsOf,
  heldInterfacesOf,
  presentFaultOf,
} from './gateway-report.ts';
import { fleetReasons } from './health-reasons.ts';
import { InitProgressReader } from './init-progress.ts';
import { LockedTables } from './locked-tables.ts';
import type { Presence } from './presence.ts';
import type { HealthReason } from './reason.ts';
import { inOrder } from './reason-order.ts';
import { readStopFigures, type StopFigures } from './stop-figures.ts';
import { judgeTask, type LimitedCounts, type TaskJudgement } from './task-judge.ts';
import { brokenPromise, taskConditionsOf } from './verdicts.ts';

/** More often than other readings: a lock counts after 5 s, and must be reported within 15 s. */
const LOCKS_EVERY_MS = 3_000;

interface HealthDeps extends Pick<GatewayFacts, 'cardsPerCall'> {
  readonly live: LiveStore;
  readonly records: RecordStore;
  readonly clock: Clock;
  /** The pause between two batches of the initialisation. */
  readonly initPauseMs: number;
  readonly stops: StopSettings;
  /** null: this process is no instance. */
  readonly presence: Pick<Presence, 'silence'> | null;
}

export type Judgement = Awaited<ReturnType<FleetHealth['judge']>>;

/** All methods throw CardpollError `unavailable` when a store that they need does not answer. */
export class FleetHealth {
  readonly init: InitProgressReader;
  readonly #kept = perTaskType(() => new KeptReasons());
  readonly #changes: ChangeWatch;
  readonly #stops;
  readonly #lockHolders;
  readonly #locked = new LockedTables();
  readonly #clockGap;
  readonly #recordedLimits;
  readonly #configs;
  readonly #windows;
  readonly #growth;

  constructor(private readonly means: HealthDeps) {
    const { live, records, clock, stops, initPauseMs } = means;
    this.init = new InitProgressReader(clock, initPauseMs);
    this.#changes = new ChangeWatch({ live, records, clock });
    this.#stops = new SharedReading(() => readStopFigures(records, stops), clock);
    this.#lockHolders = new SharedReading(
      // An embedded database has one session.
      async () => (records.kind === 'embedded' ? [] : records.lockHolders()),
      clock,
      () => LOCKS_EVERY_MS,
    );
    this.#recordedLimits = new SharedReading(() => records.configs.recordedLimits(), clock);
    this.#configs = new SharedReading(() => records.configs.list(), clock);
    this.#windows = new SharedReading(() => records.maintenance.open(), clock);
    this.#growth = new SharedReading(() => live.stats.usageGrowth(), clock);
    this.#clockGap = new SharedReading(() => readClockGap(live, records), clock);
  }

  async judge() {
    const { live, cardsPerCall, presence } = this.means;
    // All at once: a live store that takes half a second is to be named, not waited for.
    const [surroundings, progress, facts, holders] = await Promise.all([
      readSurroundings(live, Promise.all([this.#stops.read(), this.#clockGap.read()])),
      live.coordination.initProgress(),
      this.#facts(),
      this.#lockHolders.read(),
    ]);
    const measured = this.#tasks(surroundings, facts);
    const init = this.init.of(progress, surroundings.nowMs);
    const initStuck = init.status === 'stuck';
    const found = fleetReasons({
      ...surroundings,
      tasks: measured,
      silence: presence?.silence ?? null,
      initStuck,
      lockHolders: holders?.filter(({ ofSchedule }) => ofSchedule) ?? null,
      locked: this.#locked.with(holders, surroundings.nowMs),
    });
    const changeOf = await this.#changes.before(found, surroundings);
    const ordered = (reasons: readonly HealthReason[]) =>
      inOrder(reasons, { nowMs: surroundings.nowMs, changeOf }).map((reason) =>
        reason.causedBy === null
          ? { ...reason, text: `${reason.text}${changeOf(reason)?.words ?? ''}` }
          : reason,
      );
    const tasks = measured.map((task) => ({ ...task, reasons: ordered(task.reasons) }));
    const capacity = fleetCapacityOf(tasks, surroundings.rateLimits, cardsPerCall);
    const maintenance = shownNow(facts.windows, surroundings.nowMs);
    return { ...surroundings, init, tasks, capacity, maintenance, reasons: ordered(found) };
  }

  /** What alert rules watch besides the polls. */
  async conditions(): Promise<TaskConditions> {
    return taskConditionsOf(await this.judge());
  }

  /** Why the fleet does not poll its cards as configured, read now; null: it does. */
  async brokenPromise(): Promise<string | null> {
    return brokenPromise(await this.judge());
  }

  /** What the live store counts of each task type. */
  async read() {
    const fleet = await readFleet(this.means.live);
    return askPerTaskType(async (taskType) => {
      const { counts, ...reading } = fleet[taskType];
      return { ...reading, counts: await this.#limited(taskType, counts) };
    });
  }

  /** @returns the counts. Without a limit in force they have the recorded one, or the default until PostgreSQL answers. */
  async #limited(taskType: TaskType, counts: QueueCounts): Promise<LimitedCounts> {
    const known = counts.maxConcurrency ?? (await this.#recordedLimits.read())?.[taskType].maxConcurrency;
    return { ...counts, taskType, maxConcurrency: known ?? DEFAULT_MAX_CONCURRENCY };
  }

  async #facts(): Promise<Facts> {
    const { live } = this.means;
    const [readings, limits, { counted }, configs, growth, record, windows] = await Promise.all([
      this.read(),
      askPerTaskType((taskType) => live.work.limitRecord(taskType)),
      live.coordination.reconciliation(),
      this.#configs.read(),
      this.#growth.read(),
      this.#recordedLimits.read(),
      this.#windows.read(),
    ]);
    return {
      readings,
      limits,
      cards: new CardCounts(counted),
      matcher: new ConfigMatcher(configs ?? []),
      growth,
      record,
      windows: windows ?? [],
    };
  }

  /** The reasons of each task type in no order yet. */
  #tasks(surroundings: Surroundings, facts: Facts): Array<Omit<TaskJudgement, 'reasons'> & Unordered> {
    const { nowMs, instances, gateway, pauses, stops, since, rateLimits } = surroundings;
    const { readings, limits, cards, matcher, growth, record, windows } = facts;
    const cutOff = cutOffFrom(instances, nowMs);
    const fault = presentFaultOf(instances);
    const demand = perTaskType((taskType) => readings[taskType].metrics.schedule.demandPerSecond);
    const tasks = perTaskType((taskType) => {
      const own = pauses.filter((pause) => pause.taskType === taskType);
      const judged = judgeTask(readings[taskType], {
        instances,
        starting: isStarting(instances, nowMs),
        pauses: own,
        catching: catchingUp(record?.[taskType].lastPause ?? null, own.length > 0, nowMs),
        maintained: carriersIn(windows, taskType, nowMs),
        nowMs,
        breakers: heldInterfacesOf(taskType, gateway),
        followUps: heldFollowUpsOf(taskType, gateway),
        cutOff,
        fault,
        growth: taskType === 'carddata' ? growth : null,
        stops: taskType === 'package' ? stops : null,
        stopMode: stops?.mode ?? null,
        limit: limits[taskType],
        paceShare: paceShareOf(taskType, rateLimits, demand, this.means.cardsPerCall),
        since,
        unselected: cards.unselected(taskType, matcher),
        inDoubt: taskType === 'carddata' ? cards.inDoubt() : [],
      });
      // With the reasons that it showed a moment ago.
      return { ...judged, reasons: this.#kept[taskType].with(judged.reasons, nowMs) };
    });
    return Object.values(tasks);
  }
}

interface Unordered {
  readonly reasons: readonly HealthReason[];
}

/** What task types are judged by, besides the surroundings. */
interface Facts {
  readonly readings: Awaited<ReturnType<FleetHealth['read']>>;
  readonly limits: Readonly<Record<TaskType, LimitRecord | null>>;
  readonly cards: CardCounts;
  readonly matcher: ConfigMatcher;
  /** null: not known. */
  readonly growth: GrowthHistory | null;
  readonly record: Readonly<Record<TaskType, RecordedLimits>> | null;
  /** Maintenance that is planned or in force. */
  readonly windows: readonly MaintenanceWindow[];
}
type Surroundings = Awaited<ReturnType<typeof readSurroundings>>;

function carriersIn(windows: readonly MaintenanceWindow[], taskType: TaskType, nowMs: number): number[] {
  return windows.flatMap((one) =>
    one.carrierId !== null && (one.taskType ?? taskType) === taskType && isInForce(one, nowMs)
      ? [one.carrierId]
      : [],
  );
}

/** Facts of the fleet that concern every task type. `nowMs` by the live store's clock, which dates most of them. */
async function readSurroundings(
  live: LiveStore,
  read: Promise<readonly [StopFigures | null, ClockGap | null]>,
) {
  const [nowMs, instances, pauses, since, rateLimits, [stops, clockGap]] = await Promise.all([
    live.now(),
    live.coordination.instances(),
    live.work.pauses(),
    live.health.since(),
    live.pace.states(),
    read,
  ]);
  const longestFirst = [...pauses].sort((a, b) => b.untilMs - a.untilMs);
  const gateway = gatewayReportOf(instances);
  return { nowMs, instances, pauses: longestFirst, stops, clockGap, since, rateLimits, gateway };
}

/** A reason is shown for at least so long, so that the first line of every surface can be read. */
const LEAST_MS = 10_000;

/** The reasons of a task type that were shown a moment ago. */
export class KeptReasons {
  readonly #shown = new Map<string, { readonly reason: HealthReason; readonly sinceMs: number }>();

  /** @returns the current reasons, and those first shown less than ten seconds ago that have ended. */
  with(reasons: readonly HealthReason[], nowMs: number): readonly HealthReason[] {
    const present = new Map(reasons.map((reason) => [nameOf(reason), reason]));
    const kept: HealthReason[] = [];
    for (const [name, { reason, sinceMs }] of this.#shown) {
      if (present.has(name)) continue;
      // A clock that was set back does not extend a reason.
      if (nowMs - sinceMs < LEAST_MS && nowMs >= sinceMs) kept.push(reason);
      else this.#shown.delete(name);
    }
    for (const [name, reason] of present) {
      this.#shown.set(name, { reason, sinceMs: this.#shown.get(name)?.sinceMs ?? nowMs });
    }
    return kept.length === 0 ? reasons : [...reasons, ...kept];
  }
}

function nameOf({ taskType, code }: HealthReason): string {
  return `${taskType} ${code}`;
}
