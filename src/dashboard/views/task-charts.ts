// The last fifteen minutes of a task type as four charts: polls, success, durations, queue. Used by the view of the task
// type, and by the overview on a tall terminal.
import type { HistoryBody } from '../../api/client/client-bodies.ts';
import { fitted } from '../../cli/output/line.ts';
import type { TaskType } from '../../domain/task-type.ts';
import { extentOf, lineChart, type Summary } from '../charts.ts';
import { measure, percent } from '../format.ts';
import { GAP, type Line, missing, plain, type Room, type Span, sideBySide, span } from '../layout.ts';
import { type Measured, minutesOf, seriesOf } from '../series.ts';
import { dataTimeMs, type State } from '../state.ts';

const SMALLEST_CHART_ROWS = 2;
const LARGEST_CHART_ROWS = 10;

/** @param rows of all charts. @returns the rows of one, without its heading. */
export function fittingChartRows(rows: number): number {
  return Math.min(LARGEST_CHART_ROWS, Math.max(SMALLEST_CHART_ROWS, Math.floor(rows / 2) - 1));
}

/** With fewer rows there are no charts. */
export const LEAST_ROWS_OF_CHARTS = 2 * (SMALLEST_CHART_ROWS + 1);

interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly Measured[];
  /** How the samples that share a dot become one value. */
  readonly summary: Summary;
  /** A share is not drawn from zero, because what matters happens near 100 %. */
  readonly isShare?: true;
}

/** A share is drawn from this percentage, or from its lowest value if that is lower. */
const SHARE_FLOOR = 90;

const CHARTS: readonly Chart[] = [
  { title: 'polls', unit: '/s', series: ['rate_per_second'], summary: 'mean' },
  { title: 'success', unit: ' %', series: ['success_rate'], summary: 'min', isShare: true },
  { title: 'p95, p50', unit: ' ms', series: ['p95_ms', 'p50_ms'], summary: 'max' },
  { title: 'queue', unit: '', series: ['queue_length'], summary: 'max' },
];

/** Four charts, two in a row. @param rows of one chart, without its heading. */
export function chartLines(state: State, taskType: TaskType, columns: number, rows: number): Line[] {
  const { body, problem } = state.data.history;
  if (body === null) return [missing('history', problem)];
  const width = Math.floor((columns - GAP) / 2);
  const [first, second, third, fourth] = CHARTS.map((chart) =>
    oneChart(chart, body, dataTimeMs(state), taskType, { columns: width, rows }),
  );
  return [...sideBySide(first ?? [], second ?? [], width), ...sideBySide(third ?? [], fourth ?? [], width)];
}

function oneChart(
  { title, unit, series, summary, isShare }: Chart,
  history: HistoryBody,
  nowMs: number,
  taskType: TaskType,
  { columns, rows }: Room,
): Line[] {
  const minutes = minutesOf(history, nowMs);
  const all = series.map((measured) => seriesOf(history, taskType, measured, nowMs));
  const extents = all.map(extentOf);
  const known = extents.filter((extent) => extent !== null);
  const name = span(`${title}  `, 'bold');
  if (known.length === 0) {
    return [[name, span(`nothing known of the last ${minutes} min`, 'dim')], ...Array(rows).fill(plain(''))];
  }
  const max = Math.max(...known.map((extent) => extent.max));
  const min = Math.min(...known.map((extent) => extent.min));
  const shown = isShare === true ? percent : measure;
  const last = extents.map((extent) => shown(extent?.last ?? null)).join(', ');
  const label: Span[] = [
    span(`${last}${unit}`),
    span(`  min ${shown(min)}  max ${shown(max)}  ${minutes} min`, 'dim'),
  ];
  const scale = isShare === true ? { floor: Math.min(min, SHARE_FLOOR), ceiling: 100 } : null;
  const chart = lineChart(all, { columns, rows, summary, scale });
  return [fitted([name, ...label], columns), ...chart.map((text) => plain(text, 'accent'))];
}
