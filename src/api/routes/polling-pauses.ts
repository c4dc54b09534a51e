// /api/admin/polling-pauses: pauses of polling, by operators and by the gateway.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { PAUSABLE, PAUSE_SECONDS_BOUNDS } from '../../domain/limits/operator-limits.ts';
import { pauseReport } from '../../operations/limits/limits-report.ts';
import type { PauseOperations } from '../../operations/limits/pauses.ts';
import { toWire } from '../../platform/snake-keys.ts';
import { body, oneOf, reason, wholeNumber } from '../schemas/fields.ts';
import { itemsOf } from '../schemas/page.ts';
import { answersOf } from './answers.ts';

const { answers } = answersOf('polling-pauses');
const PAUSES = '/polling-pauses';
const items = itemsOf(pauseReport);
const pausedTypes = oneOf(PAUSABLE);

export function pollingPauseRoutes(pauses: PauseOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(PAUSES, answers('List pauses: what is paused, why and until when', items), async () => ({
      items: toWire(await pauses.list()),
    }));
    app.post(
      PAUSES,
      answers(
        'Pause polling of one or all task types',
        items,
        { body: body({ task_type: pausedTypes, seconds: wholeNumber(PAUSE_SECONDS_BOUNDS), reason }) },
        201,
      ),
      async ({ actor, body }) => {
        const { task_type: taskType, seconds, reason } = body;
        const made = await pauses.pause(actor, { taskType, seconds, reason });
        return { items: toWire(made) };
      },
    );
    app.delete(
      PAUSES,
      answers('End pauses, including those the gateway asked for; returns the ended pauses', items, {
        querystring: z.object({ task_type: pausedTypes.default('all') }),
      }),
      async ({ actor, query }) => ({ items: toWire(await pauses.resume(actor, query.task_type)) }),
    );
  };
}
