// What health finds wrong: its codes, and how a reason looks. Used by everything in this folder, and by all that shows reasons. Pure.
import type { AlertCause } from '../domain/alerts/alert-cause.ts';
import { METRICS } from '../domain/health.ts';
import type { TaskType } from '../domain/task-type.ts';

/** Each has a section in docs/runbook.md. */
export const REASON_CODES = [
  ...METRICS,
  'not_in_force',
  'paused',
  'breaker_open',
  'nothing_polled',
  'gateway_slow',
  'polls_held',
  'interval_missed',
  'limit_reduced',
  'overloaded',
  'pace_short',
  'stop_unconfirmed',
  'over_running',
  'stopped_within',
  'cards_unselected',
  'counters_in_doubt',
  'stop_surge',
  'stops_held',
  'usage_jump',
  'implausible_readings',
  'readings_dead',
  'own_cpu',
  'redis_slow',
  'database_slow',
  'instance_cut_off',
  'instance_gone',
  'carrier_failing',
  'certificate_expires',
  'no_worker',
  'no_scheduler',
  'database_outage',
  'init_stuck',
  'clocks_differ',
  'instance_clocks_differ',
  'time_zones_differ',
  'stop_modes_differ',
  'reload_failed',
  'logs_not_written',
  'part_failing',
  'put_back',
] as const;

export type ReasonCode = (typeof REASON_CODES)[number];

/** docs/contract.md, "Health"; operations/stats/health-report.ts says what each field means. */
export interface HealthReason extends AlertCause {
  readonly code: ReasonCode;
  readonly taskType: TaskType | null;
  readonly since: Date | null;
  readonly causedBy: ReasonCode | null;
}

/** A reason before its task type and its start are added. */
export interface Cause extends Omit<HealthReason, 'taskType' | 'since' | 'causedBy'> {
  /** When it began, epoch milliseconds, where a record says so; otherwise its start is read from the health log. */
  readonly sinceMs?: number;
}
