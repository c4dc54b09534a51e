// The report of the audit trail. Made by audit.ts.
import { z } from 'zod';
import { type ReportOf, report } from './report.ts';

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
