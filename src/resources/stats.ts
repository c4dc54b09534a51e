// Statistics: the reports of queues, tasks, the overview, history and failures. Made by operations/stats, served by
// api/routes/polling-stats.ts; /metrics shows the same numbers. Reasons and stops of the overview are in health.ts.
import { z } from 'zod';
import type { Wire } from '../platform/snake-keys.ts';
import { gatewayReport, healthReason, stopNumbers } from './health.ts';
import { capacity, limitAdvice, maintenanceReport, pauseReport } from './limits.ts';
import { initReport } from './schedule.ts';
import { type ReportOf, report, taskType } from './schema.ts';

const scheduleStats = z.object({
  scheduledCards: z
    .int()
    .describe('Cards that the polling configs of the type select, disabled configs included'),
  demandPerSecond: z.number().describe('Polls a second that the enabled configs need'),
  scheduleLagSeconds: z
    .number()
    .describe(
      'How far polling is behind the schedule: how long the first card that waits has been due; 0 while none waits',
    ),
  overdueCards: z.int().describe('Cards that would be due if the schedule were not late'),
  intervalSeconds: z
    .number()
    .nullable()
    .describe('Of the polling config that is furthest behind; null without an enabled one'),
  achievedIntervalSeconds: z
    .number()
    .nullable()
    .describe('How often the cards of that config are really polled; null until each was polled once'),
  skippedRevolutions: z
    .int()
    .describe('Polling cycles that all configs of the type have skipped since they were built'),
});

/** Queue state of one task type (contract, "Fields"). */
export const queueStats = report('QueueStats', {
  taskType,
  queueLength: z.int().describe('Due and running'),
  due: z.int(),
  inFlight: z.int(),
  manualLength: z.int(),
  backoff: z.int().describe('Cards that wait for a retry, or until a limit per card allows their poll'),
  ...scheduleStats.shape,
  concurrency: z.object({
    current: z.int().describe('Gateway calls in flight, fleet-wide'),
    max: z.int(),
    usagePercent: z.number(),
  }),
  effectiveConcurrency: z
    .int()
    .describe('The limit in force; below concurrency.max while the leader has lowered it'),
});
export type QueueStats = ReportOf<typeof queueStats>;
export type QueueBody = Wire<QueueStats>;

const health = z.enum(['normal', 'warning', 'alert']);
const healthReasons = z.array(healthReason).describe('Why the health is not normal, the worst first');

export const taskStats = report('TaskStats', {
  ...queueStats.shape,
  total: z.int().describe('Polls since counting began; so are succeeded and failed'),
  succeeded: z.int(),
  failed: z.int(),
  durationMs: z.number().describe('Sum of the durations of the polls in total'),
  held: z
    .int()
    .describe(
      'Polls of the last five minutes that cardpoll itself held back; they count in total and failed',
    ),
  successRate: z
    .number()
    .nullable()
    .describe('Percent over the last five minutes, of the polls that were not held; null without one'),
  avgDurationMs: z.number().nullable().describe('Over the last five minutes; null without a poll'),
  p50Ms: z
    .number()
    .nullable()
    .describe('Half of the polls of the last five minutes took at most this long; null without a poll'),
  p95Ms: z
    .number()
    .nullable()
    .describe('95 % of the polls of the last five minutes took at most this long; null without a poll'),
  polledPercent: z
    .number()
    .nullable()
    .describe(
      'Share of the demand that was polled successfully in the last ten to twenty seconds; 100 when nothing more is due; null when too little is due to judge',
    ),
  ratePerSecond: z.number().describe('Polls a second over the last five minutes'),
  ratePerSecond_10s: z.number().describe('Polls a second over the last ten to twenty seconds'),
  successRate_10s: z
    .number()
    .nullable()
    .describe(
      'As success_rate, of the last five to fifteen seconds, or as far back as ten polls; so are the three below',
    ),
  avgDurationMs_10s: z.number().nullable(),
  p50Ms_10s: z.number().nullable(),
  p95Ms_10s: z.number().nullable(),
  usualDurationMs: z
    .number()
    .nullable()
    .describe('What a successful poll took on average over the last day with polls; null: not known yet'),
  capacity,
  advice: limitAdvice,
  offered: z
    .boolean()
    .describe('false: the gateway does not offer what the type calls, so nothing is polled'),
  health,
  healthReasons,
});
export type TaskStats = ReportOf<typeof taskStats>;
export type TaskBody = Wire<TaskStats>;

const fleetCapacity = capacity.extend({
  headroomTaskType: taskType
    .nullable()
    .describe('The task type with the least headroom, which is the one shown'),
  advice: z.string().nullable().describe('What would help if the demand exceeds the capacity; else null'),
});

const instanceReport = z.object({
  workerId: z.string().describe('Id of the instance'),
  hostname: z.string(),
  pid: z.int(),
  version: z.string(),
  roles: z.array(z.string()),
  probeAddress: z.string().nullable().describe('host:port of its probes; null while it does not listen'),
  startedAt: z.date(),
  heartbeatAt: z.date(),
  inFlight: z.int(),
  cacheHits: z.int(),
  cacheMisses: z.int(),
  cacheHitRatio: z.number().nullable().describe('0 to 1; null before the first look-up'),
  loopDelayMs: z
    .number()
    .nullable()
    .describe('How late its timers are: above 50 it gets too little processor time'),
  cpuPercent: z.number().nullable().describe('Of one core, what its process uses'),
  redisMs: z.number().nullable().describe('A round trip to Redis: the shortest of the last three heartbeats'),
  databaseMs: z.number().nullable().describe('A round trip to PostgreSQL: the shorter of the last two'),
});

