// The view of polling configs: which cards they match, how often those are polled, and what is wrong with them.
import type { ConfigBody } from '../../api/client/client-bodies.ts';
import { count, seconds } from '../format.ts';
import {
  hint,
  type Line,
  missing,
  plain,
  type Room,
  type Span,
  type SpanColumn,
  span,
  stacked,
  tableLines,
} from '../layout.ts';
import type { State } from '../state.ts';

export function configsLines(state: State, { columns, rows }: Room): Line[] {
  const { body, problem } = state.data.configs;
  if (body === null) return [missing('configs', problem)];
  if (body.items.length === 0)
    return [
      [
        span('▲ no polling config: nothing is polled', 'warn'),
        span('  '),
        ...hint('cardpoll configs create --help'),
      ],
    ];
  const problems = body.items.flatMap(({ id, problems: own }) =>
    own.map((text) => plain(`▲ config ${id}: ${text}`, 'warn')),
  );
  const shownProblems = problems.slice(0, Math.max(0, Math.floor(rows / 3)));
  const table = tableLines(body.items, CONFIG_COLUMNS, {
    columns,
    rows: rows - shownProblems.length - 1,
    selected: state.picked,
  });
  return stacked([table, shownProblems], rows);
}

const CONFIG_COLUMNS: readonly SpanColumn<ConfigBody>[] = [
  { header: 'ID', cell: ({ id }) => span(id), align: 'right' },
  { header: 'NAME', cell: ({ name }) => span(name), least: 20 },
  { header: 'TASK', cell: ({ task_type }) => span(task_type) },
  {
    header: 'STATUS',
    cell: ({ status }) => (status === 1 ? span('● enabled', 'good') : span('■ disabled', 'warn')),
  },
  { header: 'EVERY', cell: ({ interval_seconds }) => span(seconds(interval_seconds)), align: 'right' },
  { header: 'REALLY', cell: reallyCell, align: 'right' },
  { header: 'MEMBERS', cell: ({ members }) => span(count(members)), align: 'right' },
  { header: 'CARDS', cell: ({ card_condition }) => span(card_condition), drop: 3 },
  { header: 'CARRIER', cell: ({ carrier_id }) => span(carrier_id ?? 'all'), align: 'right', drop: 2 },
  { header: 'PRIORITY', cell: ({ priority }) => span(priority), align: 'right', drop: 1 },
];

function reallyCell({ interval_seconds: wanted, achieved_interval_seconds: achieved }: ConfigBody): Span {
  return span(seconds(achieved), achieved !== null && achieved > 1.5 * wanted ? 'warn' : undefined);
}
