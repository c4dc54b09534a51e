// The report of a shift: what one operator hands over to the next. Made by operations/shift, served by api/routes/report.ts. How
// other files declare their reports is in schema.ts.
import { z } from 'zod';
import { STOP_MODES } from '../domain/stops/stop.ts';
import type { Wire } from '../platform/snake-keys.ts';
import { pauseReport } from './limits.ts';
import { type ReportOf, report, taskType } from './schema.ts';

const severity = z.enum(['warning', 'alert']);

const reason = z.object({
  source: z
    .enum(['outage', 'alert', 'health', 'samples'])
    .describe(
      'outage: Redis or PostgreSQL was away; alert: the cause of alerts; health: a present reason; samples: nothing was measured',
    ),
  code: z.string().describe('A reason of health, with a section in the runbook; not_measured'),
  severity,
  taskTypes: z.array(taskType).describe('Empty: the whole fleet'),
  text: z.string().describe('As it was first recorded'),
  beganAt: z.date().nullable().describe('Of an alert: when the first one fired; null: not known'),
  endedAt: z.date().nullable().describe('null: it is not over'),
  alerts: z.array(z.int()).describe('The alerts with this cause'),
});

const alert = z.object({
  id: z.int(),
  rule: z.string(),
  ruleId: z.int().describe('0: an outage of Redis or PostgreSQL'),
  taskType,
  severity: severity.nullable(),
  cause: z.string().nullable().describe('The cause as recorded when it fired; null: no health reason'),
  firedAt: z.date(),
  resolvedAt: z.date().nullable().describe('null while it fires'),
  durationSeconds: z.number().describe('Until it was resolved, or until the end of the report'),
  acknowledgedBy: z.string().nullable(),
});

const imports = z.object({
  count: z.int().describe('Imports that ended'),
  failed: z.int().describe('Of these, those that ended with an error; what they had changed is counted'),
  inserted: z.int(),
  updated: z.int(),
  rejected: z.int(),
  overPackage: z.int(),
  actors: z.array(z.string()),
  lastAt: z.date(),
});

const changeGroup = z.object({
  actor: z.string(),
  role: z.string(),
  action: z.string(),
  count: z.int(),
  objects: z.int(),
  firstAt: z.date(),
  lastAt: z.date(),
  lastId: z.int().describe('The last change; object, before and after are of it'),
  object: z.string(),
  before: z.unknown(),
  after: z.unknown(),
});

const stopCounts = {
  done: z.int(),
  requested: z.int().describe('To be called, or called and not shown by the gateway yet'),
  held: z.int(),
  observed: z.int(),
  dismissed: z.int(),
  resumed: z.int().describe('Cards that were resumed in the time, whenever they were stopped'),
};

const end = z.object({
  kind: z.enum(['pause', 'silence', 'maintenance']),
  what: z.string().describe('The task type that is paused; what is silenced, or in maintenance'),
  by: z.string(),
  reason: z.string(),
  since: z.date().describe('Of maintenance also a start in the next hour'),
  until: z.date(),
});

const keptFrom = (what: string) =>
  z.date().nullable().describe(`From when on ${what} are known; null: in the whole time`);

export const shiftReport = report('ShiftReport', {
  since: z.date(),
  until: z.date().describe('The end, excluded; not later than now'),
  generatedAt: z.date(),
  unknown: z
    .string()
    .nullable()
    .describe(
      'Why polls, pauses and the reasons of now are missing: Redis does not answer; null: they are not',
    ),
  keptFrom: z.object({
    alerts: keptFrom('alerts, and so reasons that are over,'),
    changes: keptFrom('changes'),
    stops: keptFrom('stops'),
    polls: keptFrom('polls'),
  }),
  reasons: z
    .array(reason)
    .describe(
      'Outages and reasons, the earliest first. A reason without an alert is known only while it lasts',
    ),
  alerts: z.object({
    fired: z.int().describe('In the period'),
    resolved: z.int().describe('In the period'),
    open: z.int().describe('At its end'),
    items: z
      .array(alert)
      .describe('Alerts that were firing at some time of the period, the latest first; 200 at most'),
  }),
  changes: z.object({
    total: z.int().describe('Without imports'),
    imports: imports.nullable().describe('null: none ended in the time'),
    groups: z
      .array(changeGroup)
      .describe('By actor and action, those of operators first; 100 at most, without imports'),
  }),
  stops: z.object({
    ...stopCounts,
    isCut: z.boolean().describe('There may be more than the 100,000 that are counted at most'),
    carriers: z.array(
      z.object({ carrierId: z.int().nullable().describe('null: the card was removed'), ...stopCounts }),
    ),
  }),
  polls: z
    .array(
      z.object({
        taskType,
        polls: z.int().describe('By samples of a minute'),
        failed: z.int(),
        successRate: z.number().nullable().describe('Percent; null without a poll'),
        onTimePercent: z.number().nullable().describe('null: not measured over time'),
      }),
    )
    .describe('Empty: not known'),
  open: z
    .object({
      alerts: z.int().describe('Firing'),
      acknowledged: z.int().describe('Of these; counted among the first hundred'),
      stopMode: z.enum(STOP_MODES),
      heldStops: z.int(),
      observedStops: z.int(),
      releasedStops: z.int(),
      resumes: z.array(
        z.object({ id: z.string(), by: z.string(), reason: z.string(), total: z.int(), waiting: z.int() }),
      ),
      pauses: z.array(pauseReport),
      ends: z.array(end).describe('Pauses and silences in force, by their end'),
    })
    .describe('Now, whatever the time of the report'),
});
export type ShiftReport = ReportOf<typeof shiftReport>;
export type ShiftReportBody = Wire<ShiftReport>;
