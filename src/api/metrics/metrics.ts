// Prometheus metrics: the numbers of polling-stats in base units (seconds, bytes, ratios), and those of this process. Used by
// routes/probes.ts. operations/ defines the numbers; labels have few values, never a card or an instance, whose name changes with
// every start.
//
// Every instance reports the numbers of the whole fleet, read from the shared stores: use their max, not their sum.
// `#instance` and own-numbers.ts add the instance's own.
import { Registry } from 'prom-client';
import { levelOf } from '../../domain/alerts/alert-cause.ts';
import { PAUSE_SOURCES } from '../../domain/limits/operator-limits.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import { reasonsOf } from '../../health/verdicts.ts';
import type { Operations } from '../../operations/operations.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { InitState } from '../../resources/schedule.ts';
import type { Overview, TaskFailures, TaskStats } from '../../resources/stats.ts';
import { type Instruments, Page } from './instruments.ts';
import { addAlerts, addCleanup, addStops } from './metrics-upkeep.ts';
import { type InstanceState, OwnNumbers } from './own-numbers.ts';

interface MetricsSources extends Pick<Operations, 'stats' | 'init' | 'history' | 'alertHistory' | 'cleanup'> {
  readonly instance: () => InstanceState;
  readonly instruments: Instruments;
  readonly version: string;
}

const INIT_STATUSES = ['pending', 'running', 'completed', 'stuck'] as const;
const BREAKER_STATES = ['open', 'half_open'] as const;

export class Metrics {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #own: OwnNumbers;

  constructor(private readonly sources: MetricsSources) {
    this.#own = new OwnNumbers(sources.instance, sources.instruments);
  }

