// The last fifteen minutes of a task type as four charts: pace against demand, success, durations, queue. Used by the cards of
// the overview and by the view of the task type.
import { Box } from 'ink';
import { AVG_DURATION_MS, SUCCESS_RATE } from '../../domain/health.ts';
import type { HistoryBody, TaskBody } from '../../resources/stats.ts';
import { lineWidth } from '../../terminal/line.ts';
import { abbreviated } from '../../terminal/style.ts';
import { extentOf, lineChart, rowOf, type Scale, type Series, type Summary } from '../charts.ts';
import { count, grouped, measure, NOTHING, percent, seconds } from '../format.ts';
import { EMPTY, type Line, plain, type Span, span, type Tone } from '../layout.ts';
import { latelyOf, type Measured, minutesOf, seriesOf } from '../series.ts';
import { Ends, Row, Rows } from '../ui.tsx';

interface Drawn {
  readonly measured: Measured;
  readonly name: string;
  readonly tone: Tone;
}

interface Chart {
  /** The first series is in front of the others. */
  readonly drawn: readonly [Drawn, ...Drawn[]];
  readonly unit: string;
  /** How the samples of one dot become one value. A kept extreme is named and marked. */
  readonly summary: Summary;
  readonly shown: (value: number | null) => string;
  /** The value and the name of the dotted line. */
  readonly mark: ((task: TaskBody) => number) | null;
  readonly markName?: string;
  readonly scale: (extent: { readonly min: number; readonly max: number; readonly mark: number }) => Scale;
}

/** Lower end of the scale of shares, percent: a success of 98 % is near the top, and an outage at the bottom. */
const SHARE_FLOOR = 50;
/** Scale of durations, milliseconds; logarithmic. */
const DURATIONS = { floor: 10, ceiling: 4_000 };

/** Cards are whole, also where samples were joined to a mean. */
const whole = (value: number | null) => (value === null ? measure(null) : count(Math.round(value)));

const CHARTS: readonly Chart[] = [
  {
    drawn: [{ measured: 'rate_per_second', name: 'polls', tone: 'accent' }],
    unit: '/s',
    summary: 'max',
    shown: measure,
    mark: ({ demand_per_second: demand }) => demand,
    markName: 'needed',
    scale: ({ max, mark }) => ({ floor: 0, ceiling: Math.max(max, mark) }),
  },
  {
    drawn: [{ measured: 'success_rate', name: 'success', tone: 'green' }],
    unit: ' %',
    summary: 'min',
    shown: percent,
    mark: () => SUCCESS_RATE.alertBelow,
    scale: ({ min }) => ({ floor: min < SHARE_FLOOR ? 0 : SHARE_FLOOR, ceiling: 100 }),
  },
  {
    drawn: [
      { measured: 'p95_ms', name: 'p95', tone: 'second' },
      { measured: 'p50_ms', name: 'p50', tone: 'accent' },
    ],
    unit: ' ms',
    summary: 'max',
    shown: measure,
    mark: () => AVG_DURATION_MS.alertAbove,
    scale: ({ max }) => ({
      floor: DURATIONS.floor,
      ceiling: Math.max(DURATIONS.ceiling, max),
      isLogarithmic: true,
    }),
  },
  {
    drawn: [{ measured: 'queue_length', name: 'queue', tone: 'third' }],
    unit: '',
    summary: 'max',
    shown: whole,
    mark: null,
    scale: ({ max }) => ({ floor: 0, ceiling: max }),
  },
];

interface ChartsProps {
  readonly task: TaskBody;
  readonly history: HistoryBody;
  readonly nowMs: number;
  /** Width of one chart. */
  readonly columns: number;
  /** Height of one chart, without its heading. */
  readonly rows: number;
  readonly perRow: 1 | 2;
  /** Number of charts; absent: all. */
  readonly most?: number;
}

const LEAST_CHART_ROWS = 2;
const MOST_CHART_ROWS = 8;
export const CHART_GAP = 2;

/** @param rows for `lines` charts below each other, with headings and the time axis. 0: no room. */
export function chartRowsIn(rows: number, lines: number): number {
  const fits = Math.floor((rows - 1) / lines) - 1;
  return fits < LEAST_CHART_ROWS ? 0 : Math.min(MOST_CHART_ROWS, fits);
}

