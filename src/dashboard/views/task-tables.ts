// The task types as two tables: their pace and their queues. Used by the overview.
import type { HistoryBody, TaskBody } from '../../api/client/client-bodies.ts';
import type { TaskType } from '../../domain/task-type.ts';
import { gauge, sparkline } from '../charts.ts';
import { count, healthSpan, measure, percent, seconds } from '../format.ts';
import { type Line, type Span, type SpanColumn, span, type Tone, tableLines } from '../layout.ts';
import { minutesOf, seriesOf } from '../series.ts';

interface TaskTables {
  readonly tasks: readonly TaskBody[];
  readonly history: HistoryBody | null;
  readonly nowMs: number;
  readonly picked: TaskType;
  readonly columns: number;
}

/** Rates, success, durations, and how full the limit is. @param short adds what is due, where there is no second table. */
export function paceTable({ tasks, history, nowMs, picked, columns }: TaskTables, short: boolean): Line[] {
  const sparkColumns = columns < 80 ? 7 : Math.max(10, Math.min(60, columns - 80));
  const gaugeColumns = columns < 80 ? 4 : columns < 120 ? 6 : 12;
  const wanted: SpanColumn<TaskBody>[] = [
    { header: '  TASK', cell: taskCell },
    { header: 'HEALTH', cell: healthCell, drop: 1 },
    { header: 'POLLS/S', cell: (task) => span(measure(task.rate_per_second_10s)), align: 'right' },
    {
      header: `${minutesOf(history, nowMs)} MIN`,
      cell: ({ task_type }) =>
        span(sparkline(seriesOf(history, task_type, 'rate_per_second', nowMs), sparkColumns), 'accent'),
      drop: 3,
    },
    { header: 'OK %', cell: ({ success_rate_10s }) => span(percent(success_rate_10s)), align: 'right' },
    { header: 'P50/P95 MS', cell: (task) => span(durations(task)), align: 'right', drop: 2 },
    {
      header: 'RUNNING OF LIMIT',
      cell: (task) => limitCells(task, gaugeColumns, runningOf(task, history, nowMs)),
    },
    ...(short ? [dueColumn, lagColumn] : []),
  ];
  return tableLines(tasks, wanted, { columns, rows: 1 + tasks.length, selected: indexOf(tasks, picked) });
}

/** What waits, how late it is, and how often a card is polled. */
export function queueTable({ tasks, picked, columns }: TaskTables): Line[] {
  const wanted: SpanColumn<TaskBody>[] = [
    { header: '  TASK', cell: taskCell },
    dueColumn,
    { header: 'RUNNING', cell: ({ in_flight }) => span(count(in_flight)), align: 'right' },
    {
      header: 'BACKOFF',
      cell: ({ backoff }) => span(count(backoff), toneIf(backoff > 0, 'yellow')),
      align: 'right',
    },
    { header: 'MANUAL', cell: ({ manual_length }) => span(count(manual_length)), align: 'right' },
    { header: 'CARDS', cell: ({ scheduled_cards }) => span(count(scheduled_cards)), align: 'right', drop: 2 },
    lagColumn,
    { header: 'POLLED EVERY', cell: intervalCell },
    { header: 'DRAINS IN', cell: drainCell, drop: 1 },
  ];
  return tableLines(tasks, wanted, { columns, rows: 1 + tasks.length, selected: indexOf(tasks, picked) });
}

const dueColumn: SpanColumn<TaskBody> = {
  header: 'DUE',
  cell: ({ due }) => span(count(due)),
  align: 'right',
};
const lagColumn: SpanColumn<TaskBody> = {
  header: 'LAG',
  cell: ({ schedule_lag_seconds: lag }) => span(seconds(lag), toneIf(lag >= 60, 'yellow')),
  align: 'right',
};

function indexOf(tasks: readonly TaskBody[], taskType: TaskType): number {
  return tasks.findIndex(({ task_type }) => task_type === taskType);
}

function healthCell({ offered, health }: TaskBody): Span {
  return offered ? { ...healthSpan(health), text: health } : span('not offered', 'dim');
}

function taskCell({ task_type, offered, health }: TaskBody): Line {
  const { text, tone } = offered ? healthSpan(health) : span('■', 'dim');
  return [{ text: `${text.slice(0, 1)} `, tone }, span(task_type, 'bold')];
}

/** Median and 95th percentile of the last seconds, in milliseconds. */
export function durations({ p50_ms_10s: half, p95_ms_10s: nearly }: TaskBody): string {
  return half === null && nearly === null ? '-' : `${measure(half)}/${measure(nearly)}`;
}

const MEAN_SECONDS = 10;

/** Calls in flight: the mean of the last ten seconds, as the number of a moment comes in bursts. */
export function runningOf(
  { task_type, concurrency }: TaskBody,
  history: HistoryBody | null,
  nowMs: number,
): number {
  const samples = seriesOf(history, task_type, 'in_flight', nowMs).slice(-MEAN_SECONDS);
  const known = samples.filter((value) => value !== null);
  if (known.length === 0) return concurrency.current;
  return Math.round(known.reduce((total, value) => total + value, 0) / known.length);
}

/** `████░░ 60/100`, and `60/40 of 100` where less than the limit is in force. */
export function limitCells(
  { concurrency, effective_concurrency: effective }: TaskBody,
  columns: number,
  current: number,
): Line {
  const { max } = concurrency;
  const isReduced = effective < max;
  // A full limit is a fact: whether it is enough, the health says.
  const tone: Tone | undefined = toneIf(isReduced, 'yellow');
  const bar: Span = span(gauge(current / Math.max(1, effective), columns), tone ?? 'green');
  const of = isReduced ? `${count(effective)} of ${count(max)}` : count(max);
  return [bar, span(` ${count(current)}/${of}`, tone)];
}

function intervalCell({ interval_seconds: wanted, achieved_interval_seconds: achieved }: TaskBody): Span {
  if (wanted === null) return span('off', 'dim');
  if (achieved === null) return span(`not now, ${seconds(wanted)} wanted`, 'yellow');
  if (Math.round(achieved) <= Math.round(wanted * 1.05)) return span(seconds(wanted));
  return span(`${seconds(achieved)}, not ${seconds(wanted)}`, 'yellow');
}

function drainCell({ capacity }: TaskBody): Span {
  const { drain_seconds: drain, capacity_per_second: measured, held_by: heldBy } = capacity;
  if (drain === 0) return span('empty');
  if (drain !== null) return span(seconds(drain));
  if (heldBy !== null) return span('held', 'red');
  return measured === null ? span('not known') : span('never', 'red');
}

function toneIf(condition: boolean, tone: Tone): Tone | undefined {
  return condition ? tone : undefined;
}
