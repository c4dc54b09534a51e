// Everything that an operator can ask or do, built once over the two stores. Opened by wiring; the admin API exposes
// it. Has no connection of its own and needs no closing.
import { MonthCalendar } from '../domain/cards/usage-month.ts';
import type { StopSettings } from '../domain/stops/stop.ts';
import type { WebhookTester } from '../engine/alerts/webhook-attempt.ts';
import type { SsrfGuard } from '../platform/ssrf-guard.ts';
import { AlertOperations } from './alerts/alerts.ts';
import { AlertHistoryOperations, SilenceOperations } from './alerts/on-call.ts';
import { Audit, type AuditDependencies } from './audit.ts';
import { CardTotal } from './cards/card-total.ts';
import { CardOperations } from './cards/cards.ts';
import { CleanupOperations } from './cleanup.ts';
import { Explainer } from './explain/explainer.ts';
import { ChangeWatch } from './health/change-watch.ts';
import { clockGapOf } from './health/fleet-faults.ts';
import { readStopFigures } from './health/stop-figures.ts';
import { ConcurrencyOperations } from './limits/concurrency.ts';
import { PauseOperations } from './limits/pauses.ts';
import type { OperationLimits, OperationMeans } from './means.ts';
import { PatientReading } from './patient-reading.ts';
import { ConfigOperations } from './schedule/configs.ts';
import { InitOperations } from './schedule/init.ts';
import { HistoryOperations } from './stats/history.ts';
import { StatsOperations } from './stats/stats.ts';
import { ResumeOperations } from './stops/resumes.ts';
import { StopOperations } from './stops/stops.ts';
import { TriggerOperations } from './triggers.ts';
import { UndoOperations } from './undo.ts';

export type Operations = Readonly<ReturnType<typeof openOperations>>;

const NO_LIMITS: OperationLimits = {
  maxOpenTriggers: Infinity,
  maxOpenConditionTriggers: Infinity,
  maxAlertRules: Infinity,
};

interface OperationsOptions
  extends Pick<OperationMeans, 'live' | 'records' | 'clock' | 'offers' | 'cardsPerCall'>,
    Partial<Pick<OperationMeans, 'rateLimits' | 'initPauseMs' | 'logDir'>> {
  /** Connections to the records that requests may use at a time; null: all. Entries of the audit trail use the others. */
  readonly connections?: number | null;
  /** IANA name of the time zone for the calendar months of usage. */
  readonly timeZone: string;
  readonly version: string;
  readonly stops: StopSettings;
  /** Decides which addresses webhooks may be sent to. */
  readonly guard: SsrfGuard;
  readonly tester: WebhookTester;
  /** The log that gets a line for every change. */
  readonly auditLog: AuditDependencies['log'];
  readonly limits?: OperationLimits;
  /**
   * If false, the number of cards is the planner's estimate. Instances without the API do not count: there are many.
   */
  readonly exactTotals?: boolean;
  /** Why the live store does not know this instance; absent: this process is none. */
  readonly silence?: () => string | null;
}

export function openOperations(options: OperationsOptions) {
  const { live, clock, connections = null, limits = NO_LIMITS, exactTotals = true } = options;
  const records = connections === null ? options.records : options.records.bounded(connections);
  const calendar = new MonthCalendar(options.timeZone);
  const estimate = () => records.cards.estimate();
  const count = exactTotals ? () => records.cards.count() : estimate;
  const cardTotal = new CardTotal({ count, estimate }, clock);
  const audit = new Audit({ ...options, read: records, calendar, log: options.auditLog });
  const defaults = { rateLimits: [], initPauseMs: 0, logDir: null, silence: () => null };
  const means = { ...defaults, ...options, limits, records, calendar, audit };
  const concurrency = new ConcurrencyOperations(means);
  const pauses = new PauseOperations(means);
  const common = { ...means, cardTotal, pauses, init: new InitOperations(means) };
  const cards = new CardOperations(common);
  const configs = new ConfigOperations(means);
  const alerts = new AlertOperations(means);
  const cleanup = new CleanupOperations(means);
  const undo = new UndoOperations({ ...means, configs, concurrency, alerts, cleanup, pauses });
  return {
    audit,
    concurrency,
    stats: new StatsOperations({
      ...common,
      concurrency,
      changes: new ChangeWatch({ ...means, undo }),
      stops: new PatientReading(() => readStopFigures(records, options.stops), clock),
      lockHolders: new PatientReading(() => records.lockHolders(), clock),
      clockGap: new PatientReading(() => clockGapOf(live, records), clock),
    }),
    history: new HistoryOperations(means),
    pauses,
    configs,
    init: common.init,
    triggers: new TriggerOperations(means),
    alerts,
    alertHistory: new AlertHistoryOperations(means),
    silences: new SilenceOperations(means),
    cards,
    stops: new StopOperations(means),
    resumes: new ResumeOperations(means),
    explainer: new Explainer({ ...common, cards }),
    cleanup,
    undo,
  };
}
