// /api/admin/polling-manual-trigger: poll cards now, follow it, cancel it (operations interface, sections 2.6
// and 4).
import { z } from 'zod';
import { CARD_ID_BOUNDS, MAX_BATCH_CARDS, SELECTION_BOUNDS } from '../../domain/manual-trigger.ts';
import {
  batchReport,
  cancelledTriggers,
  selectionCount,
  triggerReport,
} from '../../operations/trigger-report.ts';
import type { TriggerOperations } from '../../operations/triggers.ts';
import { toWire } from '../../platform/snake-keys.ts';
import type { ExpensiveReads } from '../guard/expensive-reads.ts';
import { answersOf, onPage, pageOf, pageQuery, pageRequestOf, type Routes } from '../schemas/answers.ts';
import { body, listOfCards, queryNumber, requiredOr, taskType, wholeNumber } from '../schemas/fields.ts';

const { answers, reports } = answersOf('polling-manual-trigger');
const PATH = '/polling-manual-trigger';

const cardIds = listOfCards(MAX_BATCH_CARDS);

export function pollingManualTriggerRoutes(
  app: Routes,
  triggers: TriggerOperations,
  expensive: ExpensiveReads,
): void {
  makingRoutes(app, triggers, expensive);
  app.get(
    PATH,
    answers('List manual triggers, newest first', pageOf(triggerReport), { querystring: pageQuery }),
    async ({ query }) => onPage(await triggers.list(pageRequestOf(query)), query),
  );
  app.get(
    `${PATH}/:trigger_id`,
    reports('Follow a manual trigger', triggerReport, {
      params: z.object({ trigger_id: z.string() }),
    }),
    async ({ params }) => toWire(await triggers.show(params.trigger_id)),
  );
  app.post(
    `${PATH}/cancel`,
    reports('Cancel a manual trigger; cards that are being polled are finished', triggerReport, {
      body: body({ trigger_id: z.string({ error: requiredOr('must be a text') }).min(1) }),
    }),
    async ({ actor, body }) => toWire(await triggers.cancel(actor, body.trigger_id)),
  );
  app.post(
    `${PATH}/cancel-all`,
    reports(
      'Cancel all open manual triggers, of one task type or of all; dry_run only counts them',
      cancelledTriggers,
      { body: body({ task_type: taskType.optional(), dry_run: z.boolean().default(false) }) },
    ),
    async ({ actor, body: { task_type: type = null, dry_run: isDryRun } }) =>
      toWire(await (isDryRun ? triggers.openTotals(type) : triggers.cancelAll(actor, type))),
  );
}

function makingRoutes(app: Routes, triggers: TriggerOperations, expensive: ExpensiveReads): void {
  app.post(
    `${PATH}/single`,
    reports(
      'Queue one card',
      triggerReport,
      { body: body({ card_id: wholeNumber(CARD_ID_BOUNDS), task_type: taskType }) },
      202,
    ),
    async ({ actor, body }) => toWire(await triggers.single(actor, body.task_type, body.card_id)),
  );
  app.post(
    `${PATH}/batch`,
    reports(
      'Queue several cards',
      batchReport,
      { body: body({ card_ids: cardIds, task_type: taskType }) },
      202,
    ),
    async ({ actor, body }) => toWire(await triggers.batch(actor, body.task_type, body.card_ids)),
  );
  app.post(
    `${PATH}/by-condition`,
    reports(
      'Queue all matching cards; without a condition, the whole fleet',
      triggerReport,
      {
        body: body({
          task_type: taskType,
          carrier_id: wholeNumber(SELECTION_BOUNDS).optional(),
          status: wholeNumber(SELECTION_BOUNDS).optional(),
        }),
      },
      202,
    ),
    async ({ actor, body: { task_type: type, carrier_id: carrierId = null, status = null } }) => {
      const make = () => triggers.byCondition(actor, type, { carrierId, status });
      return toWire(await expensive.counts.run(make));
    },
  );
  app.get(
    `${PATH}/preview`,
    reports('Count the cards that a condition selects', selectionCount, {
      querystring: z.object({
        carrier_id: queryNumber(SELECTION_BOUNDS).optional(),
        status: queryNumber(SELECTION_BOUNDS).optional(),
      }),
    }),
    async ({ query: { carrier_id: carrierId = null, status = null } }) =>
      toWire(
        await expensive.count(`cards ${carrierId} ${status}`, () => triggers.count({ carrierId, status })),
      ),
  );
}
