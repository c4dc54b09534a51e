// /api/admin/polling-alert-history: fired alerts, their acknowledgement and redelivery (operations interface, sections
// 2.4, 4).
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { AlertHistoryOperations } from '../../operations/alerts/alert-history.ts';
import { alertReport } from '../../operations/alerts/alert-reports.ts';
import { toWire } from '../../platform/snake-keys.ts';
import { acknowledgement, alertState, ruleId } from '../schemas/alerts.ts';
import { idOf } from '../schemas/fields.ts';
import { onPage, pageOf, pageQuery, pageRequestOf } from '../schemas/page.ts';
import { answersOf } from './answers.ts';

const { answers, reports } = answersOf('polling-alerts');
const HISTORY = '/polling-alert-history';
const params = z.object({ id: idOf('an alert', 16) });

export function pollingAlertHistoryRoutes(alerts: AlertHistoryOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      HISTORY,
      answers('List fired alerts, newest first', pageOf(alertReport), {
        querystring: pageQuery.extend({ rule_id: ruleId.optional(), state: alertState.optional() }),
      }),
      async ({ query }) => {
        const { rule_id: ruleId = null, state = null } = query;
        return onPage(await alerts.list({ ruleId, state }, pageRequestOf(query)), query);
      },
    );
    app.post(
      `${HISTORY}/:id/acknowledge`,
      {
        ...reports('Acknowledge a firing alert; the first acknowledgement wins', alertReport, {
          params,
          body: acknowledgement,
        }),
        // The reason is optional.
        preValidation: async (request) => {
          if (request.body === undefined) request.body = { reason: '' };
        },
      },
      async ({ actor, params: { id }, body }) => toWire(await alerts.acknowledge(actor, id, body.reason)),
    );
    app.post(
      `${HISTORY}/:id/redeliver`,
      reports("Retry an alert's failed notifications now", alertReport, { params }, 202),
      async ({ actor, params: { id } }) => toWire(await alerts.redeliver(actor, id)),
    );
  };
}