  /** The exposition text. While a store is down the fleet's numbers are absent and cardpoll_stores_up is 0. */
  async text(): Promise<string> {
    const fleet = await readFleet(this.sources);
    const parts = [this.#instance(fleet !== null)];
    if (fleet !== null) parts.push(fleetMetrics(fleet));
    return (await Promise.all([this.#own.text(), ...parts.map((registry) => registry.metrics())])).join('\n');
  }

  #instance(storesUp: boolean): Registry {
    const page = new Page();
    page
      .gauge('build_info', 'Version of this instance', ['version'])
      .set({ version: this.sources.version }, 1);
    page.gauge('stores_up', '1 while the shared stores answer this instance').set(storesUp ? 1 : 0);
    return page.registry;
  }
}

/** The numbers that all instances share; null while a store is down. */
async function readFleet({ stats, init, history, alertHistory, cleanup: cleanups }: MetricsSources) {
  try {
    const [overview, { reconciliation }, failures, alerts, retention, cleanup] = await Promise.all([
      stats.overview(),
      init.progress(),
      history.failures(),
      alertHistory.counts(),
      cleanups.configs(),
      cleanups.progress(),
    ]);
    return { overview, reconciliation, failures, alerts, retention, cleanup };
  } catch (error) {
    if (error instanceof CardpollError && error.kind === 'unavailable') return null;
    throw error;
  }
}

type Fleet = NonNullable<Awaited<ReturnType<typeof readFleet>>>;

/** Gauges of each task type: name, help, and value; null leaves the gauge out. */
const TASK_GAUGES: Record<string, readonly [help: string, read: (task: TaskStats) => number | null]> = {
  queue_length: ['Cards due and running', (task) => task.queueLength],
  queue_backoff: [
    'Cards that wait for a retry, or until a limit per card allows their poll',
    (task) => task.backoff,
  ],
  queue_due: ['Cards that are due and not polled yet', (task) => task.due],
  manual_length: ['Manually triggered cards that wait', (task) => task.manualLength],
  scheduled_cards: [
    'Cards that the polling configs select, disabled configs included',
    (task) => task.scheduledCards,
  ],
  schedule_lag_seconds: [
    'How long the first card that waits has been due',
    (task) => task.scheduleLagSeconds,
  ],
  interval_seconds: [
    'Configured interval of the polling config that is most behind',
    (task) => task.intervalSeconds,
  ],
  interval_achieved_seconds: [
    'Interval at which the cards of that config are really polled',
    (task) => task.achievedIntervalSeconds,
  ],
  demand_polls_per_second: ['Polls per second that the enabled configs need', (task) => task.demandPerSecond],
  capacity_polls_per_second: [
    'Polls per second that the limit in force and the rate limits allow',
    (task) => task.capacity.capacityPerSecond,
  ],
  in_flight: ['Gateway calls in flight', (task) => task.inFlight],
  concurrency_limit: ['Configured limit of gateway calls in flight', (task) => task.concurrency.max],
  concurrency_effective: [
    'Limit of gateway calls in flight that is in force',
    (task) => task.effectiveConcurrency,
  ],
  concurrency_usage_ratio: [
    'Share of the configured limit in use',
    (task) => task.concurrency.usagePercent / 100,
  ],
  poll_success_ratio: [
    'Share of the polls of the last five minutes, without held ones, that succeeded',
    (task) => scaled(task.successRate, 1 / 100),
  ],
  demand_polled_ratio: [
    'Share of the due polls that succeeded in the last ten to twenty seconds',
    (task) => scaled(task.polledPercent, 1 / 100),
  ],
  poll_duration_mean_seconds: [
    'Mean duration of the polls of the last five minutes',
    (task) => scaled(task.avgDurationMs, 1 / 1000),
  ],
};

function fleetMetrics({ overview, reconciliation, failures, alerts, retention, cleanup }: Fleet): Registry {
  const page = new Page();
  for (const [name, [help, read]] of Object.entries(TASK_GAUGES)) {
    const gauge = page.gauge(name, help, ['task_type']);
    for (const task of overview.tasks) {
      const value = read(task);
      if (value !== null) gauge.set({ task_type: task.taskType }, value);
    }
  }
  const skipped = page.counter('skipped_revolutions_total', 'Polling cycles that were skipped', [
    'task_type',
  ]);
  for (const task of overview.tasks) skipped.inc({ task_type: task.taskType }, task.skippedRevolutions);
  page.summary(
    'fleet_poll_duration_seconds',
    'Duration of all polls of the fleet; the quantiles are of the last five minutes',
    overview.tasks.map(({ taskType, p50Ms, p95Ms, durationMs, total }) => ({
      labels: { task_type: taskType },
      quantiles: { 0.5: scaled(p50Ms, 1 / 1000), 0.95: scaled(p95Ms, 1 / 1000) },
      sum: durationMs / 1000,
      count: total,
    })),
  );
  const polls = page.counter('polls_total', 'Polls since counting began', ['task_type', 'result']);
  for (const { taskType, succeeded, failed } of overview.tasks) {
    polls.inc({ task_type: taskType, result: 'succeeded' }, succeeded);
    polls.inc({ task_type: taskType, result: 'failed' }, failed);
  }
  addHealth(page, overview);
  page.gauge('cards', 'Cards in the database').set(overview.cardsTotal);
  addRestraints(page, overview);
  page.gauge('workers', 'Live instances').set(overview.workers.length);
  addStops(page, overview);
  addInit(page, overview);
  addRepairs(page, reconciliation);
  addAlerts(page, alerts);
  addCleanup(page, retention, cleanup);
  addFailures(page, failures);
  return page.registry;
}

/** The level that alert rules of type `health` watch. */
function addHealth(page: Page, { healthReasons }: Overview): void {
  const level = page.gauge('health_level', '0 normal, 1 warning, 2 alert', ['task_type']);
  for (const taskType of TASK_TYPES) {
    level.set({ task_type: taskType }, levelOf(reasonsOf(taskType, healthReasons), []));
  }
}

function addFailures(page: Page, failures: readonly TaskFailures[]): void {
  const cards = page.gauge('failing_cards', 'Cards whose last scheduled poll failed', ['task_type']);
  const recent = page.gauge('recent_failures', 'Polls of the last five minutes that failed', [
    'task_type',
    'reason',
  ]);
  for (const { taskType, failingCards, reasons } of failures) {
    cards.set({ task_type: taskType }, failingCards);
    for (const { reason, count } of reasons) recent.set({ task_type: taskType, reason }, count);
  }
}

/** Breakers and pauses, which hold polling back. */
function addRestraints(page: Page, { gateway, pauses, generatedAt }: Overview): void {
  const breaker = page.gauge('breaker_instances', 'Instances whose breaker holds calls back', [
    'interface',
    'state',
  ]);
  for (const { interface: name, breaker: state, instances } of gateway.interfaces) {
    for (const one of BREAKER_STATES)
      breaker.set({ interface: name, state: one }, one === state ? instances : 0);
  }
  const pause = page.gauge('pause_seconds', 'Remaining time of a pause of polling', ['task_type', 'source']);
  for (const taskType of TASK_TYPES) {
    for (const source of PAUSE_SOURCES) pause.set({ task_type: taskType, source }, 0);
  }
  for (const { taskType, source, until } of pauses) {
    pause.set({ task_type: taskType, source }, Math.max(0, (until.getTime() - generatedAt.getTime()) / 1000));
  }
}

function addRepairs(
  page: Page,
  { healedMissing, healedForeign, healedDouble }: InitState['reconciliation'],
): void {
  const repairs = page.counter('ring_repairs_total', 'Cards whose place in the schedule was repaired', [
    'kind',
  ]);
  repairs.inc({ kind: 'missing' }, healedMissing);
  repairs.inc({ kind: 'foreign' }, healedForeign);
  repairs.inc({ kind: 'double' }, healedDouble);
}

function addInit(page: Page, { init }: Overview): void {
  const status = page.gauge('init_status', '1 for the present status of the initialisation', ['status']);
  for (const one of INIT_STATUSES) status.set({ status: one }, one === init.status ? 1 : 0);
  page.gauge('init_progress_ratio', 'Share of the cards that are loaded').set(init.percent / 100);
  page.gauge('init_cards', 'Cards to load').set(init.total);
  page.gauge('init_loaded_cards', 'Cards loaded').set(init.loaded);
}

function scaled(value: number | null, factor: number): number | null {
  return value === null ? null : value * factor;
}
