// The type of a health reason. domain/reasons.ts has its codes. Used by everything in this folder, and by all code that shows
// reasons. Pure.
import type { AlertCause } from '../domain/alerts/alert-cause.ts';
import type { ReasonCode } from '../domain/reasons.ts';
import type { TaskType } from '../domain/task-type.ts';

/** docs/contract.md, "Health"; resources/health.ts documents the fields. */
export interface HealthReason extends AlertCause {
  readonly code: ReasonCode;
  readonly taskType: TaskType | null;
  readonly since: Date | null;
  readonly causedBy: ReasonCode | null;
}

/** A reason before its task type and its start are added. */
export interface Cause extends Omit<HealthReason, 'taskType' | 'since' | 'causedBy'> {
  /** When it began, epoch milliseconds, if a record has it; otherwise the health log gives its start. */
  readonly sinceMs?: number;
}
