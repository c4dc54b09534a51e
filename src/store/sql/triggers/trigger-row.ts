// The row of a manual trigger as triggers.ts reads it, and what it stands for.
import type { ManualTrigger, TriggerKind, TriggerStatus } from '../../../domain/manual-trigger.ts';
import type { TaskType } from '../../../domain/task-type.ts';

export interface TriggerRow {
  readonly trigger_id: string;
  readonly kind: TriggerKind;
  readonly task_type: TaskType;
  readonly status: TriggerStatus;
  readonly carrier_id: number | null;
  readonly card_status: number | null;
  readonly total: number;
  readonly total_estimated: boolean;
  readonly succeeded: number;
  readonly failed: number;
  readonly created_at_ms: number;
  readonly finished_at_ms: number | null;
}

export function toTrigger(row: TriggerRow): ManualTrigger {
  return {
    triggerId: row.trigger_id,
    kind: row.kind,
    taskType: row.task_type,
    status: row.status,
    selection: row.kind === 'by_condition' ? { carrierId: row.carrier_id, status: row.card_status } : null,
    total: row.total,
    totalEstimated: row.total_estimated,
    succeeded: row.succeeded,
    failed: row.failed,
    createdAtMs: row.created_at_ms,
    finishedAtMs: row.finished_at_ms,
  };
}
