// Limits: the reports of concurrency, capacity, advice, pauses and maintenance. Made by operations/limits and src/health (capacity
// and advice), served by api/routes/polling-limits.ts. Bounds are in domain/limits.
import { z } from 'zod';
import { PAUSE_SOURCES } from '../domain/limits/operator-limits.ts';
import type { Wire } from '../platform/snake-keys.ts';
import { type Open, type ReportOf, report, taskType } from './schema.ts';

const measuredLevel = z.object({
  concurrency: z.int(),
  ratePerSecond: z.number(),
  avgDurationMs: z.number(),
  backpressurePercent: z.number().describe('Calls answered 429 or 503'),
  at: z.date(),
});

export const concurrencyLimit = report('ConcurrencyLimit', {
  taskType,
  maxConcurrency: z.int(),
  current: z.int().describe('Running now, fleet-wide'),
  effectiveConcurrency: z
    .int()
    .describe('The limit in force: max_concurrency, or less while the leader has lowered it'),
  reason: z.string().nullable().describe('Why it is lower, or which rate limit polls wait for; else null'),
  curve: z
    .array(measuredLevel)
    .describe('What was measured at each limit that the type has had, by concurrency'),
  knee: measuredLevel
    .nullable()
    .describe(
      'The level beyond which more concurrency gained nothing; null while fewer than two were measured',
    ),
});
export type ConcurrencyLimit = ReportOf<typeof concurrencyLimit>;
export type ConcurrencyBody = Wire<ConcurrencyLimit>;

export const slotReset = report('SlotReset', { taskType, previous: z.int(), current: z.int() });
export type SlotReset = ReportOf<typeof slotReset>;
export type ResetBody = Wire<SlotReset>;

export const capacity = z.object({
  demandPerSecond: z.number(),
  capacityPerSecond: z
    .number()
    .nullable()
    .describe('null while no poll of the last seconds succeeded, and while polling is held back'),
  boundBy: z
    .enum(['concurrency', 'rate_limits'])
    .nullable()
    .describe('Which limit bounds the capacity; null while it is not known'),
  headroomPercent: z
    .number()
    .nullable()
    .describe('Share of the capacity that the demand leaves free; negative when it asks for more'),
  drainSeconds: z
    .int()
    .nullable()
    .describe(
      'Until no card is owed any more; 0 when none is. null: never, not known, or polling is held back',
    ),
  heldBy: z
    .string()
    .nullable()
    .describe(
      'What holds polling back, so that nothing drains: no worker that can poll, an open breaker, a pause; null: nothing',
    ),
});

export const limitAdvice = z.object({
  verdict: z
    .enum(['raise', 'lower', 'keep', 'unknown'])
    .describe('keep: also where a higher limit does not help, as the gateway is the cause'),
  maxConcurrency: z.int().describe('The limit that is advised: the present one for keep and unknown'),
  recommended: z
    .object({ min: z.int(), max: z.int() })
    .nullable()
    .describe('By the operations interface, section 8, for the response time; null: not known'),
  remedy: z
    .string()
    .nullable()
    .describe('What ends a backlog that never drains; null while the capacity is enough, or not known'),
  why: z.string(),
});

export const pauseReport = report('Pause', {
  taskType,
  source: z.enum(PAUSE_SOURCES).describe("A pause of one never hides the other's"),
  reason: z.string(),
  by: z.string().describe('The caller of the API, or the instance that the gateway answered'),
  since: z.date(),
  until: z.date(),
  maintenanceId: z.int().nullable().describe('The maintenance window that it is; null: it is none'),
});
export type PauseReport = ReportOf<typeof pauseReport>;
export type PauseBody = Wire<PauseReport>;

export const maintenanceReport = report('Maintenance', {
  id: z.int(),
  taskType: taskType.nullable().describe('null: all task types'),
  carrierId: z.int().nullable().describe('null: the whole fleet'),
  startsAt: z.date(),
  endsAt: z.date().describe('The first instant after it'),
  state: z.enum(['planned', 'running']),
  reason: z.string(),
  by: z.string().describe('Who planned it'),
});
export type MaintenanceReport = ReportOf<typeof maintenanceReport>;
export type MaintenanceBody = Wire<MaintenanceReport>;

/** Without task_type of all task types, without carrier_id of the whole fleet. */
export type MaintenanceRequest = Open<{ task_type: string; carrier_id: number }> & {
  /** RFC 3339. */
  readonly from: string;
  readonly seconds: number;
  readonly reason: string;
};
