// The views that are lists: alerts, manual triggers, live instances and polling configs. Keys act on the picked row.
import { countWords } from '../../domain/words.ts';
import { fitted } from '../../terminal/line.ts';
import { signed } from '../../terminal/style.ts';
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
import { LISTS, type ListView, narrowedLine, type RowOf, rowsOf } from '../lists.ts';
import type { Part, ViewProps } from '../part.tsx';
import { dataTimeMs, type Source, type State } from '../state.ts';

interface Look<V extends ListView> {
  /** The required sources, with their names. */
  readonly sources: readonly (readonly [Source, string])[];
  /** Shown instead of an empty list. */
  readonly nothing: readonly Line[];
  readonly title: (state: State) => Line;
  /** Columns that only the screen has. */
  readonly further?: readonly SpanColumn<RowOf<V>>[];
  /** Lines below the list, in a third of the rows at most. */
  readonly below?: (state: State) => readonly Line[];
}

const BELOW_SHARE = 1 / 3;

function listView<V extends ListView>(view: V, look: Look<V>) {
  return ({ state, columns, rows }: ViewProps): Part[] => {
    for (const [source, name] of look.sources) {
      const { body, problem } = state.data[source];
      if (body === null) return [[missing(name, problem)]];
    }
    if (LISTS[view].rows(state).length === 0) return [look.nothing];
    const below = (look.below?.(state) ?? []).slice(0, Math.floor(rows * BELOW_SHARE));
    const room = { columns, rows: rows - (below.length === 0 ? 0 : below.length + 1) };
    return [listTable(state, view, room, look.title(state), look.further), below];
  };
}

/** The title with the filter and the order, and the rows around the picked one as a table that a command also prints. */
export function listTable<V extends ListView>(
  state: State,
  view: V,
  { columns, rows }: Room,
  title: Line,
  further: readonly SpanColumn<RowOf<V>>[] = [],
): Line[] {
  const shown = rowsOf(state, view);
  const printed = columnsOf(LISTS[view].columns(new ScreenStyle(dataTimeMs(state), columns)), shown);
  const room = { columns, rows: rows - 1, selected: state.picked };
  const narrowed = narrowedLine(state);
  // The filter and the order replace the rest of the title.
  const said = narrowed.length === 0 ? title : [...title.slice(0, 1), ...narrowed];
  return [fitted(said, columns), ...tableLines(shown, [...printed, ...further], room)];
}

/** Firing alerts first: acknowledged by whom, silenced or not, and the sent notifications. */
export const alertsView = listView('alerts', {
  sources: [
    ['alerts', 'alerts'],
    ['firing', 'firing alerts'],
  ],
  nothing: [
    plain('No alert has fired yet.'),
    [
      span('Rules: '),
      span('cardpoll alerts rules', 'accent'),
      span('; to get some: '),
      span('cardpoll alerts recommended --apply', 'accent'),
    ],
  ],
  title: ({ data: { firing, alerts } }) => {
    const total = firing.body?.total ?? 0;
    const latest = span(`  then the latest of ${counted(alerts.body?.total ?? 0, 'alert')}`, 'dim');
    if (total === 0) return [signed('good', 'none fires'), latest];
    return [signed('bad', countWords(total, 'fires', 'fire')), latest];
  },
});

const BAR_COLUMNS = 10;

/** Manual triggers and their progress, with the latest first. */
export const triggersView = listView('triggers', {
  sources: [['triggers', 'triggers']],
  nothing: [
    plain('Nothing was triggered by hand.'),
    [
      span('To have a card polled now: '),
      span('cardpoll trigger single --card-id 42 --task realname', 'accent'),
    ],
  ],
  title: ({ data: { triggers } }) => {
    const { items, total } = triggers.body ?? { items: [], total: 0 };
    return plain(`the latest ${items.length} of ${counted(total, 'trigger')}`, 'dim');
  },
  further: [
    {
      header: 'DONE',
      cell: ({ total, succeeded, failed }) =>
        gaugeSpans(total === 0 ? 1 : (succeeded + failed) / total, BAR_COLUMNS, 'accent'),
      drop: 2,
    },
    { header: 'RUNNING', cell: ({ running }) => span(count(running)), align: 'right', drop: 3 },
  ],
});

/** Live instances: their roles, and the age of their heartbeat. */
export const instancesView = listView('instances', {
  sources: [['overview', 'instances']],
  nothing: [[signed('bad', 'no instance is alive'), span('  '), ...hint('cardpoll daemon')]],
  title: ({ data }) => {
    const workers = data.overview.body?.workers ?? [];
    const running = workers.reduce((sum, { in_flight }) => sum + in_flight, 0);
    return plain(`${workers.length} alive, ${counted(running, 'poll')} running`, 'dim');
  },
});

/** Polling configs: the cards they match, their interval, and their problems. */
export const configsView = listView('configs', {
  sources: [['configs', 'configs']],
  nothing: [
    [
      signed('warning', 'no polling config: nothing is polled'),
      span('  '),
      ...hint('cardpoll configs create --help'),
    ],
  ],
  title: (state) => plain(counted(LISTS.configs.rows(state).length, 'config'), 'dim'),
  below: (state) =>
    LISTS.configs
      .rows(state)
      .flatMap(({ id, problems }) => problems.map((text) => [signed('warning', `config ${id}: ${text}`)])),
});
