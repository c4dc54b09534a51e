// One task type: its numbers, fifteen minutes of them as charts, why polls fail and for which cards.
import type { FailuresBody, HistoryBody, TaskBody } from '../../api/client.ts';
import type { TaskType } from '../../domain/task-type.ts';
import { extentOf, lineChart, type Series, type Summary } from '../charts.ts';
import { tableLines } from '../columns.ts';
import { cards, count, measure, percent, relative, seconds } from '../format.ts';
import { beside, fitted, type Line, plain, type Span, span } from '../line.ts';
import { minutesOf, seriesOf, type TaskSample } from '../series.ts';
import { dataTimeMs, type State } from '../state.ts';
import { healthLines } from './health.ts';
import { missing, type Room, stacked } from './room.ts';
import { durations, limitCells } from './task-tables.ts';

const GAP = 2;
const GAUGE_COLUMNS = 10;
const SMALLEST_CHART_ROWS = 2;
const LARGEST_CHART_ROWS = 10;
/** Cards and reasons of failures get so many rows, header included, before the charts grow. */
const FAILURE_ROWS = 5;

export function taskLines(state: State, { columns, rows }: Room): Line[] {
  const { body, problem } = state.data.overview;
  const task = body?.tasks.find(({ task_type }) => task_type === state.taskType);
  if (task === undefined) return [missing(state.taskType, problem)];
  const calm = `${cards(task.scheduled_cards)}, everything as configured`;
  const top = [
    ...healthLines(task, { columns, rows: 3, nowMs: dataTimeMs(state), calm }),
    ...numberLines(task, columns),
  ];
  const below = Math.min(FAILURE_ROWS, failureLines(state, { columns, rows: FAILURE_ROWS }).length);
  const chartRows = Math.min(
    LARGEST_CHART_ROWS,
    Math.max(SMALLEST_CHART_ROWS, Math.floor((rows - top.length - below - 2) / 2) - 1),
  );
  const charts = chartLines(state.data.history, task.task_type, columns, chartRows);
  const left = rows - top.length - charts.length - 2;
  return stacked([top, charts, failureLines(state, { columns, rows: left })], rows);
}

function numberLines(task: TaskBody, columns: number): Line[] {
  const { interval_seconds: wanted, achieved_interval_seconds: achieved } = task;
  const every = wanted === null ? 'off' : `every ${seconds(achieved ?? wanted)} (wanted ${seconds(wanted)})`;
  const skipped = task.skipped_revolutions === 0 ? '' : `  ${count(task.skipped_revolutions)} rounds skipped`;
  return [
    [
      ...limitCells(task, GAUGE_COLUMNS),
      span(`  ${measure(task.rate_per_second_10s)}/s now, ${measure(task.rate_per_second)}/s in 5 min`),
      span(`  ok ${percent(task.success_rate)} %  p50/p95 ${durations(task)} ms`),
    ],
    plain(
      `due ${count(task.due)}  backoff ${count(task.backoff)}  manual ${count(task.manual_length)}` +
        `  lag ${seconds(task.schedule_lag_seconds)}  ${every}${skipped}`,
    ),
  ].map((line) => fitted(line, columns));
}

interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly ((sample: TaskSample) => number | null)[];
  /** What stands for the samples that share a dot. */
  readonly summary: Summary;
  /** A share does not begin at nothing: what is interesting happens at the top. */
  readonly isShare?: true;
}

/** A share is drawn from here on, or from its lowest value. */
const SHARE_FLOOR = 90;

const CHARTS: readonly Chart[] = [
  { title: 'polls', unit: '/s', series: [({ rate_per_second }) => rate_per_second], summary: 'mean' },
  {
    title: 'success',
    unit: ' %',
    series: [({ success_rate }) => success_rate],
    summary: 'min',
    isShare: true,
  },
  {
    title: 'p95, p50',
    unit: ' ms',
    series: [({ p95_ms }) => p95_ms, ({ p50_ms }) => p50_ms],
    summary: 'max',
  },
  { title: 'queue', unit: '', series: [({ queue_length }) => queue_length], summary: 'max' },
];

function chartLines(
  { body, problem }: State['data']['history'],
  taskType: TaskType,
  columns: number,
  rows: number,
): Line[] {
  if (body === null) return [missing('history', problem)];
  const width = Math.floor((columns - GAP) / 2);
  const [first, second, third, fourth] = CHARTS.map((chart) => oneChart(chart, body, taskType, width, rows));
  return [...beside(first ?? [], second ?? [], width, GAP), ...beside(third ?? [], fourth ?? [], width, GAP)];
}

function oneChart(
  { title, unit, series, summary, isShare }: Chart,
  history: HistoryBody,
  taskType: TaskType,
  columns: number,
  rows: number,
): Line[] {
  const all: readonly Series[] = series.map((pick) => seriesOf(history, taskType, pick));
  const extents = all.map(extentOf);
  const known = extents.filter((extent) => extent !== null);
  const name = span(`${title}  `, 'bold');
  if (known.length === 0) {
    return [
      [name, span(`nothing known of the last ${minutesOf(history)} min`, 'dim')],
      ...Array(rows).fill(plain('')),
    ];
  }
  const max = Math.max(...known.map((extent) => extent.max));
  const min = Math.min(...known.map((extent) => extent.min));
  const last = extents.map((extent) => measure(extent?.last ?? null)).join(', ');
  const label: Span[] = [
    span(`${last}${unit}`),
    span(`  min ${measure(min)}  max ${measure(max)}  ${minutesOf(history)} min`, 'dim'),
  ];
  const scale = isShare === true ? { floor: Math.min(min, SHARE_FLOOR), ceiling: 100 } : null;
  const chart = lineChart(all, { columns, rows, summary, scale });
  return [fitted([name, ...label], columns), ...chart.map((text) => plain(text, 'accent'))];
}

function failureLines(state: State, { columns, rows }: Room): Line[] {
  const { body, problem } = state.data.failures;
  if (body === null) return [missing('failures', problem)];
  const own = body.items.find(({ task_type }) => task_type === state.taskType);
  if (own === undefined || (own.reasons.length === 0 && own.failing_cards === 0))
    return [[span('● no failures in the last 5 min', 'good')]];
  const width = Math.floor((columns - GAP) / 3);
  const reasons = tableLines(own.reasons, REASON_COLUMNS, { columns: width, rows, selected: null });
  const failing = cardTable(own, { columns: columns - width - GAP, rows }, dataTimeMs(state));
  return beside(reasons, failing, width, GAP);
}

const REASON_COLUMNS = [
  {
    header: 'FAILED, 5 MIN',
    cell: ({ count: n }: { count: number }) => span(count(n), 'bad'),
    align: 'right',
  },
  { header: 'REASON', cell: ({ reason }: { reason: string }) => span(reason), shrinkTo: 6 },
] as const;

function cardTable(
  { failing_cards, cards: failing }: FailuresBody,
  { columns, rows }: Room,
  nowMs: number,
): Line[] {
  type Card = FailuresBody['cards'][number];
  return tableLines(
    failing,
    [
      {
        header: `${count(failing_cards)} FAILING, CARD`,
        cell: ({ card_id }: Card) => span(card_id),
        align: 'right',
      },
      { header: 'LAST', cell: ({ at }: Card) => span(relative(at, nowMs)) },
      { header: 'TIMES', cell: ({ attempts }: Card) => span(count(attempts)), align: 'right', dropAt: 1 },
      { header: 'WHY', cell: ({ reason, message }: Card) => span(`${reason}: ${message}`), shrinkTo: 8 },
    ],
    { columns, rows, selected: null },
  );
}
