// /api/admin/polling-configs: what is polled how often (specification, sections 2.1 and 4).
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { CARD_CONDITIONS } from '../../domain/polling-config.ts';
import { type ConfigOperations, INTERVAL_SECONDS_BOUNDS } from '../../operations/configs.ts';
import { body, requiredOr, taskType, wholeNumber } from '../schemas/fields.ts';
import { pageOf, pageQuery, paginate } from '../schemas/page.ts';
import { toWire } from '../wire.ts';

const pollingConfig = z.object({
  id: z.int(),
  name: z.string(),
  task_type: taskType,
  card_condition: z.enum(CARD_CONDITIONS),
  carrier_id: z.int().nullable(),
  interval_seconds: z.int(),
  priority: z.int(),
  status: z.literal([0, 1]),
});

const configPatch = body({
  status: z.literal([0, 1], { error: 'must be 0 (disabled) or 1 (enabled)' }).optional(),
  interval_seconds: wholeNumber(INTERVAL_SECONDS_BOUNDS).optional(),
}).refine((patch) => patch.status !== undefined || patch.interval_seconds !== undefined, {
  path: ['status'],
  error: 'is required when interval_seconds is not given',
});

const notAnId = { error: requiredOr('must be the number of a polling config') };
const configId = z
  .string()
  .regex(/^[1-9]\d{0,9}$/, notAnId)
  .transform(Number);

const tags = ['polling-configs'];

export function pollingConfigRoutes(configs: ConfigOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/polling-configs',
      {
        schema: {
          tags,
          summary: 'List polling configs',
          querystring: pageQuery,
          response: { 200: pageOf(pollingConfig) },
        },
      },
      async (request) => paginate(toWire(await configs.list()), request.query),
    );
    app.put(
      '/polling-configs/:id',
      {
        schema: {
          tags,
          summary: 'Enable, disable or re-time a polling config',
          params: z.object({ id: configId }),
          body: configPatch,
          response: { 200: pollingConfig },
        },
      },
      async ({ params, body }) => {
        const { status, interval_seconds: intervalSeconds } = body;
        return toWire(
          await configs.update(params.id, {
            ...(status === undefined ? {} : { status }),
            ...(intervalSeconds === undefined ? {} : { intervalSeconds }),
          }),
        );
      },
    );
  };
}
