// The audit trail: the reports of a change and of its undo, and the filter of the list. Made by operations/audit.ts and undo.ts,
// served by api/routes/audit.ts. Does not say what can be undone.
import { z } from 'zod';
import type { Wire } from '../platform/snake-keys.ts';
import { type Open, type ReportOf, report, type TimeQuery } from './schema.ts';

export const auditItem = report('AuditItem', {
  id: z.int(),
  at: z.date(),
  actor: z
    .string()
    .describe('Name of the token; local without tokens, daemon for what cardpoll does by itself'),
  role: z.string(),
  address: z.string().nullable().describe('Where the request came from; null: from no request'),
  requestId: z.string().nullable(),
  action: z
    .string()
    .describe('concurrency.set, for example; ends in .failed when the change did not take place'),
  object: z.string().describe('What was changed: config 3, for example'),
  before: z.unknown(),
  after: z.unknown(),
});
export type AuditItem = ReportOf<typeof auditItem>;
export type AuditBody = Wire<AuditItem>;

export const undoReport = report('Undo', {
  undoes: z.int().describe('The change that was taken back'),
  state: z
    .enum(['planned', 'undone', 'already_undone'])
    .describe(
      'planned: with dry_run; already_undone: by an earlier request, and nothing newer changed the same',
    ),
  auditId: z.int().nullable().describe('The entry of the undo; null: not made yet'),
  at: z.date().describe('Of the change'),
  actor: z.string(),
  action: z.string(),
  object: z.string(),
  before: z.unknown().describe('The values that the undo restores; null: the object was not there'),
  after: z.unknown().describe('The values that the change left'),
});
export type UndoReport = ReportOf<typeof undoReport>;
export type UndoBody = Wire<UndoReport>;

export type AuditQuery = TimeQuery & Open<Record<'actor' | 'action' | 'object', string>>;
