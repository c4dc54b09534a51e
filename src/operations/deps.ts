// The dependencies of operations. operations.ts builds them once; the type of each operation names the ones it takes.
import type { MonthCalendar } from '../domain/cards/month-calendar.ts';
import type { GatewayFacts } from '../domain/limits/rate-limit.ts';
import type { FleetHealth } from '../health/fleet-health.ts';
import type { Clock } from '../platform/clock.ts';
import type { LiveStore } from '../store/ports/live/live-store.ts';
import type { RecordStore } from '../store/ports/records/record-store.ts';
import type { Audit } from './audit.ts';

/** Open triggers of a task type: each may be the whole fleet, so a small number of them is work for hours. */
export const MAX_OPEN_CONDITION_TRIGGERS = 10;

/** Limits for the objects that callers can create. */
export interface OperationLimits {
  readonly maxOpenTriggers: number;
  /** For each task type. */
  readonly maxOpenConditionTriggers: number;
  readonly maxAlertRules: number;
}

export interface OperationDeps extends Pick<GatewayFacts, 'rateLimits' | 'offers'> {
  readonly limits: OperationLimits;
  /** Absolute path of the directory of this process's logs; null: standard output. */
  readonly logDir: string | null;
  readonly version: string;
  readonly health: FleetHealth;
  readonly live: LiveStore;
  readonly records: RecordStore;
  readonly audit: Audit;
  readonly clock: Clock;
  /** In the configured time zone. */
  readonly calendar: MonthCalendar;
}
