// What holds the polling of task types back: /api/admin/polling-concurrency, their limits, and the reset of a leaked running
// count (operations interface, sections 2.2 and 4); /api/admin/polling-pauses, pauses by operators and by the gateway.
import { z } from 'zod';
import {
  MAX_CONCURRENCY_BOUNDS,
  PAUSABLE,
  PAUSE_SECONDS_BOUNDS,
} from '../../domain/limits/operator-limits.ts';
import { type ConcurrencyOperations, limitVersion } from '../../operations/limits/concurrency.ts';
import { concurrencyLimit, pauseReport, slotReset } from '../../operations/limits/limits-report.ts';
import type { PauseOperations } from '../../operations/limits/pauses.ts';
import { expectedVersion, ifMatchHeader, withVersion } from '../etag.ts';
import { answersOf, itemsOf, pageOf, pageQuery, paginate, type Routes } from '../schemas/answers.ts';
import { body, oneOf, reason, taskType, wholeNumber } from '../schemas/fields.ts';

const answers = answersOf('polling-concurrency');

export function pollingConcurrencyRoutes(app: Routes, concurrency: ConcurrencyOperations): void {
  app.get(
    '/polling-concurrency',
    answers('List limits', pageOf(concurrencyLimit), { querystring: pageQuery }),
    async (request) => paginate(await concurrency.list(), request.query),
  );
  app.get(
    '/polling-concurrency/:task_type',
    answers('Show the limit of a task type', concurrencyLimit, {
      params: z.object({ task_type: taskType }),
    }),
    async (request) => withVersion(request, await concurrency.show(request.params.task_type), limitVersion),
  );
  app.put(
    '/polling-concurrency/:task_type',
    answers('Set the limit of a task type', concurrencyLimit, {
      params: z.object({ task_type: taskType }),
      headers: ifMatchHeader,
      body: body({ max_concurrency: wholeNumber(MAX_CONCURRENCY_BOUNDS) }),
    }),
    async (request) => {
      const { actor, params, body, headers } = request;
      const set = concurrency.set(actor, params.task_type, body.max_concurrency, expectedVersion(headers));
      return withVersion(request, await set, limitVersion);
    },
  );
  app.post(
    '/polling-concurrency/reset',
    answers('Reset the running count of a task type', slotReset, {
      body: body({ task_type: taskType }),
    }),
    ({ actor, body }) => concurrency.reset(actor, body.task_type),
  );
}

const pauseAnswers = answersOf('polling-pauses');
const PAUSES = '/polling-pauses';
const items = itemsOf(pauseReport);
const pausedTypes = oneOf(PAUSABLE);

export function pollingPauseRoutes(app: Routes, pauses: PauseOperations): void {
  app.get(PAUSES, pauseAnswers('List pauses: what is paused, why and until when', items), async () => ({
    items: await pauses.list(),
  }));
  app.post(
    PAUSES,
    pauseAnswers(
      'Pause polling of one or all task types',
      items,
      { body: body({ task_type: pausedTypes, seconds: wholeNumber(PAUSE_SECONDS_BOUNDS), reason }) },
      201,
    ),
    async ({ actor, body }) => {
      const { task_type: taskType, seconds, reason } = body;
      return { items: await pauses.pause(actor, { taskType, seconds, reason }) };
    },
  );
  app.delete(
    PAUSES,
    pauseAnswers('End pauses, including those the gateway asked for; returns the ended pauses', items, {
      querystring: z.object({ task_type: pausedTypes.default('all') }),
    }),
    async ({ actor, query }) => ({ items: await pauses.resume(actor, query.task_type) }),
  );
}
