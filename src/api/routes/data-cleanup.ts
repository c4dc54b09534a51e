// /api/admin/data-cleanup-configs and /api/admin/data-cleanup: retention and cleanup runs (operations interface,
// sections 2.5 and 4).
import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { RETENTION_DAYS_BOUNDS } from '../../domain/cleanup.ts';
import { type CleanupOperations, retentionVersion } from '../../operations/cleanup.ts';
import {
  cleanupPreview,
  cleanupProgress,
  type Retention,
  retention,
} from '../../operations/cleanup-report.ts';
import { toWire } from '../client/wire.ts';
import { etagOf, expectedVersion, ifMatchHeader } from '../etag.ts';
import { ADMIN_ONLY } from '../guard/access.ts';
import type { ExpensiveReads } from '../guard/expensive-reads.ts';
import { body, requiredOr, wholeNumber } from '../schemas/fields.ts';
import { pageOf, pageQuery, paginate } from '../schemas/page.ts';
import { wireSchema } from '../wire-schema.ts';

const configPatch = body({
  retention_days: wholeNumber(RETENTION_DAYS_BOUNDS).optional(),
  enabled: z.boolean({ error: 'must be true or false' }).optional(),
}).refine((patch) => patch.retention_days !== undefined || patch.enabled !== undefined, {
  path: ['retention_days'],
  error: 'is required when enabled is not given',
});

const notAnId = { error: requiredOr('must be the number of a cleanup config') };
const configId = z
  .string()
  .regex(/^[1-9]\d{0,9}$/, notAnId)
  .transform(Number);

const tags = ['data-cleanup'];

export function dataCleanupRoutes(
  cleanup: CleanupOperations,
  expensive: ExpensiveReads,
): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(configRoutes(cleanup));
    app.get(
      '/data-cleanup/preview',
      {
        schema: {
          tags,
          summary: 'Preview what a cleanup would remove',
          response: { 200: wireSchema(cleanupPreview) },
        },
      },
      async () => toWire(await expensive.count('cleanup', () => cleanup.preview())),
    );
    app.post(
      '/data-cleanup/trigger',
      {
        schema: {
          tags,
          summary: 'Start a cleanup run',
          response: { 202: z.object({ run_id: z.string() }) },
        },
      },
      async ({ actor }, reply) => reply.status(202).send(toWire(await cleanup.trigger(actor))),
    );
    app.post(
      '/data-cleanup/cancel',
      { schema: { tags, summary: 'End the cleanup run', response: { 200: wireSchema(cleanupProgress) } } },
      async ({ actor }) => toWire(await cleanup.cancel(actor)),
    );
    app.get(
      '/data-cleanup/progress',
      { schema: { tags, summary: 'Follow the cleanup run', response: { 200: wireSchema(cleanupProgress) } } },
      async () => toWire(await cleanup.progress()),
    );
  };
}

function configRoutes(cleanup: CleanupOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/data-cleanup-configs',
      {
        schema: {
          tags,
          summary: 'List cleanup configs',
          querystring: pageQuery,
          response: { 200: pageOf(retention) },
        },
      },
      async (request) => paginate(toWire(await cleanup.configs()), request.query),
    );
    app.get(
      '/data-cleanup-configs/:id',
      {
        schema: {
          tags,
          summary: 'Show a cleanup config',
          params: z.object({ id: configId }),
          response: { 200: wireSchema(retention) },
        },
      },
      async ({ params }, reply) => withVersion(reply, await cleanup.config(params.id)),
    );
    app.put(
      '/data-cleanup-configs/:id',
      {
        config: ADMIN_ONLY,
        schema: {
          tags,
          summary: 'Change how long data is kept, or whether it is cleaned',
          params: z.object({ id: configId }),
          headers: ifMatchHeader,
          body: configPatch,
          response: { 200: wireSchema(retention) },
        },
      },
      async ({ actor, params, headers, body: { retention_days: retentionDays, enabled } }, reply) => {
        const patch = {
          ...(retentionDays === undefined ? {} : { retentionDays }),
          ...(enabled === undefined ? {} : { enabled }),
        };
        return withVersion(reply, await cleanup.update(actor, params.id, patch, expectedVersion(headers)));
      },
    );
  };
}

function withVersion(reply: FastifyReply, config: Retention) {
  reply.header('etag', etagOf(retentionVersion(config)));
  return toWire(config);
}
