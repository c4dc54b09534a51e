// Statistics of the fleet: overview, queues, tasks, initialisation, and what alert rules watch besides the polls. Used by the
// admin API and, through it, by the command line. Reads the stores; task-stats.ts computes the numbers of a task type, init.ts
// those of initialisation.
import type { TaskConditions } from '../../domain/alerts/alert-rule.ts';
import type { CardsPerCall, Offers } from '../../domain/gateway-interface.ts';
import { perTaskType, TASKS } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import type { InstanceInfo } from '../../store/ports/live/coordination.ts';
import { readFleet, type TaskReading } from '../../store/ports/live/fleet-reading.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { CardTotal } from '../cards/card-total.ts';
import { dated } from '../date-of.ts';
import type { ClockGap } from '../health/fleet-faults.ts';
import { gatewayReportOf, heldInterfacesOf } from '../health/gateway-report.ts';
import { fleetReasons, healthOfReasons } from '../health/health-reasons.ts';
import type { PatientReading } from '../health/patient-reading.ts';
import { type StopFigures, stopNumbersOf } from '../health/stop-figures.ts';
import { adviceOf, fleetCapacityOf, paceShareOf, roundedCapacity } from '../limits/capacity.ts';
import type { ConcurrencyOperations } from '../limits/concurrency.ts';
import type { PauseOperations } from '../limits/pauses.ts';
import type { InitReporter } from '../schedule/init.ts';
import type { FleetCapacity, InstanceReport, Overview, QueueStats, TaskStats } from './stats-report.ts';
import { type MeasuredTask, queueStatsOf, taskStatsOf } from './task-stats.ts';

interface StatsDependencies {
  readonly live: LiveStore;
  readonly pauses: PauseOperations;
  readonly concurrency: ConcurrencyOperations;
  readonly cardTotal: CardTotal;
  readonly offers: Offers;
  readonly cardsPerCall: CardsPerCall;
  readonly stops: PatientReading<StopFigures>;
  readonly clockGap: PatientReading<ClockGap>;
  readonly initReporter: InitReporter;
  readonly clock: Clock;
  readonly version: string;
  /** Why this instance is not among the live ones; null: it is, or this process is no instance. */
  readonly silence: () => string | null;
}

/** All methods throw CardpollError `unavailable` when a store that they need does not answer. */
export class StatsOperations {
  constructor(private readonly deps: StatsDependencies) {}

  async overview(): Promise<Overview> {
    const { clock, live, cardTotal } = this.deps;
    const [surroundings, progress] = await Promise.all([
      surroundingsOf(this.deps),
      live.coordination.initProgress(),
    ]);
    const tasks = await this.#tasks(surroundings);
    const init = this.deps.initReporter.report(progress);
    const healthReasons = fleetReasons({
      tasks: tasks.map(({ taskType, healthReasons: reasons }) => ({ taskType, reasons })),
      instances: surroundings.instances,
      silence: this.deps.silence(),
      initStuck: init.status === 'stuck',
      stops: surroundings.stops,
      clockGap: surroundings.clockGap,
      since: surroundings.since,
    });
    return {
      generatedAt: new Date(clock.now()),
      version: this.deps.version,
      health: healthOfReasons(healthReasons),
      healthReasons,
      cardsTotal: await cardTotal.read(progress.total),
      tasks,
      capacity: fleetCapacity(tasks),
      gateway: surroundings.gateway,
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
    return (await this.#read()).map(({ queue }) => queue);
  }

  async tasks(): Promise<TaskStats[]> {
    return this.#tasks(await surroundingsOf(this.deps));
  }

  async #tasks({ gateway, pauses, stops, since }: Surroundings): Promise<MeasuredTask[]> {
    const { live } = this.deps;
    const nowMs = this.deps.clock.now();
    const readings = await this.#read();
    const isReduced = ({ effectiveConcurrency, concurrency }: QueueStats) =>
      effectiveConcurrency < concurrency.max;
    const rateLimits = await live.pace.states();
    const demand = perTaskType(
      (taskType) => readings.find(({ queue }) => queue.taskType === taskType)?.queue.demandPerSecond ?? 0,
    );
    const limits = await Promise.all(
      readings.map(({ queue }) => (isReduced(queue) ? live.work.limitRecord(queue.taskType) : null)),
    );
    return readings.map(({ queue, reading }, i) =>
      taskStatsOf(queue, reading, {
        pauses: pauses.filter(({ taskType }) => taskType === queue.taskType),
        nowMs,
        breakers: heldInterfacesOf(queue.taskType, gateway),
        stops: queue.taskType === 'package' ? stops : null,
        stopMode: stops?.mode ?? null,
        limitReason: limits[i]?.reason ?? null,
        paceShare: paceShareOf(queue.taskType, rateLimits, demand, this.deps.cardsPerCall),
        offered: this.deps.offers(TASKS[queue.taskType].interface),
        since,
      }),
    );
  }

  async #read(): Promise<Array<{ readonly queue: QueueStats; readonly reading: TaskReading }>> {
    const { clock, concurrency, live } = this.deps;
    const fleet = await readFleet(live, clock.now());
    const counts = await concurrency.limited(perTaskType((taskType) => fleet[taskType].counts));
    return counts.map((one) => {
      const reading = fleet[one.taskType];
      return { queue: queueStatsOf(one, reading.metrics.schedule), reading };
    });
  }
}

type Surroundings = Awaited<ReturnType<typeof surroundingsOf>>;

/** Facts of the fleet that the statistics of every task type need. */
async function surroundingsOf({ live, ...deps }: StatsDependencies) {
  const [instances, pauses, stops, clockGap, since] = await Promise.all([
    live.coordination.instances(),
    deps.pauses.list(),
    deps.stops.read(),
    deps.clockGap.read(),
    live.health.since(),
  ]);
  return { instances, pauses, stops, clockGap, since, gateway: gatewayReportOf(instances) };
}

function fleetCapacity(tasks: readonly MeasuredTask[]): FleetCapacity {
  const advice = tasks.flatMap(({ capacity: { remedy } }) => (remedy === null ? [] : adviceOf(remedy)));
  return {
    ...roundedCapacity(fleetCapacityOf(tasks)),
    advice: advice.length === 0 ? null : advice.join('; '),
  };
}

function instanceReportOf(instance: InstanceInfo): InstanceReport {
  const { instanceId, ...rest } = instance;
  const lookUps = instance.cacheHits + instance.cacheMisses;
  return {
    workerId: instanceId,
    ...dated(rest),
    cacheHitRatio: lookUps === 0 ? null : Math.round((10_000 * instance.cacheHits) / lookUps) / 10_000,
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
      health: healthOfReasons(reasons),
      breakerOpenSeconds:
        opened.length === 0 ? 0 : Math.max(0, generatedAt.getTime() - Math.min(...opened)) / 1000,
      pausedByOperator: pauses.some((pause) => pause.taskType === taskType && pause.source === 'operator'),
    };
  });
}
