// Statistics of the fleet: overview, queues, tasks, initialisation, and what alert rules watch besides the polls. Used by the
// admin API and, through it, by the command line. Reads the stores; task-stats.ts computes the numbers of a task type, init.ts
// those of initialisation.
import type { TaskConditions } from '../../domain/alerts/alert-rule.ts';
import type { CardsPerCall } from '../../domain/gateway-interface.ts';
import { percentDown } from '../../domain/numbers.ts';
import { askPerTaskType, perTaskType, TASKS } from '../../domain/task-type.ts';
import type { InstanceInfo } from '../../store/ports/live/coordination.ts';
import { readFleet } from '../../store/ports/live/fleet-reading.ts';
import type { PaceLimit } from '../../store/ports/live/pace.ts';
import type { LockHolder } from '../../store/ports/records/record-store.ts';
import type { CardTotal } from '../cards/card-total.ts';
import { dated } from '../date-of.ts';
import type { ChangeWatch } from '../health/change-watch.ts';
import type { ClockGap } from '../health/fleet-faults.ts';
import {
  gatewayNowOf,
  gatewayReportOf,
  heldFollowUpsOf,
  heldInterfacesOf,
} from '../health/gateway-report.ts';
import { fleetReasons, healthOfReasons } from '../health/health-reasons.ts';
import type { HealthReason } from '../health/health-report.ts';
import { KeptReasons } from '../health/kept-reasons.ts';
import { inOrder } from '../health/reason-order.ts';
import { type StopFigures, stopNumbersOf } from '../health/stop-figures.ts';
import { fleetCapacityOf, paceShareOf, roundedCapacity } from '../limits/capacity.ts';
import type { ConcurrencyOperations } from '../limits/concurrency.ts';
import type { PauseOperations } from '../limits/pauses.ts';
import type { OperationMeans } from '../means.ts';
import type { PatientReading } from '../patient-reading.ts';
import type { InitOperations } from '../schedule/init.ts';
import type { FleetCapacity, InstanceReport, Overview, QueueStats, TaskStats } from './stats-report.ts';
import { queueStatsOf, taskStatsOf } from './task-stats.ts';

interface StatsMeans extends Pick<OperationMeans, 'live' | 'offers' | 'cardsPerCall'> {
  readonly pauses: PauseOperations;
  readonly concurrency: ConcurrencyOperations;
  readonly cardTotal: CardTotal;
  readonly stops: PatientReading<StopFigures>;
  readonly clockGap: PatientReading<ClockGap | null>;
  /** Asked only while the initialisation is stuck. */
  readonly lockHolders: Pick<PatientReading<readonly LockHolder[]>, 'read'>;
  readonly changes: Pick<ChangeWatch, 'told'>;
  readonly init: Pick<InitOperations, 'report'>;
  readonly version: string;
  /** Why this instance is not among the live ones; null: it is, or this process is no instance. */
  readonly silence: () => string | null;
}

/** All methods throw CardpollError `unavailable` when a store that they need does not answer. */
export class StatsOperations {
  readonly #kept = perTaskType(() => new KeptReasons());

  constructor(private readonly deps: StatsMeans) {}

  async overview(): Promise<Overview> {
    const { live, cardTotal } = this.deps;
    const [surroundings, progress] = await Promise.all([
      surroundingsOf(this.deps),
      live.coordination.initProgress(),
    ]);
    const { nowMs } = surroundings;
    const measured = await this.#tasks(surroundings);
    const init = this.deps.init.report(progress, nowMs);
    const initStuck = init.status === 'stuck';
    const reasons = fleetReasons({
      ...surroundings,
      tasks: measured.map(({ taskType, healthReasons: reasons }) => ({ taskType, reasons })),
      silence: this.deps.silence(),
      initStuck,
      lockHolders: initStuck ? await this.deps.lockHolders.read() : null,
    });
    const changed = await this.deps.changes.told(reasons, surroundings);
    const healthReasons = reasons.map(withWords(changed));
    const tasks = measured.map((task) => ({
      ...task,
      healthReasons: task.healthReasons.map(withWords(changed)),
    }));
    return {
      generatedAt: new Date(nowMs),
      version: this.deps.version,
      health: healthOfReasons(healthReasons),
      healthReasons,
      cardsTotal: await cardTotal.read(progress.total),
      tasks,
      capacity: fleetCapacity(tasks, surroundings.rateLimits, this.deps.cardsPerCall),
      gateway: { ...surroundings.gateway, ...gatewayNowOf(tasks) },
      pauses: surroundings.pauses,
      stops: stopNumbersOf(surroundings.stops),
      init,
      workers: surroundings.instances.map(instanceReportOf),
    };
  }

  async conditions(): Promise<TaskConditions> {
    return taskConditionsOf(await this.overview());
  }

