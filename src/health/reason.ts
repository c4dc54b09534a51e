// How a reason of health looks. domain/reasons.ts has its code. Used by everything in this folder, and by all that shows reasons. Pure.
import type { AlertCause } from '../domain/alerts/alert-cause.ts';
import type { ReasonCode } from '../domain/reasons.ts';
import type { TaskType } from '../domain/task-type.ts';

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
