// Everything that an operator can ask or do, built once over the two stores. Opened by wiring; the admin API exposes
// it. Has no connection of its own and needs no closing.
import { MonthCalendar } from '../domain/cards/usage-month.ts';
import type { StopSettings } from '../domain/stops/stop.ts';
import type { WebhookTester } from '../engine/alerts/webhook-attempt.ts';
import type { SsrfGuard } from '../platform/ssrf-guard.ts';
import type { RecordStore } from '../store/ports/records/record-store.ts';
import { AlertOperations } from './alerts/alerts.ts';
import { AlertHistoryOperations, SilenceOperations } from './alerts/on-call.ts';
import { Audit, type AuditDependencies } from './audit.ts';
import { CardTotal } from './cards/card-total.ts';
import { CardOperations } from './cards/cards.ts';
import { CleanupOperations } from './cleanup.ts';
import { Explainer } from './explain/explainer.ts';
import { ConcurrencyOperations } from './limits/concurrency.ts';
import { PauseOperations } from './limits/pauses.ts';
import type { OperationLimits, OperationMeans } from './means.ts';
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
  extends Pick<
      OperationMeans,
      'health' | 'live' | 'records' | 'clock' | 'offers' | 'cardsPerCall' | 'version'
    >,
    Partial<Pick<OperationMeans, 'rateLimits' | 'logDir'>> {
  /** The records by the connections that requests may use; absent: all. Entries of the audit trail use the others. */
  readonly bounded?: RecordStore;
  /** IANA name of the time zone for the calendar months of usage. */
  readonly timeZone: string;
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
}

export function openOperations(options: OperationsOptions) {
  const { clock, limits = NO_LIMITS, exactTotals = true } = options;
  const records = options.bounded ?? options.records;
  const calendar = new MonthCalendar(options.timeZone);
  const estimate = () => records.cards.estimate();
  const count = exactTotals ? () => records.cards.count() : estimate;
  const cardTotal = new CardTotal({ count, estimate }, clock);
  const audit = new Audit({ ...options, read: records, calendar, log: options.auditLog });
  const defaults = { rateLimits: [], logDir: null };
  const means = { ...defaults, ...options, limits, records, calendar, audit };
  const concurrency = new ConcurrencyOperations(means);
  const pauses = new PauseOperations(means);
  const common = { ...means, cardTotal, pauses };
  const cards = new CardOperations(common);
  const configs = new ConfigOperations(means);
  const alerts = new AlertOperations(means);
  const cleanup = new CleanupOperations(means);
  const undo = new UndoOperations({ ...means, configs, concurrency, alerts, cleanup, pauses });
  return {
    audit,
    concurrency,
    stats: new StatsOperations(common),
    history: new HistoryOperations(means),
    pauses,
    configs,
    init: new InitOperations(means),
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
