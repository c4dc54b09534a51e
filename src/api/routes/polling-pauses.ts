// /api/admin/polling-pauses: pauses of polling, by operators and by the gateway.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { PAUSABLE, PAUSE_SECONDS_BOUNDS } from '../../domain/limits/pause.ts';
import { pauseReport } from '../../operations/limits/limits-report.ts';
import type { PauseOperations } from '../../operations/limits/pauses.ts';
import { toWire } from '../client/wire.ts';
import { body, reason, requiredOr, wholeNumber } from '../schemas/fields.ts';
import { itemsOf } from '../schemas/page.ts';

const tags = ['polling-pauses'];
const PAUSES = '/polling-pauses';
const items = itemsOf(pauseReport);
const pausedTypes = z.enum(PAUSABLE, { error: requiredOr(`must be one of ${PAUSABLE.join(', ')}`) });

export function pollingPauseRoutes(pauses: PauseOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      PAUSES,
      {
        schema: {
          tags,
          summary: 'List pauses: what is paused, why and until when',
          response: { 200: items },
        },
      },
      async () => ({ items: toWire(await pauses.list()) }),
    );
    app.post(
      PAUSES,
      {
        schema: {
          tags,
          summary: 'Pause polling of one or all task types',
          body: body({ task_type: pausedTypes, seconds: wholeNumber(PAUSE_SECONDS_BOUNDS), reason }),
          response: { 201: items },
        },
      },
      async ({ actor, body }, reply) => {
        const { task_type: taskType, seconds, reason } = body;
        const made = await pauses.pause(actor, { taskType, seconds, reason });
        return reply.code(201).send({ items: toWire(made) });
      },
    );
    app.delete(
      PAUSES,
      {
        schema: {
          tags,
          summary: 'End pauses, including those the gateway asked for; returns the ended pauses',
          querystring: z.object({ task_type: pausedTypes.default('all') }),
          response: { 200: items },
        },
      },
      async ({ actor, query }) => ({ items: toWire(await pauses.resume(actor, query.task_type)) }),
    );
  };
}
