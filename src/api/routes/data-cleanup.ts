// /api/admin/data-cleanup-configs and /api/admin/data-cleanup: retention and cleanup runs (operations interface,
// sections 2.5 and 4).
import { z } from 'zod';
import { RETENTION_DAYS_BOUNDS } from '../../domain/cleanup.ts';
import { type CleanupOperations, retentionVersion } from '../../operations/cleanup.ts';
import { cleanupPreview, cleanupProgress, retention } from '../../resources/cleanup.ts';
import { ENDPOINTS } from '../../resources/endpoints.ts';
import { expectedVersion, ifMatchHeader } from '../etag.ts';
import type { ExpensiveReads } from '../guard/expensive-reads.ts';
import { answersOf, pageOf, pageQuery, paginate, type Serve } from '../schemas/answers.ts';
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

export function dataCleanupRoutes(serve: Serve, cleanup: CleanupOperations, expensive: ExpensiveReads): void {
  serve(
    ENDPOINTS.cleanupConfigs,
    answers('List cleanup configs', pageOf(retention), { querystring: pageQuery }),
    async ({ query }) => paginate(await cleanup.configs(), query),
  );
  serve(
    ENDPOINTS.cleanupConfig,
    answers('Show a cleanup config', retention, { params }, { versionOf: retentionVersion }),
    ({ params }) => cleanup.config(params.id),
  );
  serve(
    ENDPOINTS.updateCleanupConfig,
    answers(
      'Change how long data is kept, or whether it is cleaned',
      retention,
      { params, headers: ifMatchHeader, body: configPatch },
      { adminOnly: true, versionOf: retentionVersion },
    ),
    ({ actor, params, headers, body }) => cleanup.update(actor, params.id, body, expectedVersion(headers)),
  );
  serve(ENDPOINTS.cleanupPreview, answers('Preview what a cleanup would remove', cleanupPreview), () =>
    expensive.count('cleanup', () => cleanup.preview()),
  );
  serve(
    ENDPOINTS.triggerCleanup,
    answers('Start a cleanup run', z.object({ runId: z.string() }), {}, { status: 202 }),
    ({ actor }) => cleanup.trigger(actor),
  );
  serve(ENDPOINTS.cancelCleanup, answers('End the cleanup run', cleanupProgress), ({ actor }) =>
    cleanup.cancel(actor),
  );
  serve(ENDPOINTS.cleanupProgress, answers('Follow the cleanup run', cleanupProgress), () =>
    cleanup.progress(),
  );
}
