// Counters and timers of this instance since its start: requests, polls, gateway calls, webhooks, changes. Opened by wiring,
// which passes it to the reporting parts; own-numbers.ts shows it. Series with few labels exist from the start, at zero.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { INTERFACE_NAMES } from '../../domain/gateway-interface.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import {
  LANES,
  type Meter,
  RESULTS,
  type Result,
  VERDICTS,
  WEBHOOK_OUTCOMES,
  type WebhookOutcome,
} from '../../platform/meter.ts';
import { PlainHistogram } from './plain-histogram.ts';
import { type StoredSeries, StoredSummary } from './stored-summary.ts';

type Observe = ReturnType<PlainHistogram['series']>;

export const PREFIX = 'cardpoll_';
/** Includes the thresholds of the operations interface (0.5 and 2 s), and the scale of its concurrency table. */
const CALL_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30];
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** From one tick of the scheduler to hours of backlog. */
const LATE_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
const REFUSAL_REASONS = [
  'connection_limit',
  'malformed',
  'header_timeout',
  'body_timeout',
  'unauthenticated',
  'refusal_limit',
  'rate_limit',
  'bulkhead',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Labels of requests for unknown paths, whose methods and paths the sender chooses freely. */
const NOWHERE = { method: 'other', route: 'none' };

export class Instruments implements Meter {
  readonly registry = new Registry();
  readonly #requests = new Counter({
    name: `${PREFIX}http_requests_total`,
    help: 'Requests that this instance answered, by route and status',
    labelNames: ['method', 'route', 'status'],
    registers: [this.registry],
  });
  readonly #requestSeconds = new Histogram({
    name: `${PREFIX}http_request_duration_seconds`,
    help: 'How long this instance took to answer, by route',
    labelNames: ['method', 'route'],
    buckets: REQUEST_SECONDS,
    registers: [this.registry],
  });
  readonly #refused = new Counter({
    name: `${PREFIX}http_refused_total`,
    help: 'Connections and requests that this instance refused',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  readonly #claims = new Counter({
    name: `${PREFIX}claims_total`,
    help: 'Work this instance claimed',
    labelNames: ['task_type', 'lane'],
    registers: [this.registry],
  });
  readonly #settlements = new Counter({
    name: `${PREFIX}settlements_total`,
    help: 'Work this instance settled',
    labelNames: ['task_type', 'verdict'],
    registers: [this.registry],
  });
  readonly #fenced = new Counter({
    name: `${PREFIX}fenced_total`,
    help: 'Results of this instance that came after their lease was over',
    labelNames: ['task_type'],
    registers: [this.registry],
  });
  readonly #lateSeconds = new PlainHistogram(
    `${PREFIX}poll_lateness_seconds`,
    'How long scheduled cards had been due when this instance took them to be polled',
    LATE_SECONDS,
    this.registry,
  );
  readonly #pollSeconds = new PlainHistogram(
    `${PREFIX}poll_duration_seconds`,
    'Duration of the polls of this instance, with all their gateway calls',
    CALL_SECONDS,
    this.registry,
  );
  readonly #callSeconds = new PlainHistogram(
    `${PREFIX}gateway_call_duration_seconds`,
    'Duration of the gateway calls of this instance',
    CALL_SECONDS,
    this.registry,
  );
  /** By task type. */
  readonly #late = new Map<string, Observe>();
  /** By result, then by task type or interface. */
  readonly #polls = { succeeded: new Map<string, Observe>(), failed: new Map<string, Observe>() };
  readonly #calls = { succeeded: new Map<string, Observe>(), failed: new Map<string, Observe>() };
  readonly #webhooks = new Counter({
    name: `${PREFIX}webhook_attempts_total`,
    help: 'Attempts of this instance to deliver a webhook, by outcome',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  readonly #implausible = new Counter({
    name: `${PREFIX}implausible_readings_total`,
    help: 'Usage readings that were not counted, because no card can transfer that much in the time',
    registers: [this.registry],
  });

  readonly #changes = new Counter({
    name: `${PREFIX}audit_entries_total`,
    help: 'Audit trail entries that this instance wrote, by action',
    labelNames: ['action'],
    registers: [this.registry],
  });

  constructor() {
    for (const result of RESULTS) {
      for (const task_type of TASK_TYPES)
        this.#polls[result].set(task_type, this.#pollSeconds.series({ task_type, result }));
      for (const name of INTERFACE_NAMES)
        this.#calls[result].set(name, this.#callSeconds.series({ interface: name, result }));
    }
    for (const task_type of TASK_TYPES) {
      this.#late.set(task_type, this.#lateSeconds.series({ task_type }));
      this.claimed(task_type, { items: [], lateMs: [] });
      this.settled(task_type, [], 0);
    }
    for (const reason of REFUSAL_REASONS) this.#refused.inc({ reason }, 0);
    for (const outcome of WEBHOOK_OUTCOMES) this.#webhooks.inc({ outcome }, 0);
  }

  claimed(...[task_type, { items, lateMs }]: Parameters<Meter['claimed']>): void {
    for (const lane of LANES) {
      this.#claims.inc({ task_type, lane }, items.filter((item) => item.lane === lane).length);
    }
    for (const ms of lateMs) this.#late.get(task_type)?.(ms / 1000);
  }

  settled(...[task_type, work, fenced]: Parameters<Meter['settled']>): void {
    for (const verdict of VERDICTS) {
      this.#settlements.inc({ task_type, verdict }, work.filter((one) => one.verdict === verdict).length);
    }
    this.#fenced.inc({ task_type }, fenced);
  }

  poll(taskType: string, result: Result, durationMs: number): void {
    this.#polls[result].get(taskType)?.(durationMs / 1000);
  }

  gatewayCall(interfaceName: string, result: Result, durationMs: number): void {
    this.#calls[result].get(interfaceName)?.(durationMs / 1000);
  }

  webhookAttempt(outcome: WebhookOutcome): void {
    this.#webhooks.inc({ outcome });
  }

  implausibleReading(): void {
    this.#implausible.inc();
  }

  audited(action: string): void {
    this.#changes.inc({ action });
  }

  /** @param route its pattern, `/api/admin/cards/:card`; null: an unknown path. */
  request(method: string, route: string | null, status: number, durationMs: number): void {
    const labels = route === null ? NOWHERE : { method, route };
    this.#requests.inc({ ...labels, status });
    this.#requestSeconds.observe(labels, durationMs / 1000);
  }

  refused(reason: RefusalReason): void {
    this.#refused.inc({ reason });
  }
}

/** The metrics of one scrape: totals are set, not counted here, so every scrape starts from zero. */
export class Page {
  readonly registry = new Registry();

  gauge<Label extends string>(name: string, help: string, labelNames: readonly Label[] = []): Gauge<Label> {
    return new Gauge({ name: PREFIX + name, help, labelNames, registers: [this.registry] });
  }

  counter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Counter<Label> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.registry] });
  }

  summary(name: string, help: string, series: readonly StoredSeries[]): void {
    new StoredSummary(PREFIX + name, help, series, this.registry);
  }
}
