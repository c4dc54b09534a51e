// /api/admin/polling-configs: which cards are polled, and how often (operations interface, sections 2.1 and 4).
import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { SELECTION_BOUNDS } from '../../domain/manual-trigger.ts';
import { ONE_LINE } from '../../domain/one-line.ts';
import {
  CARD_CONDITIONS,
  INTERVAL_SECONDS_BOUNDS,
  PRIORITY_BOUNDS,
} from '../../domain/schedule/polling-config.ts';
import {
  CONFIG_NAME_LENGTH,
  type ConfigOperations,
  type ConfigPatch,
  configVersion,
} from '../../operations/schedule/configs.ts';
import { type ConfigReport, configReport } from '../../operations/schedule/schedule-report.ts';
import { toWire } from '../client/wire.ts';
import { etagOf, expectedVersion, ifMatchHeader } from '../etag.ts';
import { ADMIN_ONLY } from '../guard/access.ts';
import { body, requiredOr, taskType, wholeNumber } from '../schemas/fields.ts';
import { pageOf, pageQuery, paginate } from '../schemas/page.ts';
import { wireSchema } from '../wire-schema.ts';

const nameRule = `must have 1 to ${CONFIG_NAME_LENGTH} printable characters`;
const fields = {
  status: z.literal([0, 1], { error: 'must be 0 (disabled) or 1 (enabled)' }),
  name: z
    .string({ error: requiredOr(nameRule) })
    .trim()
    .min(1, { error: nameRule })
    .max(CONFIG_NAME_LENGTH, { error: nameRule })
    .regex(ONE_LINE, { error: nameRule }),
  task_type: taskType,
  card_condition: z.enum(CARD_CONDITIONS, {
    error: requiredOr(`must be one of ${CARD_CONDITIONS.join(', ')}`),
  }),
  carrier_id: wholeNumber(SELECTION_BOUNDS).nullable(),
  interval_seconds: wholeNumber(INTERVAL_SECONDS_BOUNDS),
  priority: wholeNumber(PRIORITY_BOUNDS),
};

const newConfig = body({
  ...fields,
  carrier_id: fields.carrier_id.default(null),
  priority: fields.priority.default(0),
  status: fields.status.default(1),
});

const configPatch = z
  .strictObject(body(fields).partial().shape, {
    error: (issue) => (issue.code === 'invalid_type' ? 'must be a JSON object' : undefined),
  })
  .refine((patch) => Object.values(patch).some((value) => value !== undefined), {
    path: ['status'],
    error: 'is required when nothing else is given',
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
          response: { 200: pageOf(configReport) },
        },
      },
      async (request) => paginate(toWire(await configs.list()), request.query),
    );
    app.put(
      '/polling-configs/:id',
      {
        config: ADMIN_ONLY,
        schema: {
          tags,
          summary: 'Change a polling config; fields left out stay as they are',
          params: z.object({ id: configId }),
          headers: ifMatchHeader,
          body: configPatch,
          response: { 200: wireSchema(configReport) },
        },
      },
      async ({ actor, params, body, headers }, reply) =>
        withVersion(reply, await configs.update(actor, params.id, patchOf(body), expectedVersion(headers))),
    );
    app.post(
      '/polling-configs',
      {
        config: ADMIN_ONLY,
        schema: {
          tags,
          summary: 'Create a polling config',
          body: newConfig,
          response: { 201: wireSchema(configReport) },
        },
      },
      async ({ actor, body }, reply) => {
        const { task_type, card_condition, carrier_id, interval_seconds, ...same } = body;
        const created = await configs.create(actor, {
          ...same,
          taskType: task_type,
          cardCondition: card_condition,
          carrierId: carrier_id,
          intervalSeconds: interval_seconds,
        });
        return reply.code(201).send(toWire(created));
      },
    );
    app.get(
      '/polling-configs/:id',
      {
        schema: {
          tags,
          summary: 'Show a polling config',
          params: z.object({ id: configId }),
          response: { 200: wireSchema(configReport) },
        },
      },
      async ({ params }, reply) => withVersion(reply, await configs.show(params.id)),
    );
    app.delete(
      '/polling-configs/:id',
      {
        config: ADMIN_ONLY,
        schema: {
          tags,
          summary: 'Delete a polling config; the next matching config takes its cards',
          params: z.object({ id: configId }),
          response: { 200: wireSchema(configReport) },
        },
      },
      async ({ actor, params }) => toWire(await configs.remove(actor, params.id)),
    );
  };
}

function withVersion(reply: FastifyReply, config: ConfigReport) {
  reply.header('etag', etagOf(configVersion(config)));
  return toWire(config);
}

function patchOf(body: z.output<typeof configPatch>): ConfigPatch {
  const { task_type, card_condition, carrier_id, interval_seconds, name, priority, status } = body;
  const patch = {
    name,
    priority,
    status,
    taskType: task_type,
    cardCondition: card_condition,
    carrierId: carrier_id,
    intervalSeconds: interval_seconds,
  };
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as ConfigPatch;
}
