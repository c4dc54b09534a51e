// /api/admin/polling-manual-trigger: poll cards now, follow a trigger, cancel it (operations interface, sections 2.6 and 4).
import { z } from 'zod';
import { CARD_ID_BOUNDS, MAX_BATCH_CARDS, SELECTION_BOUNDS } from '../../domain/manual-trigger.ts';
import type { TriggerOperations } from '../../operations/triggers.ts';
import { ENDPOINTS } from '../../resources/endpoints.ts';
import { batchReport, cancelledTriggers, selectionCount, triggerReport } from '../../resources/triggers.ts';
import type { ExpensiveReads } from '../guard/expensive-reads.ts';
import { answersOf, onPage, pageOf, pageQuery, type Serve } from '../schemas/answers.ts';
import { body, listOfCards, queryNumber, requiredOr, taskType, wholeNumber } from '../schemas/fields.ts';

const answers = answersOf('polling-manual-trigger');

const cardIds = listOfCards(MAX_BATCH_CARDS);

export function pollingManualTriggerRoutes(
  serve: Serve,
  triggers: TriggerOperations,
  expensive: ExpensiveReads,
): void {
  serve(
    ENDPOINTS.triggerSingle,
    answers(
      'Queue one card',
      triggerReport,
      { body: body({ card_id: wholeNumber(CARD_ID_BOUNDS), task_type: taskType }) },
      { status: 202 },
    ),
    ({ actor, body }) => triggers.single(actor, body.taskType, body.cardId),
  );
  serve(
    ENDPOINTS.triggerBatch,
    answers(
      'Queue several cards',
      batchReport,
      { body: body({ card_ids: cardIds, task_type: taskType }) },
      { status: 202 },
    ),
    ({ actor, body }) => triggers.batch(actor, body.taskType, body.cardIds),
  );
  serve(
    ENDPOINTS.triggerByCondition,
    answers(
      'Queue all matching cards; without a condition, the whole fleet',
      triggerReport,
      {
        body: body({
          task_type: taskType,
          carrier_id: wholeNumber(SELECTION_BOUNDS).optional(),
          status: wholeNumber(SELECTION_BOUNDS).optional(),
        }),
      },
      { status: 202 },
    ),
    ({ actor, body: { taskType, carrierId = null, status = null } }) =>
      expensive.counts.run(() => triggers.byCondition(actor, taskType, { carrierId, status })),
  );
  serve(
    ENDPOINTS.countSelected,
    answers('Count the cards that a condition selects', selectionCount, {
      querystring: z.object({
        carrier_id: queryNumber(SELECTION_BOUNDS).optional(),
        status: queryNumber(SELECTION_BOUNDS).optional(),
      }),
    }),
    ({ query: { carrierId = null, status = null } }) =>
      expensive.count(`cards ${carrierId} ${status}`, () => triggers.count({ carrierId, status })),
  );
  serve(
    ENDPOINTS.triggers,
    answers('List manual triggers, newest first', pageOf(triggerReport), { querystring: pageQuery }),
    async ({ query }) => onPage(await triggers.list(query), query),
  );
  serve(
    ENDPOINTS.trigger,
    answers('Follow a manual trigger', triggerReport, {
      params: z.object({ trigger_id: z.string() }),
    }),
    ({ params }) => triggers.show(params.triggerId),
  );
  serve(
    ENDPOINTS.cancelTrigger,
    answers('Cancel a manual trigger; cards that are being polled are finished', triggerReport, {
      body: body({ trigger_id: z.string({ error: requiredOr('must be a text') }).min(1) }),
    }),
    ({ actor, body }) => triggers.cancel(actor, body.triggerId),
  );
  serve(
    ENDPOINTS.cancelTriggers,
    answers(
      'Cancel all open manual triggers, of one task type or of all; dry_run only counts them',
      cancelledTriggers,
      { body: body({ task_type: taskType.optional(), dry_run: z.boolean().default(false) }) },
    ),
    ({ actor, body: { taskType = null, dryRun } }) =>
      dryRun ? triggers.openTotals(taskType) : triggers.cancelAll(actor, taskType),
  );
}
