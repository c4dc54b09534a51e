// GET /api/admin/polling-stats and below: the fleet in numbers (operations interface, section 4); POST polling-init/rebuild; GET
// plan: the requirements of another fleet.
import { z } from 'zod';
import { INTERVAL_SECONDS_BOUNDS } from '../../domain/schedule/polling-config.ts';
import { HISTORY_STEPS } from '../../domain/stats/history.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { Operations } from '../../operations/operations.ts';
import { PLANNED_CARDS_BOUNDS, planOf } from '../../operations/plan/plan.ts';
import { systemClock } from '../../platform/clock.ts';
import { ENDPOINTS } from '../../resources/endpoints.ts';
import { plan } from '../../resources/plan.ts';
import { initState } from '../../resources/schedule.ts';
import {
  failuresWithin,
  history,
  overview,
  queueStats,
  taskFailures,
  taskStats,
} from '../../resources/stats.ts';
import { PacedReads } from '../guard/expensive-reads.ts';
import { answersOf, itemsOf, type Serve } from '../schemas/answers.ts';
import { instant, queryNumber } from '../schemas/fields.ts';

const answers = answersOf('polling-stats');

const { seconds, samples } = HISTORY_STEPS.minute;
const MINUTES = { min: 1, max: (seconds * samples) / 60 };
const DEFAULT_MINUTES = 15;

/** Short enough for a screen that refreshes every second. */
const EVERY_MS = 250;

type StatsSources = Pick<Operations, 'stats' | 'history' | 'init' | 'plan'>;

const { min, max } = INTERVAL_SECONDS_BOUNDS;
const intervalError = `must be like carddata:600,package:3600, each task type once, with ${min} to ${max} seconds`;

/** `carddata:600,package:3600` */
const intervals = z
  .string({ error: intervalError })
  .max(200, { error: intervalError })
  .transform((text, context) => {
    const given = text.split(',').map((part) => {
      const [name, seconds = '', ...more] = part.split(':');
      const taskType = TASK_TYPES.find((one) => one === name);
      const isNumber = /^\d{1,7}$/.test(seconds) && Number(seconds) >= min && Number(seconds) <= max;
      return taskType === undefined || !isNumber || more.length > 0
        ? null
        : { taskType, seconds: Number(seconds) };
    });
    const known = given.filter((one) => one !== null);
    if (known.length === given.length && new Set(known.map(({ taskType }) => taskType)).size === known.length)
      return known;
    context.addIssue(intervalError);
    return z.NEVER;
  });

const { max: most } = PLANNED_CARDS_BOUNDS;
const planQuery = z.object({
  cards: queryNumber(PLANNED_CARDS_BOUNDS).optional(),
  add: queryNumber({ min: -most, max: most }).optional(),
  interval: intervals.optional(),
});

export function pollingStatsRoutes(serve: Serve, operations: StatsSources): void {
  const { stats, init, history: past, plan: plans } = operations;
  const pace = new PacedReads(EVERY_MS, systemClock);
  serve(ENDPOINTS.overview, answers('Overall statistics', overview), () =>
    pace.read('overview', () => stats.overview()),
  );
  serve(ENDPOINTS.queues, answers('Queue state', itemsOf(queueStats)), async () => ({
    items: await pace.read('queues', () => stats.queues()),
  }));
  serve(ENDPOINTS.tasks, answers('Task statistics', itemsOf(taskStats)), async () => ({
    items: await pace.read('tasks', () => stats.tasks()),
  }));
  serve(
    ENDPOINTS.history,
    answers('Samples of the last minutes: one a second up to 15 minutes, else one a minute', history, {
      querystring: z.object({ minutes: queryNumber(MINUTES).default(DEFAULT_MINUTES) }),
    }),
    ({ query: { minutes } }) => pace.read(`history ${minutes}`, () => past.read(minutes)),
  );
  serve(
    ENDPOINTS.failures,
    answers('Why polls fail, of which carriers, and for which cards', itemsOf(taskFailures)),
    async () => ({ items: await pace.read('failures', () => past.failures()) }),
  );
  serve(
    ENDPOINTS.failuresWithin,
    answers('How many polls failed in a time, by hour and carrier', failuresWithin, {
      querystring: z.object({
        since: instant.optional().describe('Two days back at most; default: a day before the end'),
        until: instant.optional().describe('Before this time; default: now'),
      }),
    }),
    ({ query: { since = null, until = null } }) => past.failuresWithin(since, until),
  );
  serve(
    ENDPOINTS.plan,
    answers('What a fleet of another size, or with other intervals, would take', plan, {
      querystring: planQuery,
    }),
    async ({ query: { cards = null, add = null, interval = [] } }) =>
      planOf(await pace.read('plan', () => plans.facts()), { cards, add, intervals: interval }),
  );
  serve(ENDPOINTS.initProgress, answers('Initialisation progress', initState), () =>
    pace.read('init-progress', () => init.progress()),
  );
  serve(
    ENDPOINTS.rebuildInit,
    answers(
      'Compare the schedule with all cards and repair what differs, in place',
      initState,
      {},
      { status: 202 },
    ),
    ({ actor }) => init.rebuild(actor),
  );
}
