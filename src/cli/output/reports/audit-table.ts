// The audit trail as a table. Used by the audit command. Shows what the API says.
import { isDeepStrictEqual } from 'node:util';
import type { AuditBody } from '../../../api/client/client-bodies.ts';
import { valueText } from '../change.ts';
import { listTable } from '../table.ts';

export const auditTable = listTable<AuditBody>((style) => [
  { header: 'AT', cell: (row) => style.time(row.at) },
  { header: 'WHO', cell: (row) => style.text(row.actor), least: 8 },
  { header: 'ROLE', cell: (row) => style.text(row.role), drop: 2 },
  { header: 'FROM', cell: (row) => style.text(row.address), drop: 3 },
  { header: 'ACTION', cell: (row) => style.text(row.action), least: 17, drop: 4 },
  { header: 'OBJECT', cell: (row) => style.text(row.object), least: 18, drop: 5 },
  { header: 'CHANGE', cell: (row) => style.text(changeText(row)), least: 28 },
  { header: 'REQUEST', cell: (row) => style.text(row.request_id), drop: 1 },
]);

/** `max_concurrency 100 -> 150`: the fields that differ, or all fields of a created or deleted object. */
export function changeText({ before, after }: Pick<AuditBody, 'before' | 'after'>): string {
  const [from, to] = [fieldsOf(before), fieldsOf(after)];
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return names
    .filter((name) => !isDeepStrictEqual(from[name], to[name]))
    .map((name) => {
      if (!(name in from)) return `${name} ${valueText(to[name])}`;
      if (!(name in to)) return `was ${name} ${valueText(from[name])}`;
      return `${name} ${valueText(from[name])} -> ${valueText(to[name])}`;
    })
    .join(', ');
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
