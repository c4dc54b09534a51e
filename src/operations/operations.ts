// All queries and actions of an operator, built once over the two stores. Opened by wiring; the admin API exposes them. Opens no
// connections and needs no closing.
import { MonthCalendar } from '../domain/cards/month-calendar.ts';
import type { CardsPerCall } from '../domain/gateway-interface.ts';
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
import type { OperationDeps, OperationLimits } from './deps.ts';
import { Explainer } from './explain/explainer.ts';
import { ConcurrencyOperations } from './limits/concurrency.ts';
import { MaintenanceOperations } from './limits/maintenance.ts';
import { PauseOperations } from './limits/pauses.ts';
import { PlanOperations } from './plan/plans.ts';
import { ConfigOperations } from './schedule/configs.ts';
import { InitOperations } from './schedule/init.ts';
import { ShiftOperations } from './shift/shift.ts';
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
  extends Pick<OperationDeps, 'health' | 'live' | 'records' | 'clock' | 'offers' | 'version'>,
    Partial<Pick<OperationDeps, 'rateLimits' | 'logDir'>> {
  /** The records over the connections that requests may use; absent: all. Entries of the audit trail use the others. */
  readonly bounded?: RecordStore;
  /** Default: one. */
  readonly cardsPerCall?: CardsPerCall;
  /** gateway.max_concurrency; null or absent: no ceiling. */
  readonly maxConcurrency?: number | null;
  /** IANA name of the time zone for the calendar months of usage. */
  readonly timeZone: string;
  readonly stops: StopSettings;
  /** The setting; default: off. */
  readonly resumeAtMonthStart?: boolean;
  /** Decides which addresses webhooks may be sent to. */
  readonly guard: SsrfGuard;
  readonly tester: WebhookTester;
  /** The log that gets a line for every change. */
  readonly auditLog: AuditDependencies['log'];
  readonly limits?: OperationLimits;
  /** If false, the number of cards is the planner's estimate. Instances without the API do not count cards: there are many. */
  readonly exactTotals?: boolean;
}

export function openOperations(options: OperationsOptions) {
  const { live, clock, health, offers, version, stops, guard, tester } = options;
  const { rateLimits = [], logDir = null, limits = NO_LIMITS, exactTotals = true } = options;
  const records = options.bounded ?? options.records;
  const calendar = new MonthCalendar(options.timeZone);
  const estimate = () => records.cards.estimate();
  const count = exactTotals ? () => records.cards.count() : estimate;
  const cardTotal = new CardTotal({ count, estimate }, clock);
  const { records: all, auditLog: log } = options;
  const audit = new Audit({ records: all, read: records, clock, calendar, log });
  const concurrency = new ConcurrencyOperations({ live, records, audit });
  const pauses = new PauseOperations({ live, records, audit });
  const cards = new CardOperations({ live, records, audit, clock, calendar, cardTotal });
  const configs = new ConfigOperations({ live, records, audit, rateLimits, offers });
  const alerts = new AlertOperations({ records, audit, limits, guard, tester });
  const cleanup = new CleanupOperations({ live, records, audit, clock, calendar });
  const stopOperations = new StopOperations({ records, audit, offers, clock, calendar, stops });
  return {
    audit,
    concurrency,
    stats: new StatsOperations({
      ...{ health, live, records, calendar, clock, offers, version, cardTotal },
      resumeAtMonthStart: options.resumeAtMonthStart ?? false,
    }),
    history: new HistoryOperations({ live }),
    shift: new ShiftOperations({ live, records, health, calendar, stops }),
    plan: new PlanOperations({
      ...{ health, live, records, offers, rateLimits, cardTotal },
      cardsPerCall: options.cardsPerCall ?? (() => 1),
      maxConcurrency: options.maxConcurrency ?? null,
    }),
    pauses,
    maintenance: new MaintenanceOperations({ live, records, audit }),
    configs,
    init: new InitOperations({ live, audit, health }),
    triggers: new TriggerOperations({ live, records, audit, offers, limits }),
    alerts,
    alertHistory: new AlertHistoryOperations({ records, audit }),
    silences: new SilenceOperations({ records, audit, clock }),
    cards,
    stops: stopOperations,
    resumes: new ResumeOperations({ live, records, audit, offers, calendar, clock }),
    explainer: new Explainer({ health, live, records, offers, rateLimits, logDir, cards, pauses }),
    cleanup,
    undo: new UndoOperations({
      records,
      configs,
      concurrency,
      alerts,
      cleanup,
      pauses,
      stops: stopOperations,
      clock,
    }),
  };
}
