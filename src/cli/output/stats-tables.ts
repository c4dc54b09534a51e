// Statistics as tables. Used by the stats command. Shows what the API says; computes nothing.
import type { InitBody, InitStateBody, QueueBody, TaskBody } from '../../api/client.ts';
import type { Cell, Style } from './style.ts';
import { type Column, renderFields, renderTable } from './table.ts';

export function taskTable(tasks: readonly TaskBody[], style: Style): string {
  return renderTable(tasks, taskColumns(style), style);
}

export function queueTable(queues: readonly QueueBody[], style: Style): string {
  return renderTable(queues, queueColumns(style), style);
}

/** Initialisation with what reconciliation repaired. */
export function initStateFields(init: InitStateBody, style: Style): string {
  const { reconciliation: state } = init;
  const fields: [string, Cell][] = [
    ...initCells(init, style),
    [
      'comparison',
      style.text(state.requested_at === null ? state.reason : 'requested, waits for the leader'),
    ],
    ['last whole pass', style.time(state.swept_at)],
    ['missing cards repaired', style.number(state.healed_missing)],
    ['foreign cards repaired', style.number(state.healed_foreign)],
    ['double cards repaired', style.number(state.healed_double)],
  ];
  return renderFields(fields, style);
}

export function initFields(init: InitBody, style: Style): string {
  return renderFields(initCells(init, style), style);
}

function initCells(init: InitBody, style: Style): [string, Cell][] {
  return [
    ['status', style.text(init.status, init.status === 'stuck' ? 'red' : undefined)],
    ['reason', style.text(init.reason)],
    ['loaded', style.text(`${style.number(init.loaded).text} of ${style.number(init.total).text}`)],
    ['percent', style.text(init.percent)],
    ['batch', style.text(`${init.batch} of ${init.batches}`)],
    ['started', style.time(init.started_at)],
    ['updated', style.time(init.updated_at)],
    ['finished', style.time(init.finished_at)],
    ['time left', style.seconds(init.eta_seconds)],
  ];
}

function queueColumns(style: Style): Column<QueueBody>[] {
  return [
    { header: 'TASK', cell: (queue) => style.text(queue.task_type) },
    { header: 'QUEUE', cell: (queue) => style.number(queue.queue_length) },
    { header: 'DUE', cell: (queue) => style.number(queue.due) },
    { header: 'MANUAL', cell: (queue) => style.number(queue.manual_length) },
    { header: 'RUNNING', cell: (queue) => style.number(queue.concurrency.current) },
    { header: 'LIMIT', cell: (queue) => style.number(queue.concurrency.max) },
    { header: 'SCHEDULED', cell: (queue) => style.number(queue.scheduled_cards) },
    { header: 'LAG', cell: (queue) => style.seconds(queue.schedule_lag_seconds) },
    { header: 'BACKOFF', cell: (queue) => style.number(queue.backoff) },
  ];
}

function taskColumns(style: Style): Column<TaskBody>[] {
  return [
    { header: 'TASK', cell: (task) => style.text(task.task_type) },
    { header: 'HEALTH', cell: (task) => style.health(task.health) },
    { header: 'QUEUE', cell: (task) => style.number(task.queue_length) },
    { header: 'RUNNING', cell: (task) => style.number(task.concurrency.current) },
    { header: 'LIMIT', cell: (task) => style.number(task.concurrency.max) },
    { header: 'RATE/S', cell: (task) => style.number(task.rate_per_second, 1) },
    { header: 'SUCCESS %', cell: (task) => style.number(task.success_rate, 1) },
    { header: 'AVG MS', cell: (task) => style.number(task.avg_duration_ms) },
    { header: 'SUCCEEDED', cell: (task) => style.number(task.succeeded) },
    { header: 'FAILED', cell: (task) => style.number(task.failed) },
    { header: 'LAG', cell: (task) => style.seconds(task.schedule_lag_seconds) },
  ];
}
