// The view of a task type: its numbers, charts of fifteen minutes, and the failures of polls by reason and by card.
import { Box } from 'ink';
import { failureWord } from '../../domain/stats/failure-word.ts';
import type { FailuresBody, TaskBody } from '../../resources/stats.ts';
import { signed } from '../../terminal/style.ts';
import { count } from '../format.ts';
import { type Line, missing, plain, type SpanColumn, span, tableLines } from '../layout.ts';
import type { Part, ViewProps } from '../part.tsx';
import { dataTimeMs, failingCards } from '../state.ts';
import { Rows } from '../ui.tsx';
import { listTable } from './lists.ts';
import { numberLines, runningOf } from './task-cards.tsx';
import { CHART_GAP, chartRowsIn, charts } from './task-charts.tsx';

const GAUGE_COLUMNS = 20;
/** Rows for failures, with their header, before the charts grow. */
const FAILURE_ROWS = 5;
/** Charts in two rows. */
const CHART_LINES = 2;

export function taskView({ state, columns, rows }: ViewProps): Part[] {
  const { body, problem } = state.data.overview;
  const task = body?.tasks.find(({ task_type }) => task_type === state.taskType);
  if (body === null || task === undefined) return [[missing(state.taskType, problem)]];
  const history = state.data.history.body;
  const nowMs = dataTimeMs(state);
  const running = runningOf(task, history, nowMs);
  const top = [...numberLines(task, { gaugeColumns: GAUGE_COLUMNS, running, columns }), ...roundLines(task)];
  // The card that keys act on stays visible.
  const below = Math.min(FAILURE_ROWS, 1 + Math.max(1, failingCards(state).length));
  const chartRows = chartRowsIn(rows - top.length - below - 2, CHART_LINES);
  const used = chartRows === 0 ? 0 : CHART_LINES * (chartRows + 1) + 2;
  const width = Math.floor((columns - CHART_GAP) / 2);
  const drawn =
    history === null
      ? [missing('history', state.data.history.problem)]
      : charts({ task, history, nowMs, columns: width, rows: chartRows, perRow: 2 });
  const failed = failures({ state, columns, rows: rows - top.length - used - 1 });
  return chartRows === 0 ? [top, failed] : [top, drawn, failed];
}

function roundLines({ skipped_revolutions: skipped }: TaskBody): Line[] {
  return skipped === 0 ? [] : [plain(`${count(skipped)} rounds skipped`, 'yellow')];
}

/** The failures of one task type, or the line instead of them. */
function failures({ state, columns, rows }: ViewProps): Part {
  const { body, problem } = state.data.failures;
  if (body === null) return [missing('failures', problem)];
  const own = body.items.find(({ task_type }) => task_type === state.taskType);
  if (own === undefined || (own.reasons.length === 0 && own.failing_cards === 0))
    return [[signed('good', 'no failures in the last 5 min')]];
  const width = Math.floor(columns / 3);
  const room = { columns: columns - width - CHART_GAP, rows };
  const failing = plain(`${count(own.failing_cards)} failing`, 'dim');
  return (
    <Box columnGap={CHART_GAP}>
      <Box width={width} flexShrink={0}>
        <Rows lines={tableLines(own.reasons, REASON_COLUMNS, { columns: width, rows, selected: null })} />
      </Box>
      <Rows lines={listTable(state, 'task', room, failing)} />
    </Box>
  );
}

const REASON_COLUMNS: readonly SpanColumn<FailuresBody['reasons'][number]>[] = [
  { header: 'FAILED, 5 MIN', cell: (failures) => span(count(failures.count), 'red'), align: 'right' },
  { header: 'REASON', cell: ({ reason }) => span(failureWord(reason)), least: 6 },
];
