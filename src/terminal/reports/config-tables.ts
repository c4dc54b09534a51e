// Polling configs as tables. Used by the configs command and the dashboard. Shows the API's values; computes nothing.
import type { ConfigBody } from '../../resources/schedule.ts';
import { type Cell, type Style, sentenceLines } from '../style.ts';
import { type ColumnsOf, renderTable } from '../table.ts';

export const configColumns: ColumnsOf<ConfigBody> = (style) => [
  { header: 'ID', cell: (row) => style.id(row.id) },
  { header: 'NAME', cell: (row) => style.text(row.name), least: 12 },
  { header: 'TASK', cell: (row) => style.text(row.task_type) },
  { header: 'CARDS', cell: (row) => style.text(row.card_condition), drop: 3 },
  { header: 'CARRIER', cell: (row) => style.id(row.carrier_id ?? 'all'), drop: 2 },
  { header: 'INTERVAL', cell: (row) => style.seconds(row.interval_seconds) },
  { header: 'ACHIEVED', cell: (row) => achievedCell(row, style), drop: 4 },
  { header: 'MEMBERS', cell: (row) => style.number(row.members), drop: 5 },
  { header: 'PRIORITY', cell: (row) => style.id(row.priority), drop: 1 },
  { header: 'STATUS', cell: ({ status }) => style.enabled(status === 1) },
];

function achievedCell(
  { interval_seconds: wanted, achieved_interval_seconds: achieved }: ConfigBody,
  style: Style,
): Cell {
  return {
    ...style.seconds(achieved),
    tone: achieved !== null && achieved > 1.5 * wanted ? 'yellow' : undefined,
  };
}

/** The table, and the problems of the configs. */
export function configTable(items: readonly ConfigBody[], style: Style): string {
  const table = renderTable(items, configColumns(style), style);
  if (!style.forPeople) return table;
  const problems = items.flatMap(({ id, problems: own }) =>
    own.flatMap((problem) => sentenceLines(problem, style, `config ${id}: `)),
  );
  return problems.length === 0 ? table : `${table}\n${problems.join('\n')}\n`;
}

/** The cards that a config matches: `cards of carrier 7 that are not_verified`. */
export function selectionText({
  card_condition,
  carrier_id,
}: Pick<ConfigBody, 'card_condition' | 'carrier_id'>): string {
  const carrier = carrier_id === null ? 'all carriers' : `carrier ${carrier_id}`;
  return `${card_condition === 'any' ? 'all' : card_condition} cards of ${carrier}`;
}
