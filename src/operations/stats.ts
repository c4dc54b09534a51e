// The numbers of the fleet: overview, queues, tasks, initialisation. Used by the admin API and, through it, by the
// command line. Reads the stores; the arithmetic of one task type is task-stats.ts, of initialisation init-report.ts.
import { type Health, worst } from '../domain/health.ts';
import type { Clock } from '../platform/clock.ts';
import type { LiveStore, WorkerInfo } from '../store/live-store.ts';
import type { CardTotal } from './card-total.ts';
import type { ConcurrencyOperations } from './concurrency.ts';
import { type InitReport, initReportOf } from './init-report.ts';
import { type QueueStats, queueStatsOf, type TaskStats, taskStatsOf } from './task-stats.ts';

export interface WorkerReport {
  readonly workerId: string;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  readonly roles: readonly string[];
  readonly startedAt: Date;
  readonly heartbeatAt: Date;
  readonly inFlight: number;
  readonly cacheHits: number;
  readonly cacheMisses: number;
  /** 0 to 1; null before the first look-up. */
  readonly cacheHitRatio: number | null;
}

export interface Overview {
  readonly generatedAt: Date;
  /** Version of the instance that answers. */
  readonly version: string;
  /** The worst task type; `alert` when initialisation is stuck. */
  readonly health: Health;
  readonly cardsTotal: number;
  readonly tasks: readonly TaskStats[];
  readonly init: InitReport;
  /** Live instances. */
  readonly workers: readonly WorkerReport[];
}

export interface StatsDependencies {
  readonly live: LiveStore;
  readonly concurrency: ConcurrencyOperations;
  readonly cardTotal: CardTotal;
  readonly clock: Clock;
  readonly version: string;
}

/** All methods throw `unavailable` when a store they need does not answer. */
export class StatsOperations {
  constructor(private readonly deps: StatsDependencies) {}

  async overview(): Promise<Overview> {
    const { clock, live } = this.deps;
    const [tasks, progress, workers] = await Promise.all([
      this.tasks(),
      live.coordination.initProgress(),
      live.coordination.workers(),
    ]);
    const init = initReportOf(progress, clock.now());
    return {
      generatedAt: new Date(clock.now()),
      version: this.deps.version,
      health: worst([...tasks.map((task) => task.health), init.status === 'stuck' ? 'alert' : 'normal']),
      cardsTotal: await this.deps.cardTotal.read(progress.total),
      tasks,
      init,
      workers: workers.map(workerReportOf),
    };
  }

  async queues(): Promise<QueueStats[]> {
    const [counts, rings] = await Promise.all([this.deps.concurrency.counts(), this.deps.live.rings.list()]);
    return counts.map((one) => queueStatsOf(one, rings, this.deps.clock.now()));
  }

  async tasks(): Promise<TaskStats[]> {
    const queues = await this.queues();
    return Promise.all(
      queues.map(async (queue) => taskStatsOf(queue, await this.deps.live.stats.read(queue.taskType))),
    );
  }

  async initProgress(): Promise<InitReport> {
    return initReportOf(await this.deps.live.coordination.initProgress(), this.deps.clock.now());
  }
}

function workerReportOf(worker: WorkerInfo): WorkerReport {
  const { startedAtMs, heartbeatAtMs, ...rest } = worker;
  const lookUps = worker.cacheHits + worker.cacheMisses;
  return {
    ...rest,
    startedAt: new Date(startedAtMs),
    heartbeatAt: new Date(heartbeatAtMs),
    cacheHitRatio: lookUps === 0 ? null : Math.round((10_000 * worker.cacheHits) / lookUps) / 10_000,
  };
}
