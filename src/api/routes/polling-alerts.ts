// /api/admin/polling-alert-rules (operations interface, sections 2.3 and 4). PUT changes the fields it names; those
// left out stay as they are. What rules fired is polling-alert-history.ts.
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { receiverOf } from '../../domain/alerts/webhook-receiver.ts';
import {
  type AlertRuleReport,
  alertRuleReport,
  webhookTrialReport,
} from '../../operations/alerts/alert-reports.ts';
import { type AlertOperations, alertRuleVersion } from '../../operations/alerts/alerts.ts';
import { toWire } from '../client/wire.ts';
import { etagOf, expectedVersion, ifMatchHeader } from '../etag.ts';
import { ADMIN_ONLY } from '../guard/access.ts';
import { newAlertRule, ruleId, rulePatch } from '../schemas/alerts.ts';
import { onPage, pageOf, pageQuery, pageRequestOf } from '../schemas/page.ts';
import { wireSchema } from '../wire-schema.ts';

const tags = ['polling-alerts'];
const RULES = '/polling-alert-rules';
const RULE = `${RULES}/:id`;

export function pollingAlertRoutes(alerts: AlertOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      RULES,
      {
        schema: {
          tags,
          summary: 'List alert rules',
          querystring: pageQuery,
          response: { 200: pageOf(alertRuleReport) },
        },
      },
      async (request) => {
        const { query } = request;
        const { items, total } = await alerts.list(pageRequestOf(query));
        return onPage({ items: items.map((rule) => readableBy(request, rule)), total }, query);
      },
    );
    app.post(
      RULES,
      {
        schema: {
          tags,
          summary: 'Create an alert rule',
          body: newAlertRule,
          response: { 201: wireSchema(alertRuleReport) },
        },
      },
      async ({ actor, body }, reply) => reply.code(201).send(toWire(await alerts.create(actor, body))),
    );
    app.get(
      RULE,
      {
        schema: {
          tags,
          summary: 'Show an alert rule',
          params: z.object({ id: ruleId }),
          response: { 200: wireSchema(alertRuleReport) },
        },
      },
      async (request, reply) => {
        const rule = await alerts.show(request.params.id);
        return reply.header('etag', etagOf(alertRuleVersion(rule))).send(toWire(readableBy(request, rule)));
      },
    );
    app.put(
      RULE,
      {
        schema: {
          tags,
          summary: 'Change an alert rule; fields left out stay as they are',
          params: z.object({ id: ruleId }),
          headers: ifMatchHeader,
          body: rulePatch,
          response: { 200: wireSchema(alertRuleReport) },
        },
      },
      async ({ actor, params, body, headers }, reply) => {
        const rule = await alerts.update(actor, params.id, body, expectedVersion(headers));
        return reply.header('etag', etagOf(alertRuleVersion(rule))).send(toWire(rule));
      },
    );
    app.delete(
      RULE,
      {
        config: ADMIN_ONLY,
        schema: {
          tags,
          summary: 'Delete an alert rule; its alerts stay in the history',
          params: z.object({ id: ruleId }),
          response: { 204: z.null() },
        },
      },
      async ({ actor, params }, reply) => {
        await alerts.remove(actor, params.id);
        return reply.code(204).send(null);
      },
    );
  };
}

/** May take as long as the receiver's timeout, so it is registered where handlers have that much time. */
export function alertTestRoute(alerts: AlertOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(
      `${RULE}/test`,
      {
        schema: {
          tags,
          summary: 'Send a test webhook for an alert rule, and return the result',
          params: z.object({ id: ruleId }),
          response: { 200: wireSchema(webhookTrialReport) },
        },
      },
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
