// Manual triggers as a table. Used by the trigger commands and the dashboard. Shows the API's values.
import type { TriggerBody } from '../../resources/triggers.ts';
import type { Colour } from '../style.ts';
import type { ColumnsOf } from '../table.ts';

export const TRIGGER_COLOURS: Partial<Record<TriggerBody['status'], Colour>> = {
  completed: 'green',
  cancelled: 'yellow',
};

export const triggerColumns: ColumnsOf<TriggerBody> = (style) => [
  { header: 'TRIGGER', cell: (row) => style.text(row.trigger_id), least: 16 },
  { header: 'KIND', cell: (row) => style.text(row.kind), drop: 2 },
  { header: 'TASK', cell: (row) => style.text(row.task_type), drop: 6 },
  { header: 'STATUS', cell: (row) => style.text(row.status, TRIGGER_COLOURS[row.status]) },
  { header: 'TOTAL', cell: (row) => style.estimate(row.total, row.total_estimated), drop: 7 },
  { header: 'WAITING', cell: (row) => style.number(row.waiting), drop: 3 },
  { header: 'SUCCEEDED', cell: (row) => style.number(row.succeeded), drop: 4 },
  { header: 'FAILED', cell: (row) => style.failures(row.failed), drop: 8 },
  { header: 'CREATED', cell: (row) => style.time(row.created_at), drop: 5 },
  { header: 'FINISHED', cell: (row) => style.time(row.finished_at), drop: 1 },
];
