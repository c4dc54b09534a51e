// The schedule: the reports of polling configs and of initialisation, and the request of a config. Made by operations/schedule,
// served by api/routes/polling-configs.ts and polling-stats.ts. The rules of a config are in domain/schedule.
import { z } from 'zod';
import { CARD_CONDITIONS, type PollingConfig } from '../domain/schedule/polling-config.ts';
import type { Wire } from '../platform/snake-keys.ts';
import { type ReportOf, report, taskType } from './schema.ts';

export const configReport = report('PollingConfig', {
  id: z.int(),
  name: z.string(),
  taskType,
  cardCondition: z.enum(CARD_CONDITIONS),
  carrierId: z.int().nullable(),
  intervalSeconds: z.int(),
  priority: z.int(),
  status: z.literal([0, 1]),
  members: z
    .int()
    .nullable()
    .describe(
      'Cards it polls; null: not known, its schedule is not built yet, or the live store does not answer',
    ),
  achievedIntervalSeconds: z
    .number()
    .nullable()
    .describe(
      'How often its cards are really polled; null while it is off or not built, and until each was polled once',
    ),
  skippedRevolutions: z
    .int()
    .nullable()
    .describe('Whole cycles skipped so far, because polling was more than one cycle late'),
  problems: z.array(z.string()).describe('Problems of the config, in words'),
});
export type ConfigReport = ReportOf<typeof configReport>;
export type ConfigBody = Wire<ConfigReport>;

export const initReport = z.object({
  status: z.enum(['pending', 'running', 'completed', 'stuck']),
  reason: z.string().describe('build: the schedule is built; else why it is compared with all cards'),
  total: z.int().describe('Cards to load'),
  loaded: z.int(),
  percent: z.number(),
  batch: z.int(),
  batches: z.int(),
  startedAt: z.date().nullable(),
  updatedAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
  etaSeconds: z
    .number()
    .nullable()
    .describe('At the average pace since the start; null unless running with some cards loaded'),
});

/** The comparison of rings and cards (docs/decisions/0012-reconciliation.md). */
const reconciliationReport = z.object({
  reason: z.string().describe('Why the pass under way runs; continuous for the slow one'),
  checked: z.int().describe('Cards compared in the pass under way'),
  startedAt: z.date().nullable(),
  sweptAt: z.date().nullable().describe('When the last whole pass ended'),
  healedMissing: z.int().describe('Repaired so far: cards that were not scheduled'),
  healedForeign: z.int().describe('Repaired so far: members that do not belong'),
  healedDouble: z.int().describe('Repaired so far: cards that were scheduled twice'),
  requestedAt: z.date().nullable().describe('A request that waits for the leader; null: none'),
});

export const initState = report('InitState', { ...initReport.shape, reconciliation: reconciliationReport });
export type InitState = ReportOf<typeof initState>;
export type InitStateBody = Wire<InitState>;

export type NewConfig = Omit<PollingConfig, 'id'>;
/** Only the fields to change; of a new config those without a default, at least. */
export type ConfigRequest = Partial<Wire<NewConfig>>;
