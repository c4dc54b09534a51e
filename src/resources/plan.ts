// The report of a plan: the requirements of a fleet of another size, or with other intervals. Made by operations/plan, served by
// api/routes/polling-stats.ts. Changes nothing.
import { z } from 'zod';
import type { Wire } from '../platform/snake-keys.ts';
import { type ReportOf, report, taskType } from './schema.ts';

const planTask = z.object({
  taskType,
  enabledConfigs: z.int().describe('Polling configs of the type that are enabled'),
  intervalSeconds: z.int().nullable().describe('The interval that was asked about; null: as configured'),
  demandPerSecond: z
    .number()
    .nullable()
    .describe('Polls a second now, of the rings of the enabled configs; null: a ring is not built'),
  plannedPerSecond: z.number().nullable().describe('Polls a second as planned; null: not known'),
  bestPerSecond: z
    .number()
    .nullable()
    .describe('Polls a second that succeeded in the best minute of the last hour; null: none was measured'),
  possiblePerSecond: z
    .number()
    .nullable()
    .describe(
      'By the limit in force and call_ms, and by the rate limits as planned; null: call_ms is not known',
    ),
  callMs: z.number().nullable().describe('How long a poll takes; null: none was measured'),
  callMsFrom: z
    .enum(['last_seconds', 'last_day'])
    .nullable()
    .describe('Measured over the last seconds, or the average of the last day with polls'),
  maxConcurrency: z.int().describe('The limit now'),
  effectiveConcurrency: z.int().describe('The limit in force now'),
  neededConcurrency: z
    .int()
    .nullable()
    .describe('planned_per_second x call_ms, and a tenth to spare; null: not known'),
  command: z
    .string()
    .nullable()
    .describe('Sets the limit that is needed; null: the present one is enough, or not known'),
});

export const plan = report('Plan', {
  generatedAt: z.date(),
  verdict: z.enum(['fits', 'needs', 'unknown']),
  text: z.string().describe('The verdict in one sentence without a full stop'),
  needs: z.array(z.string()).describe('What has to be changed first'),
  notKnown: z.array(z.string()).describe('What was not measured'),
  assumptions: z.array(z.string()).describe('What is taken to be so'),
  cards: z.int().describe('Cards now'),
  plannedCards: z.int(),
  tasks: z.array(planTask),
  rateLimits: z
    .array(
      z.object({
        id: z.string().describe('What it counts, and its unit'),
        perSecond: z.number().describe('Calls a second that it allows'),
        plannedPerSecond: z
          .number()
          .nullable()
          .describe('Calls a second of polls as planned; null: not known'),
      }),
    )
    .describe('Limits of gateway.rate_limits that count calls'),
  gateway: z.object({
    maxConcurrency: z.int().nullable().describe('gateway.max_concurrency; null: no ceiling'),
    neededConcurrency: z.int().nullable().describe('Of all task types; null: not known for one of them'),
  }),
  redis: z.object({
    usedBytes: z.number().nullable().describe('Of the fullest server; null: not reported'),
    limitBytes: z.number().nullable().describe('Most that this server may use; null: not reported'),
    bytesPerCard: z.number().describe('At most, a constant: as in `redis memory` of the doctor'),
    plannedBytes: z
      .number()
      .describe('Planned cards x bytes_per_card, at least used_bytes and the added cards'),
  }),
  database: z.object({
    bytes: z.number().nullable().describe('Size of the database; null: not known'),
    bytesPerCard: z.number().nullable().describe('bytes / cards; null: not known, or too few cards'),
    plannedBytes: z.number().nullable().describe('bytes, and bytes_per_card for each added card'),
  }),
  instances: z.object({
    workers: z.int().describe('Live instances that poll'),
    busy: z.int().describe('Those that use 70 % of a core or more'),
    perSecond: z.number().nullable().describe('Polls a second of the last five minutes / workers'),
    cpuPercent: z.number().nullable().describe('Of one core, on average; null: not known'),
    atLeast: z
      .int()
      .nullable()
      .describe(
        'Lower bound of the instances as planned, each with a full core; null: not every instance was busy',
      ),
  }),
});
export type PlanReport = ReportOf<typeof plan>;
export type PlanBody = Wire<PlanReport>;
