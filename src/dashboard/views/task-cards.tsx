// The task types: as three cards next to each other with their charts, or as one table with less room. Used by the overview. The
// view of a task type shows the same numbers.
import { Box } from 'ink';
import { judgeSuccess } from '../../domain/health.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { HistoryBody, TaskBody } from '../../resources/stats.ts';
import { lineWidth } from '../../terminal/line.ts';
import { healthSigned, signed } from '../../terminal/style.ts';
import { sparkline } from '../charts.ts';
import { count, measure, percent, seconds } from '../format.ts';
import {
  EMPTY,
  gaugeSpans,
  type Line,
  MARK,
  type Span,
  type SpanColumn,
  span,
  type Tone,
  tableLines,
} from '../layout.ts';
import { latelyOf, minutesOf, seriesOf } from '../series.ts';
import { PANEL_COLUMNS, PANEL_ROWS, Panel, Rows } from '../ui.tsx';
import { chartRowsIn, charts } from './task-charts.tsx';

interface Tasks {
  readonly tasks: readonly TaskBody[];
  readonly history: HistoryBody | null;
  readonly nowMs: number;
  readonly picked: TaskType;
  readonly columns: number;
}

/** One row per task type: its pace, its limit, and its waiting cards. */
export function taskTable({ tasks, history, nowMs, picked, columns }: Tasks): Line[] {
  const gaugeColumns = columns < 80 ? 0 : columns < 120 ? 6 : 12;
  const wanted: SpanColumn<TaskBody>[] = [
    { header: '  TASK', cell: taskCell },
    { header: 'HEALTH', cell: healthCell, drop: 2 },
    { header: 'POLLS/S', cell: (task) => span(measure(task.rate_per_second_10s)), align: 'right' },
    {
      header: `${minutesOf(history, nowMs)} MIN`,
      cell: ({ task_type }) =>
        span(sparkline(seriesOf(history, task_type, 'rate_per_second', nowMs), 10), 'accent'),
      drop: 1,
    },
    { header: 'OK %', cell: successCell, align: 'right' },
    { header: 'P50/P95 MS', cell: (task) => span(durations(task)), align: 'right', drop: 5 },
    {
      header: columns < 80 ? 'RUNNING' : 'RUNNING OF LIMIT',
      cell: (task) => limitCells(task, gaugeColumns, runningOf(task, history, nowMs)),
    },
    { header: 'DUE', cell: ({ due }) => span(count(due)), align: 'right' },
    {
      header: 'LAG',
      cell: ({ schedule_lag_seconds: lag }) => span(seconds(lag), toneIf(lag >= 60, 'yellow')),
      align: 'right',
    },
    { header: 'POLLED EVERY', cell: intervalCell, drop: 4 },
    { header: 'BACKLOG', cell: drainCell, drop: 3 },
  ];
  return tableLines(tasks, wanted, { columns, rows: 1 + tasks.length, selected: indexOf(tasks, picked) });
}

/** Rows of a card without charts: its gauge and two lines of numbers. */
const CARD_ROWS = PANEL_ROWS + 3;
/** Charts of a card, one below the other; with too little room the last ones are omitted. */
const CHARTS_OF_CARD = 4;
/** The rows of three cards with as many charts of the smallest size. */
const cardRowsFor = (charts: number) => CARD_ROWS + charts * 3 + 1;
/** The rows of three cards with all charts, and with one. */
export const FULL_CARD_ROWS = cardRowsFor(CHARTS_OF_CARD);
export const LEAST_CARD_ROWS = cardRowsFor(1);

/** Three cards of equal width, as high as whole rows of charts allow. @param rows LEAST_CARD_ROWS at least. */
export function taskCards({ rows, ...tasks }: Tasks & { readonly rows: number }) {
  let most = CHARTS_OF_CARD;
  while (most > 1 && cardRowsFor(most) > rows) most -= 1;
  const chartRows = chartRowsIn(rows - CARD_ROWS, most);
  const width = Math.floor(tasks.columns / tasks.tasks.length);
  return (
    <Box flexShrink={0}>
      {tasks.tasks.map((task) => taskCard({ task, width, chartRows, most, ...tasks }))}
    </Box>
  );
}

interface TaskCardProps extends Tasks {
  readonly task: TaskBody;
  readonly width: number;
  readonly chartRows: number;
  /** Number of charts. */
  readonly most: number;
}

function taskCard({ task, width, chartRows, most, history, nowMs, picked }: TaskCardProps) {
  const isPicked = task.task_type === picked;
  const inner = width - PANEL_COLUMNS;
  return (
    <Panel
      key={task.task_type}
      width={width}
      tone={isHeld(task) ? 'yellow' : COLOUR_OF[task.health]}
      title={[span(isPicked ? MARK : '  ', 'picked'), span(task.task_type, 'bold')]}
      right={[stateOf(task, task.health)]}
    >
      <Rows
        lines={numberLines(task, {
          gaugeColumns: Math.max(0, inner - 24),
          running: runningOf(task, history, nowMs),
          columns: inner,
        })}
      />
      {history !== null &&
        chartRows > 0 &&
        charts({ task, history, nowMs, columns: inner, rows: chartRows, perRow: 1, most })}
    </Panel>
  );
}

