// /api/admin/polling-alert-silences: alerts nobody is told of for a time.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { silenceReport } from '../../operations/alerts/alert-reports.ts';
import type { SilenceOperations } from '../../operations/alerts/silences.ts';
import { toWire } from '../client/wire.ts';
import { itemsOf } from '../schemas/page.ts';
import { newSilence, silenceId } from '../schemas/silences.ts';
import { wireSchema } from '../wire-schema.ts';

const tags = ['polling-alerts'];
const SILENCES = '/polling-alert-silences';

export function pollingAlertSilenceRoutes(silences: SilenceOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      SILENCES,
      {
        schema: {
          tags,
          summary: 'List the silences that last',
          response: { 200: itemsOf(silenceReport) },
        },
      },
      async () => ({ items: toWire(await silences.list()) }),
    );
    app.post(
      SILENCES,
      {
        schema: {
          tags,
          summary: 'Silence the alerts of a rule, a rule type or a task type for a time',
          body: newSilence,
          response: { 201: wireSchema(silenceReport) },
        },
      },
      async ({ actor, body }, reply) => {
        const { rule_id: ruleId, rule_type: ruleType, task_type: taskType, seconds, reason } = body;
        const until = body.until === null ? null : new Date(body.until);
        const request = { ruleId, ruleType, taskType, seconds, until, reason };
        return reply.code(201).send(toWire(await silences.create(actor, request)));
      },
    );
    app.delete(
      `${SILENCES}/:id`,
      {
        schema: {
          tags,
          summary: 'End a silence; answers what was ended',
          params: z.object({ id: silenceId }),
          response: { 200: wireSchema(silenceReport) },
        },
      },
      async ({ actor, params }) => toWire(await silences.remove(actor, params.id)),
    );
  };
}
