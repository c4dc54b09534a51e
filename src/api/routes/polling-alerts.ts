// /api/admin/polling-alert-rules and /polling-alert-history: rules, and what they fired (specification, sections 2.3,
// 2.4 and 4). PUT changes the fields it names; those left out stay as they are.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { AlertOperations } from '../../operations/alerts.ts';
import { alert, alertRule, newAlertRule, ruleId, ruleIdQuery, rulePatch } from '../schemas/alerts.ts';
import { type PageQuery, pageOf, pageQuery } from '../schemas/page.ts';
import { toWire, type Wire } from '../wire.ts';

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
          response: { 200: pageOf(alertRule) },
        },
      },
      async ({ query }) => onPage(await alerts.list(pageRequestOf(query)), query),
    );
    app.post(
      RULES,
      {
        schema: {
          tags,
          summary: 'Create an alert rule',
          body: newAlertRule,
          response: { 201: alertRule },
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
          response: { 200: alertRule },
        },
      },
      async ({ params }) => toWire(await alerts.show(params.id)),
    );
    app.put(
      RULE,
      {
        schema: {
          tags,
          summary: 'Change an alert rule; fields left out stay as they are',
          params: z.object({ id: ruleId }),
          body: rulePatch,
          response: { 200: alertRule },
        },
      },
      async ({ actor, params, body }) => toWire(await alerts.update(actor, params.id, body)),
    );
    app.delete(
      RULE,
      {
        schema: {
          tags,
          summary: 'Delete an alert rule; its history stays',
          params: z.object({ id: ruleId }),
          response: { 204: z.null() },
        },
      },
      async ({ actor, params }, reply) => {
        await alerts.remove(actor, params.id);
        return reply.code(204).send(null);
      },
    );
    app.get(
      '/polling-alert-history',
      {
        schema: {
          tags,
          summary: 'List fired alerts, newest first',
          querystring: pageQuery.extend({ rule_id: ruleIdQuery.optional() }),
          response: { 200: pageOf(alert) },
        },
      },
      async ({ query }) => onPage(await alerts.history(query.rule_id ?? null, pageRequestOf(query)), query),
    );
  };
}

function pageRequestOf({ page, page_size: pageSize }: PageQuery) {
  return { page, pageSize };
}

function onPage<Item>(
  { items, total }: { readonly items: readonly Item[]; readonly total: number },
  { page, page_size }: PageQuery,
) {
  return { items: toWire(items) as Wire<Item>[], page, page_size, total };
}
