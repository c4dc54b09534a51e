// /api/admin/polling-alert-silences: suppress notifications for a time.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { RULE_TYPES } from '../../domain/alerts/alert-rule.ts';
import { SILENCE_SECONDS_BOUNDS } from '../../domain/alerts/alert-silence.ts';
import { RECORD_ID_BOUNDS } from '../../domain/page.ts';
import { silenceReport } from '../../operations/alerts/alert-reports.ts';
import type { SilenceOperations } from '../../operations/alerts/on-call.ts';
import { camelKeys, toWire } from '../../platform/snake-keys.ts';
import { body, idOf, oneOf, reason, taskType, wholeNumber } from '../schemas/fields.ts';
import { itemsOf } from '../schemas/page.ts';
import { answersOf } from './answers.ts';

// That something is silenced at all, and either for so long or until a time, is checked by the operation.
const untilError = 'must be a time like 2026-11-22T08:00:00Z';

const newSilence = body({
  rule_id: wholeNumber(RECORD_ID_BOUNDS).nullable().default(null),
  rule_type: oneOf(RULE_TYPES).nullable().default(null),
  task_type: taskType.nullable().default(null),
  seconds: wholeNumber(SILENCE_SECONDS_BOUNDS).nullable().default(null),
  until: z.iso.datetime({ offset: true, error: untilError }).nullable().default(null),
  reason,
});

const { answers, reports } = answersOf('polling-alerts');
const SILENCES = '/polling-alert-silences';

export function pollingAlertSilenceRoutes(silences: SilenceOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(SILENCES, answers('List the current silences', itemsOf(silenceReport)), async () => ({
      items: toWire(await silences.list()),
    }));
    app.post(
      SILENCES,
      reports(
        'Silence the alerts of a rule, a rule type or a task type for a time',
        silenceReport,
        { body: newSilence },
        201,
      ),
      async ({ actor, body }) => {
        const until = body.until === null ? null : new Date(body.until);
        const request = { ...camelKeys(body), until };
        return toWire(await silences.create(actor, request));
      },
    );
    app.delete(
      `${SILENCES}/:id`,
      reports('End a silence; returns the ended one', silenceReport, {
        params: z.object({ id: idOf('a silence') }),
      }),
      async ({ actor, params }) => toWire(await silences.remove(actor, params.id)),
    );
  };
}
