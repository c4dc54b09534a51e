// /api/admin/polling-concurrency: limits of the task types, and the reset of a leaked running count (operations
// interface, sections 2.2 and 4).
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { MAX_CONCURRENCY_BOUNDS } from '../../domain/limits/operator-limits.ts';
import { type ConcurrencyOperations, limitVersion } from '../../operations/limits/concurrency.ts';
import { concurrencyLimit, slotReset } from '../../operations/limits/limits-report.ts';
import { toWire } from '../../platform/snake-keys.ts';
import { expectedVersion, ifMatchHeader, withVersion } from '../etag.ts';
import { body, taskType, wholeNumber } from '../schemas/fields.ts';
import { pageOf, pageQuery, paginate } from '../schemas/page.ts';
import { answersOf } from './answers.ts';

const { answers, reports } = answersOf('polling-concurrency');

export function pollingConcurrencyRoutes(concurrency: ConcurrencyOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/polling-concurrency',
      answers('List limits', pageOf(concurrencyLimit), { querystring: pageQuery }),
      async (request) => paginate(toWire(await concurrency.list()), request.query),
    );
    app.get(
      '/polling-concurrency/:task_type',
      reports('Show the limit of a task type', concurrencyLimit, {
        params: z.object({ task_type: taskType }),
      }),
      async ({ params }, reply) => withVersion(reply, await concurrency.show(params.task_type), limitVersion),
    );
    app.put(
      '/polling-concurrency/:task_type',
      reports('Set the limit of a task type', concurrencyLimit, {
        params: z.object({ task_type: taskType }),
        headers: ifMatchHeader,
        body: body({ max_concurrency: wholeNumber(MAX_CONCURRENCY_BOUNDS) }),
      }),
      async ({ actor, params: { task_type: type }, body, headers }, reply) => {
        const set = concurrency.set(actor, type, body.max_concurrency, expectedVersion(headers));
        return withVersion(reply, await set, limitVersion);
      },
    );
    app.post(
      '/polling-concurrency/reset',
      reports('Reset the running count of a task type', slotReset, {
        body: body({ task_type: taskType }),
      }),
      async ({ actor, body }) => toWire(await concurrency.reset(actor, body.task_type)),
    );
  };
}
