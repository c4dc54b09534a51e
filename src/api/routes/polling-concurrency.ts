// /api/admin/polling-concurrency: limits of the task types, and the reset of a leaked running count (operations
// interface, sections 2.2 and 4).
import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { MAX_CONCURRENCY_BOUNDS } from '../../domain/limits/max-concurrency.ts';
import { type ConcurrencyOperations, limitVersion } from '../../operations/limits/concurrency.ts';
import { type ConcurrencyLimit, concurrencyLimit, slotReset } from '../../operations/limits/limits-report.ts';
import { toWire } from '../client/wire.ts';
import { etagOf, expectedVersion, ifMatchHeader } from '../etag.ts';
import { body, taskType, wholeNumber } from '../schemas/fields.ts';
import { pageOf, pageQuery, paginate } from '../schemas/page.ts';
import { wireSchema } from '../wire-schema.ts';

const tags = ['polling-concurrency'];

export function pollingConcurrencyRoutes(concurrency: ConcurrencyOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/polling-concurrency',
      {
        schema: {
          tags,
          summary: 'List limits',
          querystring: pageQuery,
          response: { 200: pageOf(concurrencyLimit) },
        },
      },
      async (request) => paginate(toWire(await concurrency.list()), request.query),
    );
    app.get(
      '/polling-concurrency/:task_type',
      {
        schema: {
          tags,
          summary: 'Show the limit of a task type',
          params: z.object({ task_type: taskType }),
          response: { 200: wireSchema(concurrencyLimit) },
        },
      },
      async ({ params }, reply) => withVersion(reply, await concurrency.show(params.task_type)),
    );
    app.put(
      '/polling-concurrency/:task_type',
      {
        schema: {
          tags,
          summary: 'Set the limit of a task type',
          params: z.object({ task_type: taskType }),
          headers: ifMatchHeader,
          body: body({ max_concurrency: wholeNumber(MAX_CONCURRENCY_BOUNDS) }),
          response: { 200: wireSchema(concurrencyLimit) },
        },
      },
      async ({ actor, params: { task_type: type }, body, headers }, reply) => {
        const set = concurrency.set(actor, type, body.max_concurrency, expectedVersion(headers));
        return withVersion(reply, await set);
      },
    );
    app.post(
      '/polling-concurrency/reset',
      {
        schema: {
          tags,
          summary: 'Reset the running count of a task type',
          body: body({ task_type: taskType }),
          response: { 200: wireSchema(slotReset) },
        },
      },
      async ({ actor, body }) => toWire(await concurrency.reset(actor, body.task_type)),
    );
  };
}

function withVersion(reply: FastifyReply, one: ConcurrencyLimit) {
  reply.header('etag', etagOf(limitVersion(one)));
  return toWire(one);
}