  async queues(): Promise<QueueStats[]> {
    return Object.values(await this.#read()).map(({ queue }) => queue);
  }

  /** As in the overview. */
  async tasks(): Promise<Overview['tasks']> {
    return (await this.overview()).tasks;
  }

  async #tasks(surroundings: Surroundings): Promise<TaskStats[]> {
    const { nowMs, instances, gateway, pauses, stops, since, rateLimits } = surroundings;
    const { live, cardsPerCall, offers } = this.deps;
    const readings = await this.#read();
    const demand = perTaskType((taskType) => readings[taskType].reading.metrics.schedule.demandPerSecond);
    const tasks = await askPerTaskType(async (taskType) => {
      const { queue, reading } = readings[taskType];
      const limit = await live.work.limitRecord(taskType);
      return keeping(
        this.#kept[taskType],
        nowMs,
        taskStatsOf(queue, reading, {
          instances,
          starting: isStarting(instances, nowMs),
          pauses: pauses.filter((pause) => pause.taskType === taskType),
          nowMs,
          breakers: heldInterfacesOf(taskType, gateway),
          followUps: heldFollowUpsOf(taskType, gateway),
          stops: taskType === 'package' ? stops : null,
          stopMode: stops?.mode ?? null,
          limit,
          paceShare: paceShareOf(taskType, rateLimits, demand, cardsPerCall),
          offered: offers(TASKS[taskType].interface),
          since,
        }),
      );
    });
    return Object.values(tasks);
  }

  async #read() {
    const { concurrency, live } = this.deps;
    const fleet = await readFleet(live);
    return askPerTaskType(async (taskType) => {
      const reading = fleet[taskType];
      const counts = await concurrency.limited(taskType, reading.counts);
      return { queue: queueStatsOf(counts, reading.metrics.schedule), reading };
    });
  }
}

const withWords =
  (wordsOf: (reason: HealthReason) => string) =>
  (reason: HealthReason): HealthReason => ({ ...reason, text: `${reason.text}${wordsOf(reason)}` });

const START_MS = 60_000;

export function isStarting(
  instances: ReadonlyArray<Pick<InstanceInfo, 'startedAtMs'>>,
  nowMs: number,
): boolean {
  return instances.length > 0 && instances.every(({ startedAtMs }) => nowMs - startedAtMs < START_MS);
}

/** With the reasons that it showed a moment ago. */
function keeping(kept: KeptReasons, nowMs: number, task: TaskStats): TaskStats {
  const healthReasons = inOrder(kept.with(task.healthReasons, nowMs));
  return { ...task, healthReasons, health: healthOfReasons(healthReasons) };
}

type Surroundings = Awaited<ReturnType<typeof surroundingsOf>>;

/** Facts of the fleet that the statistics of every task type need. `nowMs` by the live store's clock, which dates most of them. */
async function surroundingsOf({ live, ...deps }: StatsMeans) {
  const [nowMs, instances, pauses, stops, clockGap, since, rateLimits] = await Promise.all([
    live.now(),
    live.coordination.instances(),
    deps.pauses.list(),
    deps.stops.read(),
    deps.clockGap.read(),
    live.health.since(),
    live.pace.states(),
  ]);
  return {
    nowMs,
    instances,
    pauses,
    stops,
    clockGap,
    since,
    rateLimits,
    gateway: gatewayReportOf(instances),
  };
}

function fleetCapacity(
  tasks: readonly TaskStats[],
  rateLimits: readonly PaceLimit[],
  cardsPerCall: CardsPerCall,
): FleetCapacity {
  const advice = tasks.flatMap(({ advice: { remedy } }) => remedy ?? []);
  return {
    ...roundedCapacity(fleetCapacityOf(tasks, rateLimits, cardsPerCall)),
    advice: advice.length === 0 ? null : advice.join('; '),
  };
}

function instanceReportOf(instance: InstanceInfo): InstanceReport {
  const { instanceId, ...rest } = instance;
  const lookUps = instance.cacheHits + instance.cacheMisses;
  return {
    workerId: instanceId,
    ...dated(rest),
    cacheHitRatio: lookUps === 0 ? null : percentDown((100 * instance.cacheHits) / lookUps) / 100,
  };
}

const NO_FAULT = 'concurrency_usage';

/** What alert rules watch of each task type besides its polls, taken from the overview that operators see. */
export function taskConditionsOf({ generatedAt, gateway, healthReasons, pauses }: Overview): TaskConditions {
  return perTaskType((taskType) => {
    const reasons = healthReasons.filter(
      (reason) => reason.code !== NO_FAULT && (reason.taskType ?? taskType) === taskType,
    );
    const opened = heldInterfacesOf(taskType, gateway).flatMap(({ breaker, since }) =>
      breaker === 'open' && since !== null ? since.getTime() : [],
    );
    return {
      reasons,
      breakerOpenSeconds:
        opened.length === 0 ? 0 : Math.max(0, generatedAt.getTime() - Math.min(...opened)) / 1000,
      pausedByOperator: pauses.some((pause) => pause.taskType === taskType && pause.source === 'operator'),
    };
  });
}
