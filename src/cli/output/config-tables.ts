// Polling configs as tables. Used by the configs command. Shows what the API says; computes nothing.
import type { ConfigBody } from '../../api/client.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';

export function configTable(items: readonly ConfigBody[], style: Style): string {
  const columns = [
    { header: 'ID', cell: (row: ConfigBody) => style.number(row.id) },
    { header: 'NAME', cell: (row: ConfigBody) => style.text(row.name) },
    { header: 'TASK', cell: (row: ConfigBody) => style.text(row.task_type) },
    { header: 'CARDS', cell: (row: ConfigBody) => style.text(row.card_condition) },
    { header: 'CARRIER', cell: (row: ConfigBody) => style.text(row.carrier_id ?? 'all') },
    { header: 'INTERVAL', cell: (row: ConfigBody) => style.seconds(row.interval_seconds) },
    { header: 'ACHIEVED', cell: (row: ConfigBody) => style.seconds(row.achieved_interval_seconds) },
    { header: 'MEMBERS', cell: (row: ConfigBody) => style.number(row.members) },
    { header: 'PRIORITY', cell: (row: ConfigBody) => style.number(row.priority) },
    {
      header: 'STATUS',
      cell: ({ status }: ConfigBody) =>
        status === 1 ? style.text('enabled', 'green') : style.text('disabled', 'yellow'),
    },
  ];
  const table = renderTable(items, columns, style);
  if (!style.forPeople) return table;
  const problems = items.flatMap(({ id, problems: own }) =>
    own.map((problem) => `config ${id}: ${problem}\n`),
  );
  return problems.length === 0 ? table : `${table}\n${problems.join('')}`;
}

/** `cards of carrier 7 that are not_verified`: what a config matches. */
export function selectionText({ card_condition, carrier_id }: ConfigBody): string {
  const carrier = carrier_id === null ? 'all carriers' : `carrier ${carrier_id}`;
  return `${card_condition === 'any' ? 'all' : card_condition} cards of ${carrier}`;
}
