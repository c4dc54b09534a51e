// /api/admin/data-cleanup-configs and /api/admin/data-cleanup: retention and cleanup runs (operations interface,
// sections 2.5 and 4).
import { z } from 'zod';
import { RETENTION_DAYS_BOUNDS } from '../../domain/cleanup.ts';
import { type CleanupOperations, retentionVersion } from '../../operations/cleanup.ts';
import { cleanupPreview, cleanupProgress, retention } from '../../operations/cleanup-report.ts';
import { expectedVersion, ifMatchHeader } from '../etag.ts';
import type { ExpensiveReads } from '../guard/expensive-reads.ts';
import { answersOf, pageOf, pageQuery, paginate, type Routes } from '../schemas/answers.ts';
import { body, idOf, wholeNumber, yesOrNo } from '../schemas/fields.ts';

const configPatch = body({
  retention_days: wholeNumber(RETENTION_DAYS_BOUNDS).exactOptional(),
  enabled: yesOrNo.exactOptional(),
}).refine((patch) => patch.retention_days !== undefined || patch.enabled !== undefined, {
  path: ['retention_days'],
  error: 'is required when enabled is not given',
});

const params = z.object({ id: idOf('a cleanup config') });

const answers = answersOf('data-cleanup');

export function dataCleanupRoutes(app: Routes, cleanup: CleanupOperations, expensive: ExpensiveReads): void {
  app.get(
    '/data-cleanup-configs',
    answers('List cleanup configs', pageOf(retention), { querystring: pageQuery }),
    async ({ query }) => paginate(await cleanup.configs(), query),
  );
  app.get(
    '/data-cleanup-configs/:id',
    answers('Show a cleanup config', retention, { params }, { versionOf: retentionVersion }),
    ({ params }) => cleanup.config(params.id),
  );
  app.put(
    '/data-cleanup-configs/:id',
    answers(
      'Change how long data is kept, or whether it is cleaned',
      retention,
      { params, headers: ifMatchHeader, body: configPatch },
      { adminOnly: true, versionOf: retentionVersion },
    ),
    ({ actor, params, headers, body }) => cleanup.update(actor, params.id, body, expectedVersion(headers)),
  );
  app.get('/data-cleanup/preview', answers('Preview what a cleanup would remove', cleanupPreview), () =>
    expensive.count('cleanup', () => cleanup.preview()),
  );
  app.post(
    '/data-cleanup/trigger',
    answers('Start a cleanup run', z.object({ runId: z.string() }), {}, { status: 202 }),
    ({ actor }) => cleanup.trigger(actor),
  );
  app.post('/data-cleanup/cancel', answers('End the cleanup run', cleanupProgress), ({ actor }) =>
    cleanup.cancel(actor),
  );
  app.get('/data-cleanup/progress', answers('Follow the cleanup run', cleanupProgress), () =>
    cleanup.progress(),
  );
}
