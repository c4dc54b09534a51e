// /api/admin/polling-concurrency: limits of the task types, and the reset of a leaked running count (operations
// interface, sections 2.2 and 4).
import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { MAX_CONCURRENCY_BOUNDS } from '../../domain/limits/max-concurrency.ts';
import {
  type ConcurrencyLimit,
  type ConcurrencyOperations,
  limitVersion,
} from '../../operations/limits/concurrency.ts';
import { toWire } from '../client/wire.ts';
import { etagOf, expectedVersion, ifMatchHeader } from '../etag.ts';
import { body, instant, taskType, wholeNumber } from '../schemas/fields.ts';
import { pageOf, pageQuery, paginate } from '../schemas/page.ts';

const level = z.object({
  concurrency: z.int(),
  rate_per_second: z.number(),
  avg_duration_ms: z.number(),
  backpressure_percent: z.number(),
  at: instant,
});
const limit = z
  .object({
    task_type: taskType,
    max_concurrency: z.int(),
    current: z.int(),
    effective_concurrency: z.int(),
    reason: z.string().nullable(),
    curve: z.array(level),
    knee: level.nullable(),
  })
  .meta({ id: 'ConcurrencyLimit' });
const slotReset = z
  .object({ task_type: taskType, previous: z.int(), current: z.int() })
  .meta({ id: 'SlotReset' });

const tags = ['polling-concurrency'];

export function pollingConcurrencyRoutes(concurrency: ConcurrencyOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/polling-concurrency',
      { schema: { tags, summary: 'List limits', querystring: pageQuery, response: { 200: pageOf(limit) } } },
      async (request) => paginate(toWire(await concurrency.list()), request.query),
    );
    app.get(
      '/polling-concurrency/:task_type',
      {
        schema: {
          tags,
          summary: 'Show the limit of a task type',
          params: z.object({ task_type: taskType }),
          response: { 200: limit },
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
          response: { 200: limit },
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
          response: { 200: slotReset },
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
