// /api/admin/polling-alert-silences: suppress notifications for a time.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { RULE_TYPES } from '../../domain/alerts/alert-rule.ts';
import { SILENCE_SECONDS_BOUNDS } from '../../domain/alerts/alert-silence.ts';
import { RECORD_ID_BOUNDS } from '../../domain/page.ts';
import { silenceReport } from '../../operations/alerts/alert-reports.ts';
import type { SilenceOperations } from '../../operations/alerts/silences.ts';
import { toWire } from '../client/wire.ts';
import { body, reason, requiredOr, taskType, wholeNumber } from '../schemas/fields.ts';
import { itemsOf } from '../schemas/page.ts';
import { wireSchema } from '../wire-schema.ts';

// That something is silenced at all, and either for so long or until a time, is checked by the operation.
const ruleType = z.enum(RULE_TYPES, { error: `must be one of ${RULE_TYPES.join(', ')}` });
const ruleId = wholeNumber(RECORD_ID_BOUNDS);
const untilError = 'must be a time like 2026-11-22T08:00:00Z';

const newSilence = body({
  rule_id: ruleId.nullable().default(null),
  rule_type: ruleType.nullable().default(null),
  task_type: taskType.nullable().default(null),
  seconds: wholeNumber(SILENCE_SECONDS_BOUNDS).nullable().default(null),
  until: z.iso.datetime({ offset: true, error: untilError }).nullable().default(null),
  reason,
});

/** In a path. */
const silenceId = z
  .string()
  .regex(/^[1-9]\d{0,9}$/, { error: requiredOr('must be the number of a silence') })
  .transform(Number);

const tags = ['polling-alerts'];
const SILENCES = '/polling-alert-silences';

export function pollingAlertSilenceRoutes(silences: SilenceOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      SILENCES,
      {
        schema: {
          tags,
          summary: 'List the current silences',
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
          summary: 'End a silence; returns the ended one',
          params: z.object({ id: silenceId }),
          response: { 200: wireSchema(silenceReport) },
        },
      },
      async ({ actor, params }) => toWire(await silences.remove(actor, params.id)),
    );
  };
}
