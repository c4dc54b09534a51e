// The views that are lists: alerts, manual triggers, live instances and polling configs. Keys act on the picked row.
import type { TriggerBody } from '../../api/client/client-bodies.ts';
import { alertColumns } from '../../cli/output/reports/alert-tables.ts';
import { configColumns } from '../../cli/output/reports/config-tables.ts';
import { instanceColumns } from '../../cli/output/reports/stats-views.ts';
import { triggerColumns } from '../../cli/output/reports/trigger-table.ts';
import type { ColumnsOf } from '../../cli/output/table.ts';
import { count, counted, ScreenStyle } from '../format.ts';
import {
  columnsOf,
  gaugeSpans,
  hint,
  type Line,
  missing,
  plain,
  type Room,
  type SpanColumn,
  span,
  tableLines,
} from '../layout.ts';
import type { Part, ViewProps } from '../part.tsx';
import { dataTimeMs, listedAlerts, type State } from '../state.ts';

interface ListProps<Item> extends ViewProps {
  readonly summary: Line;
  readonly items: readonly Item[];
  readonly wanted: ColumnsOf<Item>;
  readonly further?: readonly SpanColumn<Item>[];
}

/** A summary, and the rows around the picked one. */
function list<Item>({ summary, items, wanted, columns, rows, state, further }: ListProps<Item>): Part[] {
  return [[summary], commandTable(items, wanted, { columns, rows: rows - 2 }, state, further)];
}

/** A table that a command prints too. @param further columns of the screen alone. */
export function commandTable<Item>(
  items: readonly Item[],
  wanted: ColumnsOf<Item>,
  room: Room,
  state: State,
  further: readonly SpanColumn<Item>[] = [],
): Line[] {
  const columns = columnsOf(wanted(new ScreenStyle(dataTimeMs(state), room.columns)), items);
  return tableLines(items, [...columns, ...further], { ...room, selected: state.picked });
}

/** Firing alerts first: who has acknowledged them, which are silenced, which notifications were sent. */
export function alertsView({ state, ...room }: ViewProps): Part[] {
  const { alerts, firing } = state.data;
  if (alerts.body === null) return [[missing('alerts', alerts.problem)]];
  if (firing.body === null) return [[missing('firing alerts', firing.problem)]];
  const listed = listedAlerts(state);
  if (listed.length === 0) {
    const commands: Line = [
      span('Rules: '),
      span('cardpoll alerts rules', 'accent'),
      span('; to get some: '),
      span('cardpoll alerts recommended --apply', 'accent'),
    ];
    return [[plain('No alert has fired yet.'), commands]];
  }
  const { total } = firing.body;
  const summary: Line = [
    total === 0 ? span('● none fires', 'green') : span(`✖ ${total} ${total === 1 ? 'fires' : 'fire'}`, 'red'),
    span(`  then the latest of ${counted(alerts.body.total, 'alert')}`, 'dim'),
  ];
  return list({ summary, state, ...room, items: listed, wanted: alertColumns });
}

const BAR_COLUMNS = 10;

/** Manual triggers and their progress, with the latest first. */
export function triggersView({ state, ...room }: ViewProps): Part[] {
  const { body, problem } = state.data.triggers;
  if (body === null) return [[missing('triggers', problem)]];
  if (body.items.length === 0) {
    const command: Line = [
      span('To have a card polled now: '),
      span('cardpoll trigger single --card-id 42 --task realname', 'accent'),
    ];
    return [[plain('Nothing was triggered by hand.'), command]];
  }
  const summary = plain(`the latest ${body.items.length} of ${counted(body.total, 'trigger')}`, 'dim');
  const shown = { items: body.items, wanted: triggerColumns, further: PROGRESS_COLUMNS };
  return list({ summary, state, ...room, ...shown });
}

/** What only the screen shows: how far each is. */
const PROGRESS_COLUMNS: readonly SpanColumn<TriggerBody>[] = [
  {
    header: 'DONE',
    cell: ({ total, succeeded, failed }) =>
      gaugeSpans(total === 0 ? 1 : (succeeded + failed) / total, BAR_COLUMNS, 'accent'),
    drop: 2,
  },
  { header: 'RUNNING', cell: ({ running }) => span(count(running)), align: 'right', drop: 3 },
];

/** Live instances: what each of them runs, and the age of its heartbeat. */
export function instancesView({ state, ...room }: ViewProps): Part[] {
  const { body, problem } = state.data.overview;
  if (body === null) return [[missing('instances', problem)]];
  const { workers } = body;
  if (workers.length === 0)
    return [[[span('✖ no instance is alive', 'red'), span('  '), ...hint('cardpoll daemon')]]];
  const running = workers.reduce((sum, { in_flight }) => sum + in_flight, 0);
  const summary = plain(`${workers.length} alive, ${counted(running, 'poll')} running`, 'dim');
  return list({ summary, state, ...room, items: workers, wanted: instanceColumns });
}

/** Polling configs: which cards they match, how often those are polled, and what is wrong with them. */
export function configsView({ state, columns, rows }: ViewProps): Part[] {
  const { body, problem } = state.data.configs;
  if (body === null) return [[missing('configs', problem)]];
  if (body.items.length === 0) {
    const nothing = span('▲ no polling config: nothing is polled', 'yellow');
    return [[[nothing, span('  '), ...hint('cardpoll configs create --help')]]];
  }
  const problems = body.items.flatMap(({ id, problems: own }) =>
    own.map((text) => plain(`▲ config ${id}: ${text}`, 'yellow')),
  );
  const shownProblems = problems.slice(0, Math.max(0, Math.floor(rows / 3)));
  const room = { columns, rows: rows - shownProblems.length - 1 };
  const table = commandTable(body.items, configColumns, room, state);
  return [table, shownProblems];
}
