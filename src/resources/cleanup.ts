// Cleanup: the reports of retention, of the preview of a run, and of the run. Made by operations/cleanup.ts, served by
// api/routes/data-cleanup.ts. The rows to remove are chosen by the store.
import { z } from 'zod';
import { CLEANUP_TARGETS } from '../domain/cleanup.ts';
import type { Wire } from '../platform/snake-keys.ts';
import { type ReportOf, report } from './schema.ts';

const target = z.enum(CLEANUP_TARGETS);

export const retention = report('CleanupConfig', {
  id: z.int(),
  target,
  retentionDays: z.int(),
  enabled: z.boolean(),
  lastRunAt: z.date().nullable(),
});
export type Retention = ReportOf<typeof retention>;
export type RetentionBody = Wire<Retention>;

export const cleanupPreview = report('CleanupPreview', {
  items: z.array(
    z.object({
      id: z.int(),
      target,
      retentionDays: z.int(),
      cutoff: z.date().describe('Rows that are older are removed'),
      rows: z.int(),
      estimated: z
        .boolean()
        .describe("True where counting takes too long and rows is the database's own estimate"),
    }),
  ),
  totalRows: z.int(),
});
export type CleanupPreview = ReportOf<typeof cleanupPreview>;
export type CleanupPreviewBody = Wire<CleanupPreview>;

export const cleanupProgress = report('CleanupProgress', {
  runId: z.string().nullable().describe('null before the first run, whose status is idle'),
  status: z.enum(['idle', 'running', 'completed', 'failed']),
  items: z.array(
    z.object({
      target,
      deleted: z.int(),
      total: z
        .int()
        .describe('Rows that had expired when the run began; what was removed, once the target is done'),
      error: z.string().nullable().describe('Why it could not be cleaned; null without an error'),
    }),
  ),
  deleted: z.int(),
  batches: z.int(),
  startedAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
});
export type CleanupProgress = ReportOf<typeof cleanupProgress>;
export type CleanupProgressBody = Wire<CleanupProgress>;

/** Only the fields to change. */
export type RetentionPatch = Partial<Pick<RetentionBody, 'retention_days' | 'enabled'>>;