/** "On schedule": of polls of the schedule, how many began in time. */
const onTime = z.object({
  percent: z
    .number()
    .describe('Share that began within a tenth of the interval, at least 10 s, after it was due'),
  since: z
    .date()
    .describe('When the first slot of ten minutes with such polls begins; an hour ago at the earliest'),
  polls: z.int().describe('Polls of the schedule since then'),
  late: z.int(),
  worst: z
    .object({ carrierId: z.int(), percent: z.number() })
    .nullable()
    .describe('The carrier with the lowest share; null: none was late, or there is one carrier'),
});

const monthEnd = z.object({
  timeZone: z.string().describe('Whose months they are: time_zone'),
  turnsAt: z.date().describe('When the next month begins'),
  stopped: z
    .int()
    .nullable()
    .describe('Cards that cardpoll stopped in this month and that are stopped; null: not known'),
  resumesAtStart: z.boolean().describe('stops.resume_at_month_start: whether these are resumed then'),
});

export const overview = report('Overview', {
  generatedAt: z.date(),
  version: z.string().describe('Version of the instance that answers'),
  health,
  healthReasons,
  cardsTotal: z.int(),
  capacity: fleetCapacity,
  gateway: gatewayReport,
  pauses: z.array(pauseReport),
  maintenance: z
    .array(maintenanceReport)
    .describe('Windows that are in force, or begin within an hour; the first to start first'),
  stops: stopNumbers,
  onTime: onTime.nullable().describe('null: nothing was measured'),
  monthEnd: monthEnd.nullable().describe('null: the month does not end within three days'),
  tasks: z.array(taskStats),
  init: initReport,
  workers: z.array(instanceReport).describe('Live instances'),
});
export type Overview = ReportOf<typeof overview>;
export type OverviewBody = Wire<Overview>;

const taskSample = z.object({
  taskType,
  ratePerSecond: z.number().nullable().describe('Polls that ended, a second; null: counting had just begun'),
  failedPerSecond: z
    .number()
    .nullable()
    .describe('Polls that failed, a second; null: counting had just begun'),
  successRate: z.number().nullable().describe('Percent; null without a poll'),
  p50Ms: z.number().nullable().describe('Over the ten to twenty seconds before; null without a poll'),
  p95Ms: z.number().nullable(),
  queueLength: z.number().describe('Due and running'),
  inFlight: z.number(),
  backoff: z.number(),
  manualLength: z.number(),
  effectiveConcurrency: z.number(),
  maxConcurrency: z.number(),
});

/** Oldest first. Where nothing was sampled (no leader) there is no sample: a gap, not zeros. */
export const history = report('History', {
  stepSeconds: z.int(),
  items: z.array(z.object({ at: z.date().describe('End of the step'), tasks: z.array(taskSample) })),
});
export type History = ReportOf<typeof history>;
export type HistoryBody = Wire<History>;

/** The last failure of a card. */
export const failingCard = z.object({
  cardId: z.int(),
  at: z.date(),
  reason: z.string().describe("Kind of failure, as in the log's error: timeout, connect, backpressure, ..."),
  message: z.string().describe('What went wrong, shortened'),
  durationMs: z.number(),
  attempts: z.int().describe('Failures in a row; 0: it was polled successfully since'),
});

export const taskFailures = report('TaskFailures', {
  taskType,
  reasons: z
    .array(z.object({ reason: z.string(), count: z.int() }))
    .describe('Over the last five minutes, the most frequent first'),
  carriers: z
    .array(z.object({ carrierId: z.int(), polls: z.int(), failed: z.int(), failedPercent: z.number() }))
    .describe('Over the last five minutes, the highest failing share first'),
  failingCards: z.int().describe('Cards whose last scheduled poll failed'),
  cards: z.array(failingCard).describe('The cards that failed last, the latest first'),
});
export type TaskFailures = ReportOf<typeof taskFailures>;
export type FailuresBody = Wire<TaskFailures>;

export const failuresWithin = report('FailuresWithin', {
  since: z.date(),
  until: z.date(),
  keptFrom: z.date().nullable().describe('From when on polls are counted; null: in the whole time'),
  items: z
    .array(
      z.object({
        at: z
          .date()
          .describe(
            'Begin of the hour (UTC); the slots of ten minutes that the time has a part in are counted',
          ),
        taskType,
        carrierId: z.int().nullable().describe('null: carriers beyond the fifty that a slot names'),
        polls: z.int(),
        failed: z.int(),
        failedPercent: z.number(),
      }),
    )
    .describe('Hours and carriers with failures, the first hour first, in it the most failures first'),
});
export type FailuresWithin = ReportOf<typeof failuresWithin>;
export type FailuresWithinBody = Wire<FailuresWithin>;
