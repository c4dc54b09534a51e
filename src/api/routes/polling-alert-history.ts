// /api/admin/polling-alert-history: fired alerts, their acknowledgement and redelivery (operations interface, sections
// 2.4, 4).
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { AlertHistoryOperations } from '../../operations/alerts/alert-history.ts';
import { alertReport } from '../../operations/alerts/alert-reports.ts';
import { toWire } from '../client/wire.ts';
import { acknowledgement, alertId, alertState, ruleIdQuery } from '../schemas/alerts.ts';
import { onPage, pageOf, pageQuery, pageRequestOf } from '../schemas/page.ts';
import { wireSchema } from '../wire-schema.ts';

const tags = ['polling-alerts'];
const HISTORY = '/polling-alert-history';
const params = z.object({ id: alertId });

export function pollingAlertHistoryRoutes(alerts: AlertHistoryOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      HISTORY,
      {
        schema: {
          tags,
          summary: 'List fired alerts, newest first',
          querystring: pageQuery.extend({ rule_id: ruleIdQuery.optional(), state: alertState.optional() }),
          response: { 200: pageOf(alertReport) },
        },
      },
      async ({ query }) => {
        const { rule_id: ruleId = null, state = null } = query;
        return onPage(await alerts.list({ ruleId, state }, pageRequestOf(query)), query);
      },
    );
    app.post(
      `${HISTORY}/:id/acknowledge`,
      {
        schema: {
          tags,
          summary: 'Acknowledge a firing alert; the first acknowledgement wins',
          params,
          body: acknowledgement,
          response: { 200: wireSchema(alertReport) },
        },
        // The reason is optional.
        preValidation: async (request) => {
          if (request.body === undefined) request.body = { reason: '' };
        },
      },
      async ({ actor, params: { id }, body }) => toWire(await alerts.acknowledge(actor, id, body.reason)),
    );
    app.post(
      `${HISTORY}/:id/redeliver`,
      {
        schema: {
          tags,
          summary: "Retry an alert's failed notifications now",
          params,
          response: { 202: wireSchema(alertReport) },
        },
      },
      async ({ actor, params: { id } }, reply) =>
        reply.code(202).send(toWire(await alerts.redeliver(actor, id))),
    );
  };
}
