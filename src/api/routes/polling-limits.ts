// The limits on the polling of task types: /api/admin/polling-concurrency with the reset of a leaked running count (operations
// interface, sections 2.2 and 4), /api/admin/polling-pauses, pauses by operators and by the gateway, and /api/admin/maintenance,
// windows planned ahead.
import { z } from 'zod';
import {
  MAX_CONCURRENCY_BOUNDS,
  PAUSABLE,
  PAUSE_SECONDS_BOUNDS,
} from '../../domain/limits/operator-limits.ts';
import { SELECTION_BOUNDS } from '../../domain/manual-trigger.ts';
import { MAINTENANCE_SECONDS_BOUNDS } from '../../domain/schedule/maintenance.ts';
import { type ConcurrencyOperations, limitVersion } from '../../operations/limits/concurrency.ts';
import type { MaintenanceOperations } from '../../operations/limits/maintenance.ts';
import type { PauseOperations } from '../../operations/limits/pauses.ts';
import { ENDPOINTS } from '../../resources/endpoints.ts';
import { concurrencyLimit, maintenanceReport, pauseReport, slotReset } from '../../resources/limits.ts';
import { expectedVersion, ifMatchHeader } from '../etag.ts';
import { answersOf, itemsOf, pageOf, pageQuery, paginate, type Serve } from '../schemas/answers.ts';
import { body, idOf, instant, oneOf, reason, taskType, wholeNumber } from '../schemas/fields.ts';

const answers = answersOf('polling-concurrency');
const params = z.object({ task_type: taskType });

export function pollingConcurrencyRoutes(serve: Serve, concurrency: ConcurrencyOperations): void {
  serve(
    ENDPOINTS.concurrency,
    answers('List limits', pageOf(concurrencyLimit), { querystring: pageQuery }),
    async ({ query }) => paginate(await concurrency.list(), query),
  );
  serve(
    ENDPOINTS.limit,
    answers('Show the limit of a task type', concurrencyLimit, { params }, { versionOf: limitVersion }),
    ({ params }) => concurrency.show(params.taskType),
  );
  serve(
    ENDPOINTS.setConcurrency,
    answers(
      'Set the limit of a task type',
      concurrencyLimit,
      {
        params,
        headers: ifMatchHeader,
        body: body({ max_concurrency: wholeNumber(MAX_CONCURRENCY_BOUNDS) }),
      },
      { versionOf: limitVersion },
    ),
    ({ actor, params, body, headers }) =>
      concurrency.set(actor, params.taskType, body.maxConcurrency, expectedVersion(headers)),
  );
  serve(
    ENDPOINTS.resetConcurrency,
    answers('Reset the running count of a task type', slotReset, {
      body: body({ task_type: taskType }),
    }),
    ({ actor, body }) => concurrency.reset(actor, body.taskType),
  );
}

const pauseAnswers = answersOf('polling-pauses');
const items = itemsOf(pauseReport);
const pausedTypes = oneOf(PAUSABLE);

export function pollingPauseRoutes(serve: Serve, pauses: PauseOperations): void {
  serve(
    ENDPOINTS.pauses,
    pauseAnswers('List pauses: what is paused, why and until when', items),
    async () => ({
      items: await pauses.list(),
    }),
  );
  serve(
    ENDPOINTS.pause,
    pauseAnswers(
      'Pause polling of one or all task types',
      items,
      { body: body({ task_type: pausedTypes, seconds: wholeNumber(PAUSE_SECONDS_BOUNDS), reason }) },
      { status: 201 },
    ),
    async ({ actor, body }) => ({ items: await pauses.pause(actor, body) }),
  );
  serve(
    ENDPOINTS.resume,
    pauseAnswers('End pauses, including those the gateway asked for; returns the ended pauses', items, {
      querystring: z.object({ task_type: pausedTypes.default('all') }),
    }),
    async ({ actor, query }) => ({ items: await pauses.resume(actor, query.taskType) }),
  );
}

const maintenanceAnswers = answersOf('maintenance');
const order = body({
  task_type: taskType.nullable().default(null),
  carrier_id: wholeNumber(SELECTION_BOUNDS).nullable().default(null),
  from: instant,
  seconds: wholeNumber(MAINTENANCE_SECONDS_BOUNDS),
  reason,
});

export function maintenanceRoutes(serve: Serve, maintenance: MaintenanceOperations): void {
  serve(
    ENDPOINTS.maintenance,
    maintenanceAnswers('List maintenance windows that are planned or in force', itemsOf(maintenanceReport)),
    async () => ({ items: await maintenance.list() }),
  );
  serve(
    ENDPOINTS.planMaintenance,
    maintenanceAnswers(
      'Plan a maintenance window: the task type is not polled in it, of all cards or of one carrier',
      maintenanceReport,
      { body: order },
      { status: 201 },
    ),
    ({ actor, body: { from: startsAtMs, ...rest } }) => maintenance.plan(actor, { ...rest, startsAtMs }),
  );
  serve(
    ENDPOINTS.cancelMaintenance,
    maintenanceAnswers('Cancel a planned window, or end one that is in force', maintenanceReport, {
      params: z.object({ id: idOf('a maintenance window') }),
    }),
    ({ actor, params }) => maintenance.cancel(actor, params.id),
  );
}
