// The view of a task type: its numbers, charts of fifteen minutes, why polls fail and for which cards.
import type { FailuresBody, TaskBody } from '../../api/client/client-bodies.ts';
import { fitted } from '../../cli/output/line.ts';
import { count, measure, percent, relative, seconds } from '../format.ts';
import {
  GAP,
  type Line,
  missing,
  plain,
  type Room,
  type SpanColumn,
  sideBySide,
  span,
  stacked,
  tableLines,
} from '../layout.ts';
import { dataTimeMs, failingCards, type State } from '../state.ts';
import { calmWords, healthLines } from './health.ts';
import { chartLines, fittingChartRows } from './task-charts.ts';
import { durations, limitCells, runningOf } from './task-tables.ts';

const GAUGE_COLUMNS = 10;
/** Failures get so many rows, with their header, before the charts grow. */
const FAILURE_ROWS = 5;
const LEAST_CARD_ROWS = 2;

export function taskLines(state: State, { columns, rows }: Room): Line[] {
  const { body, problem } = state.data.overview;
  const task = body?.tasks.find(({ task_type }) => task_type === state.taskType);
  if (body === null || task === undefined) return [missing(state.taskType, problem)];
  const calm = calmWords(task.scheduled_cards, body);
  const top = [
    ...healthLines(task, { columns, rows: 3, nowMs: dataTimeMs(state), calm }),
    ...numberLines(task, columns, runningOf(task, state.data.history.body, dataTimeMs(state))),
  ];
  const below = Math.min(FAILURE_ROWS, failureLines(state, { columns, rows: FAILURE_ROWS }).length);
  const chartRows = fittingChartRows(rows - top.length - below - 2);
  const charts = fittingCharts(
    chartLines(state, task.task_type, columns, chartRows),
    rows - top.length - 2,
    failingCards(state).length === 0 ? 0 : LEAST_CARD_ROWS,
  );
  const left = rows - top.length - charts.length - (charts.length === 0 ? 1 : 2);
  return stacked([top, charts, failureLines(state, { columns, rows: left })], rows);
}

/** All four charts, the upper two or none, so that the card that keys act on is visible. */
function fittingCharts(charts: Line[], rows: number, needed: number): Line[] {
  const upper = charts.slice(0, charts.length / 2);
  return [charts, upper].find(({ length }) => rows - length >= needed) ?? [];
}

function numberLines(task: TaskBody, columns: number, running: number): Line[] {
  const { interval_seconds: wanted, achieved_interval_seconds: achieved } = task;
  const now = achieved === null ? 'not polled now' : `every ${seconds(achieved)}`;
  const every = wanted === null ? 'off' : `${now} (wanted ${seconds(wanted)})`;
  const skipped = task.skipped_revolutions === 0 ? '' : `  ${count(task.skipped_revolutions)} rounds skipped`;
  return [
    [
      ...limitCells(task, GAUGE_COLUMNS, running),
      span(`  ${measure(task.rate_per_second_10s)}/s now, ${measure(task.rate_per_second)}/s in 5 min`),
      span(`  ok ${percent(task.success_rate_10s)} %  p50/p95 ${durations(task)} ms`),
    ],
    plain(
      `due ${count(task.due)}  backoff ${count(task.backoff)}  manual ${count(task.manual_length)}` +
        `  lag ${seconds(task.schedule_lag_seconds)}  ${every}${skipped}`,
    ),
  ].map((line) => fitted(line, columns));
}

function failureLines(state: State, { columns, rows }: Room): Line[] {
  const { body, problem } = state.data.failures;
  if (body === null) return [missing('failures', problem)];
  const own = body.items.find(({ task_type }) => task_type === state.taskType);
  if (own === undefined || (own.reasons.length === 0 && own.failing_cards === 0))
    return [[span('● no failures in the last 5 min', 'green')]];
  const width = Math.floor((columns - GAP) / 3);
  const reasons = tableLines(own.reasons, REASON_COLUMNS, { columns: width, rows, selected: null });
  const room = { columns: columns - width - GAP, rows, selected: state.picked };
  const failing = tableLines(own.cards, cardColumns(own.failing_cards, dataTimeMs(state)), room);
  return sideBySide(reasons, failing, width);
}

const REASON_COLUMNS: readonly SpanColumn<FailuresBody['reasons'][number]>[] = [
  { header: 'FAILED, 5 MIN', cell: (failures) => span(count(failures.count), 'red'), align: 'right' },
  { header: 'REASON', cell: ({ reason }) => span(reason), least: 6 },
];

function cardColumns(total: number, nowMs: number): SpanColumn<FailuresBody['cards'][number]>[] {
  return [
    { header: `${count(total)} FAILING, CARD`, cell: ({ card_id }) => span(card_id), align: 'right' },
    { header: 'LAST', cell: ({ at }) => span(relative(at, nowMs)) },
    { header: 'TIMES', cell: ({ attempts }) => span(count(attempts)), align: 'right', drop: 1 },
    { header: 'WHY', cell: ({ reason, message }) => span(`${reason}: ${message}`), least: 8 },
  ];
}
