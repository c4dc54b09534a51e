// Statistics as tables. Used by the stats command. Shows what the API says; computes nothing.
import type { InitBody, OverviewBody, QueueBody, TaskBody } from '../../api/client.ts';
import type { Cell, Style } from './style.ts';
import { type Column, renderFields, renderTable } from './table.ts';

/** On a terminal a heading and a table; behind a pipe the task lines alone. */
export function overviewTable(overview: OverviewBody, style: Style): string {
  const table = taskTable(overview.tasks, style);
  if (!style.forPeople) return table;
  const { init, workers } = overview;
  const health = style.health(overview.health);
  const eta = init.eta_seconds === null ? '' : `, ${style.seconds(init.eta_seconds).text} left`;
  const loaded = init.status === 'completed' ? 'completed' : `${init.status}, ${init.percent} %${eta}`;
  const facts = [
    style.paint(health.text, health.colour),
    `${style.number(overview.cards_total).text} cards`,
    `${style.number(workers.length).text} ${workers.length === 1 ? 'instance' : 'instances'}`,
    `initialisation ${loaded}`,
  ];
  return `${facts.join('   ')}\n\n${table}`;
}

export function taskTable(tasks: readonly TaskBody[], style: Style): string {
  return renderTable(tasks, taskColumns(style), style);
}

export function queueTable(queues: readonly QueueBody[], style: Style): string {
  return renderTable(queues, queueColumns(style), style);
}

export function initFields(init: InitBody, style: Style): string {
  const fields: [string, Cell][] = [
    ['status', style.text(init.status, init.status === 'stuck' ? 'red' : undefined)],
    ['loaded', style.text(`${style.number(init.loaded).text} of ${style.number(init.total).text}`)],
    ['percent', style.text(init.percent)],
    ['batch', style.text(`${init.batch} of ${init.batches}`)],
    ['started', style.time(init.started_at)],
    ['updated', style.time(init.updated_at)],
    ['finished', style.time(init.finished_at)],
    ['time left', style.seconds(init.eta_seconds)],
  ];
  return renderFields(fields, style);
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
