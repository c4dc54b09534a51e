// The lists of the dashboard: the rows of each view, their identity, filter and order. Pure. model.ts, opening.ts and the views
// read the shown rows from here.
import chalk from 'chalk';
import { failureWord } from '../domain/stats/failure-word.ts';
import type { AlertBody } from '../resources/alerts.ts';
import type { HealthReasonBody } from '../resources/health.ts';
import type { ConfigBody } from '../resources/schedule.ts';
import type { FailuresBody, OverviewBody } from '../resources/stats.ts';
import type { StopBody } from '../resources/stops.ts';
import type { TriggerBody } from '../resources/triggers.ts';
import { alertColumns } from '../terminal/reports/alert-tables.ts';
import { configColumns } from '../terminal/reports/config-tables.ts';
import { instanceColumns } from '../terminal/reports/stats-views.ts';
import { stopColumns } from '../terminal/reports/stop-table.ts';
import { triggerColumns } from '../terminal/reports/trigger-table.ts';
import { Style } from '../terminal/style.ts';
import type { ColumnsOf } from '../terminal/table.ts';
import { count, ScreenStyle } from './format.ts';
import { type Line, span } from './layout.ts';
import { dataTimeMs, failingCards, listedAlerts, type State, type View } from './state.ts';

/** The type of the rows of each list. */
interface ListRows {
  readonly task: FailuresBody['cards'][number];
  readonly alerts: AlertBody;
  readonly triggers: TriggerBody;
  readonly instances: OverviewBody['workers'][number];
  readonly configs: ConfigBody;
  readonly stops: StopBody;
  readonly health: HealthReasonBody;
}
export type ListView = keyof ListRows;
export type RowOf<V extends ListView> = ListRows[V];

interface List<Row> {
  /** In the order of the daemon. */
  readonly rows: (state: State) => readonly Row[];
  /** The total number, if the daemon sends only a part. An older daemon may not send it. */
  readonly total?: (state: State) => number | undefined;
  readonly key: (row: Row) => string;
  readonly columns: ColumnsOf<Row>;
}

export const LISTS: { readonly [V in ListView]: List<ListRows[V]> } = {
  task: {
    rows: failingCards,
    total: ({ data, taskType }) =>
      data.failures.body?.items.find(({ task_type }) => task_type === taskType)?.failing_cards,
    key: ({ card_id }) => `${card_id}`,
    columns: (style) => [
      { header: 'CARD', cell: ({ card_id }) => style.id(card_id) },
      { header: 'LAST', cell: ({ at }) => style.time(at) },
      { header: 'TIMES', cell: ({ attempts }) => style.number(attempts), drop: 1 },
      {
        header: 'WHY',
        cell: ({ reason, message }) => style.text(`${failureWord(reason)}: ${message}`),
        least: 8,
      },
    ],
  },
  alerts: {
    rows: listedAlerts,
    total: ({ data }) => data.alerts.body?.total,
    key: ({ id }) => `${id}`,
    columns: alertColumns,
  },
  triggers: {
    rows: ({ data }) => data.triggers.body?.items ?? [],
    total: ({ data }) => data.triggers.body?.total,
    key: ({ trigger_id }) => trigger_id,
    columns: triggerColumns,
  },
  instances: {
    rows: ({ data }) => data.overview.body?.workers ?? [],
    key: ({ worker_id }) => worker_id,
    columns: instanceColumns,
  },
  configs: {
    rows: ({ data }) => data.configs.body?.items ?? [],
    total: ({ data }) => data.configs.body?.total,
    key: ({ id }) => `${id}`,
    columns: configColumns,
  },
  stops: {
    rows: ({ data }) => data.stops.body?.items ?? [],
    total: ({ data }) => data.stops.body?.total,
    key: ({ card_id, month }) => `${card_id} ${month}`,
    columns: stopColumns,
  },
  health: {
    rows: ({ data }) => data.overview.body?.health_reasons ?? [],
    // Two interfaces may be dead for the same task type.
    key: ({ task_type, text }) => `${task_type} ${text}`,
    columns: (style) => [
      { header: 'SEVERITY', cell: ({ severity }) => style.text(severity) },
      { header: 'TASK', cell: ({ task_type }) => style.text(task_type) },
      { header: 'SINCE', cell: ({ since }) => style.time(since ?? null) },
      { header: 'REASON', cell: ({ text }) => style.text(text) },
      { header: 'COMMAND', cell: ({ command }) => style.text(command) },
    ],
  },
};

