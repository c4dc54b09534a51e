// The reports of cleanup: retention, the preview of a run, and the run. Made by cleanup.ts.
import { z } from 'zod';
import { CLEANUP_TARGETS } from '../domain/cleanup.ts';
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