const COLOUR_OF: Partial<Record<TaskBody['health'], 'yellow' | 'red'>> = { warning: 'yellow', alert: 'red' };

/** The limit, the waiting cards, and the polling interval. With too little room the last parts are omitted. */
export function numberLines(task: TaskBody, { gaugeColumns, running, columns }: NumberLines): Line[] {
  const { due, backoff, manual_length: manual, schedule_lag_seconds: lag, scheduled_cards: cards } = task;
  const some = (number: number, word: string, tone?: Tone) =>
    number === 0 ? EMPTY : [span(`  ${word} `, 'dim'), span(count(number), tone)];
  const waiting = [span('due ', 'dim'), span(count(due)), span('  backlog ', 'dim'), drainCell(task)];
  const pace = [
    span('every ', 'dim'),
    intervalCell(task),
    span('  lag ', 'dim'),
    span(seconds(lag), toneIf(lag >= 60, 'yellow')),
  ];
  return [
    [...limitCells(task, gaugeColumns, running), span(' running', 'dim')],
    fitting(waiting, [some(backoff, 'backoff', 'yellow'), some(manual, 'manual')], columns),
    fitting(pace, [some(cards, 'cards')], columns),
  ];
}

function fitting(line: Line, more: readonly Line[], columns: number): Line {
  const [next, ...others] = more;
  const longer = [...line, ...(next ?? EMPTY)];
  return next === undefined || lineWidth(longer) > columns ? line : fitting(longer, others, columns);
}

interface NumberLines {
  readonly gaugeColumns: number;
  readonly running: number;
  readonly columns: number;
}

function indexOf(tasks: readonly TaskBody[], taskType: TaskType): number {
  return tasks.findIndex(({ task_type }) => task_type === taskType);
}

function healthCell(task: TaskBody): Span {
  const text = isHeld(task) ? 'held' : task.offered ? task.health : 'not offered';
  return { ...stateOf(task, ''), text };
}

function taskCell(task: TaskBody): Line {
  return [stateOf(task, ''), span(' '), span(task.task_type, 'bold')];
}

/** The health of a task type as its sign and a word, or that a problem elsewhere holds it back. */
function stateOf(task: TaskBody, word: string): Span {
  if (!task.offered) return signed('off', word === '' ? '' : 'not offered');
  if (isHeld(task)) return signed('warning', word === '' ? '' : 'held');
  return healthSigned(task.health, word);
}

/** Its own figures are normal, and yet it is not polled: the database is down, or a breaker is open. */
function isHeld({ offered, health, capacity }: TaskBody): boolean {
  return offered && health === 'normal' && capacity.held_by !== null;
}

/** In colour only if the health is not normal either: one failure of two polls may be chance. */
function successCell({ success_rate_10s: percentOk, health }: TaskBody): Span {
  const level = percentOk === null || health === 'normal' ? 'normal' : judgeSuccess(percentOk);
  return span(percent(percentOk), COLOUR_OF[level]);
}

/** Median and 95th percentile of the last seconds, in milliseconds. */
export function durations({ p50_ms_10s: half, p95_ms_10s: nearly }: TaskBody): string {
  return half === null && nearly === null ? '-' : `${measure(half)}/${measure(nearly)}`;
}

/** Calls in flight over the last seconds. */
export function runningOf(
  { task_type, concurrency }: TaskBody,
  history: HistoryBody | null,
  nowMs: number,
): number {
  const lately = latelyOf(seriesOf(history, task_type, 'in_flight', nowMs));
  return Math.round(lately ?? concurrency.current);
}

/** `████░░ 60/100`, and `60/40 of 100` if a lower limit is in force. */
function limitCells(
  { concurrency, effective_concurrency: effective }: TaskBody,
  columns: number,
  current: number,
): Line {
  const { max } = concurrency;
  const isReduced = effective < max;
  // A full limit is only a fact: the health shows whether it is high enough.
  const tone: Tone | undefined = toneIf(isReduced, 'yellow');
  const bar = gaugeSpans(current / Math.max(1, effective), columns, tone ?? 'dim');
  const of = isReduced ? `${count(effective)} of ${count(max)}` : count(max);
  return [...bar, span(`${columns === 0 ? '' : ' '}${count(current)}/${of}`, tone)];
}

function intervalCell({ interval_seconds: wanted, achieved_interval_seconds: achieved }: TaskBody): Span {
  if (wanted === null) return span('off', 'dim');
  if (achieved === null) return span(`- (wanted ${seconds(wanted)})`, 'yellow');
  if (Math.round(achieved) <= Math.round(wanted * 1.05)) return span(seconds(wanted));
  return span(`${seconds(achieved)}, not ${seconds(wanted)}`, 'yellow');
}

function drainCell({ capacity }: TaskBody): Span {
  const { drain_seconds: drain, capacity_per_second: measured, held_by: heldBy } = capacity;
  if (drain === 0) return span('none');
  if (drain !== null) return span(`gone in ${seconds(drain)}`);
  if (heldBy !== null) return span('held', 'red');
  return measured === null ? span('not known') : span('never gone', 'red');
}

function toneIf(condition: boolean, tone: Tone): Tone | undefined {
  return condition ? tone : undefined;
}
