// Plans: reads the facts for a plan (plan.ts). Used by the admin API and, through it, by the command line.
import type { CardsPerCall } from '../../domain/gateway-interface.ts';
import { callLimitsOf, leastIntervalSeconds } from '../../domain/limits/rate-limit.ts';
import { sum } from '../../domain/numbers.ts';
import type { PollingConfig } from '../../domain/schedule/polling-config.ts';
import type { HistorySample } from '../../domain/stats/history.ts';
import { TASK_TYPES, TASKS, type TaskType } from '../../domain/task-type.ts';
import { nullIfUnavailable } from '../../platform/errors.ts';
import type { LiveServer } from '../../store/ports/live/live-store.ts';
import type { RingState } from '../../store/ports/live/rings.ts';
import type { CardTotal } from '../cards/card-total.ts';
import type { OperationDeps } from '../deps.ts';
import type { PlanFacts } from './plan.ts';

const HOUR_MS = 3_600_000;

interface PlanDeps extends Pick<OperationDeps, 'health' | 'live' | 'records' | 'offers' | 'rateLimits'> {
  readonly cardTotal: CardTotal;
  readonly cardsPerCall: CardsPerCall;
  /** gateway.max_concurrency; null: no ceiling. */
  readonly maxConcurrency: number | null;
}

export class PlanOperations {
  constructor(private readonly deps: PlanDeps) {}

  /** @throws CardpollError `unavailable` when a required store does not answer. */
  async facts(): Promise<PlanFacts> {
    const { health, live, records, offers, rateLimits } = this.deps;
    const { nowMs, tasks, instances, init, rateLimits: states } = await health.judge();
    const [configs, rings, samples, servers, database] = await Promise.all([
      records.configs.list(),
      live.rings.list(),
      live.history.read('minute', nowMs - HOUR_MS),
      nullIfUnavailable(live.servers()),
      nullIfUnavailable(records.server()),
    ]);
    const fullest = fullestOf(servers ?? []);
    return {
      atMs: nowMs,
      cards: await this.deps.cardTotal.read(init.total),
      tasks: tasks.map(({ taskType, metrics, usualMs, counts, reasons }) => ({
        taskType,
        offered: offers(TASKS[taskType].interface),
        configs: enabledOf(taskType, configs, rings),
        // While the gateway is slow, the usual duration counts, as for the advisor: an outage must not determine a limit.
        callMs: reasons.some(({ code }) => code === 'gateway_slow' || code === 'carrier_slow')
          ? null
          : metrics.now.callMs,
        usualMs,
        maxConcurrency: counts.maxConcurrency,
        effectiveConcurrency: counts.effectiveConcurrency,
        bestPerSecond: bestOf([taskType], samples, nowMs),
        leastIntervalSeconds: leastIntervalSeconds(rateLimits, TASKS[taskType].interface),
      })),
      // The limits in force; while no instance has requested any, the limits of this process.
      limits: states.length > 0 ? states : callLimitsOf(rateLimits),
      cardsPerCall: this.deps.cardsPerCall,
      ceiling: this.deps.maxConcurrency,
      redis: {
        servers: servers?.length ?? 0,
        usedBytes: fullest?.usedBytes ?? null,
        limitBytes: fullest?.limitBytes ?? null,
      },
      databaseBytes: database?.databaseBytes ?? null,
      workers: instances
        .filter(({ roles }) => roles.includes('worker'))
        .map(({ ownSide }) => ({ cpuPercent: ownSide?.cpuPercent ?? null })),
      bestPerSecond: bestOf(TASK_TYPES, samples, nowMs),
      polledPerSecond: sum(tasks.map(({ metrics, stats }) => metrics.polls / stats.window.seconds)),
    };
  }
}

/** A ring holds all its cards only once it is loaded, and not being built again. */
function enabledOf(
  taskType: TaskType,
  configs: readonly PollingConfig[],
  rings: readonly RingState[],
): PlanFacts['tasks'][number]['configs'] {
  return configs
    .filter((config) => config.taskType === taskType && config.status === 1)
    .map(({ id, intervalSeconds }) => {
      const ring = rings.find((one) => one.configId === id && one.taskType === taskType);
      const isBuilt = ring?.loaded === true && ring.building === null;
      return { id, intervalSeconds, members: isBuilt ? ring.members : null };
    });
}

/** The best pace of these types together. A sample of the future dates from before the clock was set back. */
function bestOf(types: readonly TaskType[], samples: readonly HistorySample[], nowMs: number): number | null {
  const rates = samples.flatMap(({ atMs, tasks }) => {
    const succeeded = types.flatMap((taskType) => {
      const { ratePerSecond, failedPerSecond } = tasks[taskType];
      return ratePerSecond === null ? [] : ratePerSecond - (failedPerSecond ?? 0);
    });
    return atMs > nowMs || succeeded.length === 0 ? [] : sum(succeeded);
  });
  return rates.length === 0 ? null : Math.max(...rates);
}

function fullestOf(servers: readonly LiveServer[]): LiveServer | undefined {
  const share = ({ usedBytes, limitBytes }: LiveServer) => (usedBytes ?? 0) / (limitBytes || Infinity);
  return [...servers].sort((a, b) => share(b) - share(a))[0];
}