/** The charts on one time axis. */
export function charts({ perRow, most = CHARTS.length, ...chart }: ChartsProps) {
  const minutes = minutesOf(chart.history, chart.nowMs);
  const shown = Array.from({ length: Math.ceil(most / perRow) }, (_, i) =>
    CHARTS.slice(i * perRow, (i + 1) * perRow),
  );
  const axis = (
    <Box width={chart.columns} flexDirection="column" paddingLeft={LABEL_COLUMNS}>
      <Ends left={plain(`${minutes} min ago`, 'dim')} right={plain('now', 'dim')} />
    </Box>
  );
  return (
    <Box flexDirection="column" flexShrink={0}>
      {shown.map((some) => (
        <Box key={some[0]?.drawn[0].name} columnGap={CHART_GAP}>
          {some.map((one) => oneChart({ chart: one, ...chart }))}
        </Box>
      ))}
      <Box columnGap={CHART_GAP}>
        {axis}
        {perRow === 2 && axis}
      </Box>
    </Box>
  );
}

/** Width of the numbers at the left of a chart. */
const LABEL_COLUMNS = 6;

type OneChartProps = Omit<ChartsProps, 'perRow'> & { readonly chart: Chart };

function oneChart({ chart, task, history, nowMs, columns, rows }: OneChartProps) {
  const { drawn, summary, shown } = chart;
  const all = drawn.map(({ measured }) => seriesOf(history, task.task_type, measured, nowMs));
  const known = all.map(extentOf).filter((extent) => extent !== null);
  if (known.length === 0) {
    const name = drawn.map((one) => one.name).join(', ');
    return (
      <Box key={name} width={columns} height={rows + 1} overflowY="hidden">
        <Row line={[span(`${name}  `, 'bold'), span('nothing known yet', 'dim')]} />
      </Box>
    );
  }
  const mark = chart.mark === null ? null : chart.mark(task);
  const extent = {
    min: Math.min(...known.map(({ min }) => min)),
    max: Math.max(...known.map(({ max }) => max)),
  };
  const scale = chart.scale({ ...extent, mark: mark ?? 0 });
  const labels = axisLabels(chart, scale, mark, rows);
  const width = Math.max(1, columns - LABEL_COLUMNS);
  const lines = lineChart(all, { columns: width, rows, summary, scale, mark }).map(
    (stretches, row): Line => [
      span(`${(labels.get(row) ?? '').padStart(LABEL_COLUMNS - 1)} `, 'dim'),
      ...stretches.map(({ text, series }) => span(text, series === null ? 'dim' : drawn[series]?.tone)),
    ],
  );
  const isLow = summary === 'min';
  const value = isLow ? extent.min : extent.max;
  const ago = agoOf(all[0] ?? [], value, history.step_seconds);
  const left = heading(chart, all, mark);
  const right = plain(`${isLow ? 'min' : 'max'} ${shown(value)}${ago}`, 'dim');
  // The required pace is more useful than the time of the highest one.
  const hasBoth = lineWidth(left) + 1 + lineWidth(right) <= columns;
  return (
    <Box key={drawn[0].name} flexDirection="column" width={columns} height={rows + 1} overflowY="hidden">
      <Ends left={left} right={hasBoth ? right : EMPTY} />
      <Rows lines={lines} />
    </Box>
  );
}

/** The name of each series in its colour, with its current value. */
function heading({ drawn, shown, unit, markName }: Chart, all: readonly Series[], mark: number | null): Line {
  const values = drawn.flatMap(({ name, tone }, i): Span[] => [
    span(`${i === 0 ? '' : '  '}${name} `, tone),
    span(withUnit(shown(latelyOf(all[i] ?? [])), unit), 'bold'),
  ]);
  if (markName === undefined || mark === null) return values;
  return [...values, span(`, ${shown(mark)} ${markName}`, 'dim')];
}

/** No unit without a value. */
function withUnit(value: string, unit: string): string {
  return value === NOTHING ? value : `${value}${unit}`;
}

/** The time of the extreme: the newest sample that has it. */
function agoOf(series: Series, value: number, stepSeconds: number): string {
  const at = series.lastIndexOf(value);
  const ago = (series.length - 1 - at) * stepSeconds;
  if (at === -1 || ago === 0) return '';
  return ` ${ago < 60 ? seconds(ago) : `${Math.round(ago / 60)}m`} ago`;
}

/** Row -> number. The mark has its number at its row; the numbers of the scale's ends are in other rows. */
function axisLabels({ shown }: Chart, scale: Scale, mark: number | null, rows: number): Map<number, string> {
  const number = (value: number) =>
    shown === percent || value < 9_999.5 ? grouped(value) : abbreviated(value);
  const labels = new Map([
    [0, number(scale.ceiling)],
    [rows - 1, number(scale.floor)],
  ]);
  if (mark !== null) labels.set(rowOf(mark, scale, rows), number(mark));
  return labels;
}