export const LIST_VIEWS = Object.keys(LISTS) as readonly ListView[];

export function isList(view: View): view is ListView {
  return view in LISTS;
}

/** The shown rows of the open view: those that contain every word of the filter, sorted by the chosen column. */
export function rowsOf<V extends ListView>(state: State, view: V): readonly ListRows[V][] {
  const { filter, sort } = state;
  const list: List<ListRows[V]> = LISTS[view];
  const all = list.rows(state);
  if (filter === '' && sort === null) return all;
  const words = filter.toLowerCase().split(/\s+/);
  const nowMs = dataTimeMs(state);
  // As it is shown, and as it would be typed: with all digits, without grouping.
  const raw = list.columns(new Style('records', nowMs, chalk));
  const shown = list.columns(new ScreenStyle(nowMs, state.columns));
  const textOf = (row: ListRows[V]) =>
    [...raw, ...shown].map(({ cell }) => cell(row).text.toLowerCase()).join(' ');
  const kept = filter === '' ? all : all.filter((row) => words.every((word) => textOf(row).includes(word)));
  if (sort === null) return kept;
  const rawText = (row: ListRows[V]) => raw[sort.column]?.cell(row).text ?? '';
  const keyed = kept.map((row) => ({ row, value: rawText(row) }));
  keyed.sort((a, b) => compared(a.value, b.value) * (sort.isReversed ? -1 : 1));
  return keyed.map(({ row }) => row);
}

const COLLATOR = new Intl.Collator('en', { numeric: true });

/** Numbers by value; times of RFC 3339 sort as text. */
function compared(a: string, b: string): number {
  const [first, second] = [Number(a), Number(b)];
  return Number.isNaN(first) || Number.isNaN(second) ? COLLATOR.compare(a, b) : first - second;
}

/** The identities of the shown rows; undefined if the open view is not a list. */
export function keysOf(state: State): readonly string[] | undefined {
  return isList(state.view) ? keysIn(state, state.view) : undefined;
}

function keysIn<V extends ListView>(state: State, view: V): readonly string[] {
  return rowsOf(state, view).map((row) => LISTS[view].key(row));
}

/** @returns undefined for an empty list. */
export function pickedOf<V extends ListView>(state: State, view: V): ListRows[V] | undefined {
  return rowsOf(state, view)[state.picked];
}

/** Sorts by the next column; after the last one in the order of the daemon. */
export function nextSort({ view, sort }: State): State['sort'] {
  const column = (sort?.column ?? -1) + 1;
  return isList(view) && column < headersOf(view).length ? { column, isReversed: false } : null;
}

function headersOf(view: ListView): readonly string[] {
  return LISTS[view].columns(new Style('records', 0, chalk)).map(({ header }) => header);
}

/** For the title of a list: the filter with the number of matches, and the order; empty without both. */
export function narrowedLine(state: State): Line {
  const { view, filter, sort } = state;
  if (!isList(view) || (filter === '' && sort === null)) return [];
  const { rows, total } = LISTS[view];
  const listed = rows(state).length;
  const others = Math.max(0, (total?.(state) ?? listed) - listed);
  const order = sort === null ? '' : `  by ${headersOf(view)[sort.column]} ${sort.isReversed ? '↓' : '↑'}`;
  const kept = filter === '' ? '' : `  ${count(keysIn(state, view).length)} of ${count(listed)}`;
  return [
    span(`${order}${kept}`, 'accent'),
    span(others === 0 ? '' : `, ${count(others)} more not listed`, 'yellow'),
    span(filter === '' ? '' : `  /${filter}`, 'accent'),
  ];
}
