// Retention, previews and progress of cleanups as tables. Used by the cleanup commands. Shows what the API says.
import type {
  CleanupPreviewBody,
  CleanupProgressBody,
  RetentionBody,
} from '../../../api/client/client-bodies.ts';
import type { Style } from '../style.ts';
import { fieldList, listTable } from '../table.ts';

export const configTable = listTable<RetentionBody>((style) => [
  { header: 'ID', cell: (row) => style.id(row.id) },
  { header: 'TARGET', cell: (row) => style.text(row.target), least: 8 },
  { header: 'DAYS', cell: (row) => style.number(row.retention_days) },
  { header: 'STATUS', cell: ({ enabled }) => style.enabled(enabled) },
  { header: 'LAST RUN', cell: (row) => style.time(row.last_run_at) },
]);

type PreviewItem = CleanupPreviewBody['items'][number];

export const previewTable = listTable<PreviewItem>((style) => [
  { header: 'ID', cell: (row) => style.id(row.id) },
  { header: 'TARGET', cell: (row) => style.text(row.target), least: 8 },
  { header: 'DAYS', cell: (row) => style.number(row.retention_days) },
  { header: 'OLDER THAN', cell: (row) => style.time(row.cutoff) },
  { header: 'ROWS', cell: ({ rows, estimated }) => style.estimate(rows, estimated) },
]);

const targetTable = listTable<CleanupProgressBody['items'][number]>((style) => [
  { header: 'TARGET', cell: (row) => style.text(row.target), least: 8 },
  { header: 'DELETED', cell: (row) => style.number(row.deleted) },
  { header: 'TOTAL', cell: (row) => style.number(row.total) },
  {
    header: 'ERROR',
    cell: (row) => style.text(row.error, row.error === null ? undefined : 'red'),
    least: 20,
  },
]);

const runFields = fieldList<CleanupProgressBody>((body, style) => [
  ['status', style.text(body.status, body.status === 'failed' ? 'red' : undefined)],
  ['deleted', style.text(style.number(body.deleted).text)],
  ['batches', style.text(style.number(body.batches).text)],
  ['started', style.time(body.started_at)],
  ['finished', style.time(body.finished_at)],
]);

/** The run and a table; as records the targets alone. */
export function progressTable(body: CleanupProgressBody, style: Style): string {
  const table = targetTable(body.items, style);
  if (!style.forPeople) return table;
  const run = runFields(body, style);
  return body.items.length === 0 ? run : `${run}\n${table}`;
}
