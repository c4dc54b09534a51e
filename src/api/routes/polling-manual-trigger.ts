// /api/admin/polling-manual-trigger: poll cards now, follow it, cancel it (operations interface, sections 2.6
// and 4).
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { CARD_ID_BOUNDS, MAX_BATCH_CARDS, SELECTION_BOUNDS } from '../../domain/manual-trigger.ts';
import {
  batchReport,
  cancelledTriggers,
  selectionCount,
  triggerReport,
} from '../../operations/trigger-report.ts';
import type { TriggerOperations } from '../../operations/triggers.ts';
import { toWire } from '../client/wire.ts';
import type { ExpensiveReads } from '../guard/expensive-reads.ts';
import { body, listOfCards, queryNumber, requiredOr, taskType, wholeNumber } from '../schemas/fields.ts';
import { onPage, pageOf, pageQuery } from '../schemas/page.ts';
import { wireSchema } from '../wire-schema.ts';

const tags = ['polling-manual-trigger'];
const PATH = '/polling-manual-trigger';

const cardIds = listOfCards(MAX_BATCH_CARDS, CARD_ID_BOUNDS);

export function pollingManualTriggerRoutes(
  triggers: TriggerOperations,
  expensive: ExpensiveReads,
): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(makingRoutes(triggers, expensive));
    app.get(
      PATH,
      {
        schema: {
          tags,
          summary: 'List manual triggers, newest first',
          querystring: pageQuery,
          response: { 200: pageOf(triggerReport) },
        },
      },
      async ({ query }) => onPage(await triggers.list(query.page, query.page_size), query),
    );
    app.get(
      `${PATH}/:trigger_id`,
      {
        schema: {
          tags,
          summary: 'Follow a manual trigger',
          params: z.object({ trigger_id: z.string() }),
          response: { 200: wireSchema(triggerReport) },
        },
      },
      async ({ params }) => toWire(await triggers.show(params.trigger_id)),
    );
    app.post(
      `${PATH}/cancel`,
      {
        schema: {
          tags,
          summary: 'Cancel a manual trigger; cards that are being polled are finished',
          body: body({ trigger_id: z.string({ error: requiredOr('must be a text') }).min(1) }),
          response: { 200: wireSchema(triggerReport) },
        },
      },
      async ({ actor, body }) => toWire(await triggers.cancel(actor, body.trigger_id)),
    );
    app.post(
      `${PATH}/cancel-all`,
      {
        schema: {
          tags,
          summary: 'Cancel all open manual triggers, of one task type or of all; dry_run only counts them',
          body: body({ task_type: taskType.optional(), dry_run: z.boolean().default(false) }),
          response: { 200: wireSchema(cancelledTriggers) },
        },
      },
      async ({ actor, body: { task_type: type = null, dry_run: isDryRun } }) =>
        toWire(await (isDryRun ? triggers.openTotals(type) : triggers.cancelAll(actor, type))),
    );
  };
}

function makingRoutes(triggers: TriggerOperations, expensive: ExpensiveReads): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(
      `${PATH}/single`,
      {
        schema: {
          tags,
          summary: 'Queue one card',
          body: body({ card_id: wholeNumber(CARD_ID_BOUNDS), task_type: taskType }),
          response: { 202: wireSchema(triggerReport) },
        },
      },
      async ({ actor, body }, reply) =>
        reply.status(202).send(toWire(await triggers.single(actor, body.task_type, body.card_id))),
    );
    app.post(
      `${PATH}/batch`,
      {
        schema: {
          tags,
          summary: 'Queue several cards',
          body: body({ card_ids: cardIds, task_type: taskType }),
          response: { 202: wireSchema(batchReport) },
        },
      },
      async ({ actor, body }, reply) =>
        reply.status(202).send(toWire(await triggers.batch(actor, body.task_type, body.card_ids))),
    );
    app.post(
      `${PATH}/by-condition`,
      {
        schema: {
          tags,
          summary: 'Queue all matching cards; without a condition, the whole fleet',
          body: body({
            task_type: taskType,
            carrier_id: wholeNumber(SELECTION_BOUNDS).optional(),
            status: wholeNumber(SELECTION_BOUNDS).optional(),
          }),
          response: { 202: wireSchema(triggerReport) },
        },
      },
      async ({ actor, body: { task_type: type, carrier_id: carrierId = null, status = null } }, reply) => {
        const make = () => triggers.byCondition(actor, type, { carrierId, status });
        return reply.status(202).send(toWire(await expensive.counts.run(make)));
      },
    );
    app.get(
      `${PATH}/preview`,
      {
        schema: {
          tags,
          summary: 'Count the cards that a condition selects',
          querystring: z.object({
            carrier_id: queryNumber(SELECTION_BOUNDS).optional(),
            status: queryNumber(SELECTION_BOUNDS).optional(),
          }),
          response: { 200: wireSchema(selectionCount) },
        },
      },
      async ({ query: { carrier_id: carrierId = null, status = null } }) =>
        toWire(
          await expensive.count(`cards ${carrierId} ${status}`, () => triggers.count({ carrierId, status })),
        ),
    );
  };
}
