// The row of a manual trigger as triggers.ts reads it, and what it stands for.
import type { ManualTrigger } from '../../../domain/manual-trigger.ts';

export type TriggerRow = Omit<ManualTrigger, 'selection'> & {
  readonly carrierId: number | null;
  readonly cardStatus: number | null;
};

export function toTrigger(row: TriggerRow): ManualTrigger {
  const { triggerId, kind, taskType, status, carrierId, cardStatus, ...progress } = row;
  const selection = kind === 'by_condition' ? { carrierId, status: cardStatus } : null;
  return { triggerId, kind, taskType, status, selection, ...progress };
}
