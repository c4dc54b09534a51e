// /api/admin/polling-alert-rules, and what the rules fired: /api/admin/polling-alert-history with acknowledgement and
// redelivery (operations interface, sections 2.3, 2.4 and 4). PUT changes the fields it names; those left out stay as they are.
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { receiverOf } from '../../domain/alerts/webhook.ts';
import {
  type AlertRuleReport,
  alertReport,
  alertRuleReport,
  webhookTrialReport,
} from '../../operations/alerts/alert-reports.ts';
import { type AlertOperations, alertRuleVersion } from '../../operations/alerts/alerts.ts';
import type { AlertHistoryOperations } from '../../operations/alerts/on-call.ts';
import { toWire } from '../../platform/snake-keys.ts';
import { etagOf, expectedVersion, ifMatchHeader, withVersion } from '../etag.ts';
import { ADMIN_ONLY } from '../guard/access.ts';
import { acknowledgement, alertState, newAlertRule, ruleId, rulePatch } from '../schemas/alerts.ts';
import { idOf } from '../schemas/fields.ts';
import { onPage, pageOf, pageQuery, pageRequestOf } from '../schemas/page.ts';
import { answersOf } from './answers.ts';

const { answers, reports } = answersOf('polling-alerts');
const params = z.object({ id: ruleId });
const RULES = '/polling-alert-rules';
const RULE = `${RULES}/:id`;

export function pollingAlertRoutes(alerts: AlertOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      RULES,
      answers('List alert rules', pageOf(alertRuleReport), { querystring: pageQuery }),
      async (request) => {
        const { query } = request;
        const { items, total } = await alerts.list(pageRequestOf(query));
        return onPage({ items: items.map((rule) => readableBy(request, rule)), total }, query);
      },
    );
    app.post(
      RULES,
      reports('Create an alert rule', alertRuleReport, { body: newAlertRule }, 201),
      async ({ actor, body }) => toWire(await alerts.create(actor, body)),
    );
    app.get(RULE, reports('Show an alert rule', alertRuleReport, { params }), async (request, reply) => {
      const rule = await alerts.show(request.params.id);
      reply.header('etag', etagOf(alertRuleVersion(rule)));
      return toWire(readableBy(request, rule));
    });
    app.put(
      RULE,
      reports('Change an alert rule; fields left out stay as they are', alertRuleReport, {
        params,
        headers: ifMatchHeader,
        body: rulePatch,
      }),
      async ({ actor, params, body, headers }, reply) => {
        const rule = await alerts.update(actor, params.id, body, expectedVersion(headers));
        return withVersion(reply, rule, alertRuleVersion);
      },
    );
    app.delete(
      RULE,
      {
        config: ADMIN_ONLY,
        ...answers('Delete an alert rule; its alerts stay in the history', z.null(), { params }, 204),
      },
      async ({ actor, params }) => {
        await alerts.remove(actor, params.id);
        return null;
      },
    );
  };
}

/** May take as long as the receiver's timeout, so it is registered where handlers have that much time. */
export function alertTestRoute(alerts: AlertOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(
      `${RULE}/test`,
      reports('Send a test webhook for an alert rule, and return the result', webhookTrialReport, { params }),
      async ({ actor, params }) => toWire(await alerts.test(actor, params.id)),
    );
  };
}

/** Path and query of a webhook URL often contain the receiver's secret, so viewers get neither. */
function readableBy({ actor }: FastifyRequest, rule: AlertRuleReport): AlertRuleReport {
  const { webhookUrl } = rule;
  if (webhookUrl === null || actor.role !== 'viewer') return rule;
  const receiver = receiverOf(webhookUrl);
  return { ...rule, webhookUrl: receiver === null ? '…' : `${receiver}/…` };
}

const HISTORY = '/polling-alert-history';
const alertParams = z.object({ id: idOf('an alert', 16) });

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
          params: alertParams,
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
      reports("Retry an alert's failed notifications now", alertReport, { params: alertParams }, 202),
      async ({ actor, params: { id } }) => toWire(await alerts.redeliver(actor, id)),
    );
  };
}
