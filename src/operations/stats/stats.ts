// Statistics of the fleet: overview, queues and tasks, as operators see what health judged (src/health/fleet-health.ts). Used by the
// admin API and, through it, by the command line. task-stats.ts has the numbers of a task type.
import { monthTurnAhead } from '../../domain/cards/month-end.ts';
import { dated, dateOf } from '../../domain/date-of.ts';
import { percentDown } from '../../domain/numbers.ts';
import {
  keptSlotsWithin,
  punctualityOf,
  startOfCarrierSlot,
  sumOfSlotCounts,
} from '../../domain/stats/carrier-slots.ts';
import { TASK_TYPES, TASKS } from '../../domain/task-type.ts';
import { roundedCapacity } from '../../health/capacity.ts';
import type { Judgement } from '../../health/fleet-health.ts';
import { gatewayNowOf } from '../../health/gateway-report.ts';
import { healthOfReasons } from '../../health/health-reasons.ts';
import type { StopFigures } from '../../health/stop-figures.ts';
import { SharedReading } from '../../platform/shared-reading.ts';
import type { Overview, QueueStats, TaskStats } from '../../resources/stats.ts';
import type { InstanceInfo } from '../../store/ports/live/coordination.ts';
import type { CardTotal } from '../cards/card-total.ts';
import type { OperationDeps } from '../deps.ts';
import { maintenanceReportOf } from '../limits/maintenance.ts';
import { pauseReports } from '../limits/pauses.ts';
import { queueStatsOf, taskStatsOf } from './task-stats.ts';

const HOUR_MS = 3_600_000;

/** Counting walks over the stops of the month. */
const COUNT_EVERY_MS = 60_000;

interface StatsDeps
  extends Pick<OperationDeps, 'health' | 'live' | 'records' | 'calendar' | 'clock' | 'offers' | 'version'> {
  readonly resumeAtMonthStart: boolean;
  readonly cardTotal: CardTotal;
}

/** All methods throw CardpollError `unavailable` when a store that they need does not answer. */
export class StatsOperations {
  /** Asked in the last days of a month. */
  readonly #stopped;

  constructor(private readonly deps: StatsDeps) {
    const { clock } = deps;
    this.#stopped = new SharedReading(
      () => this.#countStopped(),
      clock,
      (costMs) => Math.max(COUNT_EVERY_MS, costMs),
    );
  }

  async overview(): Promise<Overview> {
    const judged = await this.deps.health.judge();
    const { nowMs, reasons, init, stops, gateway } = judged;
    const tasks = judged.tasks.map((task) =>
      taskStatsOf(task, this.deps.offers(TASKS[task.taskType].interface)),
    );
    return {
      generatedAt: new Date(nowMs),
      version: this.deps.version,
      health: healthOfReasons(reasons),
      healthReasons: reasons,
      cardsTotal: await this.deps.cardTotal.read(init.total),
      onTime: await this.#onTime(nowMs),
      monthEnd: await this.#monthEnd(nowMs),
      tasks,
      capacity: fleetCapacity(judged),
      gateway: { ...gateway, ...gatewayNowOf(tasks) },
      pauses: pauseReports(judged.pauses),
      maintenance: judged.maintenance.map((window) => maintenanceReportOf(window, nowMs)),
      stops: stopNumbersOf(stops),
      init: dated(init),
      workers: judged.instances.map(instanceReportOf),
    };
  }

  /** Of all task types in the last hour. */
  async #onTime(nowMs: number) {
    const { stats } = this.deps.live;
    const slots = keptSlotsWithin(nowMs - HOUR_MS, nowMs, nowMs);
    const found = await Promise.all(TASK_TYPES.map((taskType) => stats.carrierSlots(taskType, slots)));
    const punctuality = punctualityOf(sumOfSlotCounts(found.flatMap((one) => [...one.values()])));
    if (punctuality === null) return null;
    const first = startOfCarrierSlot(Math.min(...found.flatMap((one) => [...one.keys()])));
    return { since: new Date(Math.max(first, nowMs - HOUR_MS)), ...punctuality };
  }

  async #monthEnd(nowMs: number) {
    const { calendar, resumeAtMonthStart: resumesAtStart } = this.deps;
    const turn = monthTurnAhead(calendar, nowMs);
    if (turn === null) return null;
    const stopped = await this.#stopped.read();
    return { timeZone: calendar.timeZone, turnsAt: new Date(turn.turnsAtMs), stopped, resumesAtStart };
  }

  /** As the month that begins would resume them. */
  async #countStopped(): Promise<number> {
    const { calendar, records } = this.deps;
    const turn = monthTurnAhead(calendar, await records.now());
    return turn === null ? 0 : (await records.resumes.preview({ beginning: turn.next })).total;
  }

  async queues(): Promise<QueueStats[]> {
    const readings = Object.values(await this.deps.health.read());
    return readings.map(({ counts, metrics }) => queueStatsOf(counts, metrics.schedule));
  }

  /** As in the overview. */
  async tasks(): Promise<readonly TaskStats[]> {
    return (await this.overview()).tasks;
  }
}

function fleetCapacity({ capacity, tasks }: Judgement): Overview['capacity'] {
  const advice = tasks.flatMap(({ advice: { remedy } }) => remedy ?? []);
  return { ...roundedCapacity(capacity), advice: advice.length === 0 ? null : advice.join('; ') };
}

function instanceReportOf(instance: InstanceInfo): Overview['workers'][number] {
  const { instanceId, ownSide, ...rest } = instance;
  const lookUps = instance.cacheHits + instance.cacheMisses;
  return {
    workerId: instanceId,
    ...dated(rest),
    ...(ownSide ?? { loopDelayMs: null, cpuPercent: null, redisMs: null, databaseMs: null }),
    cacheHitRatio: lookUps === 0 ? null : percentDown((100 * instance.cacheHits) / lookUps) / 100,
  };
}

/** @param figures null: not known. */
function stopNumbersOf(figures: StopFigures | null): Overview['stops'] {
  return {
    mode: figures?.mode ?? null,
    doneHour: figures?.doneHour ?? null,
    doneDay: figures?.doneDay ?? null,
    budgetHour: figures?.budgetHour ?? null,
    budgetDay: figures?.budgetDay ?? null,
    fleetCards: figures?.fleetCards ?? null,
    held: figures?.held ?? null,
    heldForOperator: figures?.heldForOperator ?? null,
    observed: figures?.observed ?? null,
    released: figures?.released ?? null,
    unconfirmed: figures?.unconfirmed ?? null,
    resumedDay: figures?.resumedDay ?? null,
    overRunning: figures?.overRunning?.count ?? null,
    overRunningAt: dateOf(figures?.overRunning?.atMs ?? null),
    overRunningCards: [...(figures?.overRunning?.cardIds ?? [])],
    stoppedWithin: figures?.stoppedWithin?.count ?? null,
    stoppedWithinCards: [...(figures?.stoppedWithin?.cardIds ?? [])],
  };
}
