// Polling configs as tables. Used by the configs command. Shows what the API says; computes nothing.
import type { ConfigBody } from '../../../api/client/client-bodies.ts';
import { type Style, sentenceLines } from '../style.ts';
import { renderTable } from '../table.ts';

export function configTable(items: readonly ConfigBody[], style: Style): string {
  const columns = [
    { header: 'ID', cell: (row: ConfigBody) => style.id(row.id) },
    { header: 'NAME', cell: (row: ConfigBody) => style.text(row.name), least: 12 },
    { header: 'TASK', cell: (row: ConfigBody) => style.text(row.task_type) },
    { header: 'CARDS', cell: (row: ConfigBody) => style.text(row.card_condition), drop: 3 },
    { header: 'CARRIER', cell: (row: ConfigBody) => style.id(row.carrier_id ?? 'all'), drop: 2 },
    { header: 'INTERVAL', cell: (row: ConfigBody) => style.seconds(row.interval_seconds) },
    { header: 'ACHIEVED', cell: (row: ConfigBody) => style.seconds(row.achieved_interval_seconds), drop: 4 },
    { header: 'MEMBERS', cell: (row: ConfigBody) => style.number(row.members), drop: 5 },
    { header: 'PRIORITY', cell: (row: ConfigBody) => style.id(row.priority), drop: 1 },
    { header: 'STATUS', cell: ({ status }: ConfigBody) => style.enabled(status === 1) },
  ];
  const table = renderTable(items, columns, style);
  if (!style.forPeople) return table;
  const problems = items.flatMap(({ id, problems: own }) =>
    own.flatMap((problem) => sentenceLines(problem, style, `config ${id}: `)),
  );
  return problems.length === 0 ? table : `${table}\n${problems.join('\n')}\n`;
}

/** `cards of carrier 7 that are not_verified`: what a config matches. */
export function selectionText({
  card_condition,
  carrier_id,
}: Pick<ConfigBody, 'card_condition' | 'carrier_id'>): string {
  const carrier = carrier_id === null ? 'all carriers' : `carrier ${carrier_id}`;
  return `${card_condition === 'any' ? 'all' : card_condition} cards of ${carrier}`;
}
