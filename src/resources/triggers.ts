// Manual triggers: their reports, and the selection of cards. Made by operations/triggers.ts, served by
// api/routes/polling-manual-trigger.ts. The bounds of a request are in domain/manual-trigger.ts.
import { z } from 'zod';
import { type CardSelection, TRIGGER_KINDS, TRIGGER_STATUSES } from '../domain/manual-trigger.ts';
import type { Wire } from '../platform/snake-keys.ts';
import { type Open, type ReportOf, report, taskType } from './schema.ts';

export const triggerReport = report('Trigger', {
  triggerId: z.string(),
  kind: z.enum(TRIGGER_KINDS),
  taskType,
  status: z.enum(TRIGGER_STATUSES),
  selection: z.object({ carrierId: z.int().nullable(), status: z.int().nullable() }).nullable(),
  total: z.int(),
  totalEstimated: z.boolean(),
  waiting: z
    .int()
    .describe('Not begun: in the manual list or still to be put there; 0 when the trigger is cancelled'),
  early: z
    .int()
    .describe('Waiting cards that the rate limit per card allows later; 10,000 stands for that many or more'),
  earlyUntil: z.date().nullable().describe('When the last of them may be polled'),
  running: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  createdAt: z.date(),
  finishedAt: z.date().nullable(),
});
export type TriggerReport = ReportOf<typeof triggerReport>;
export type TriggerBody = Wire<TriggerReport>;

export const batchReport = report('BatchTrigger', {
  ...triggerReport.shape,
  unknownCardIds: z
    .array(z.int())
    .describe('Cards of the request that do not exist; they are no part of the trigger'),
});
export type BatchReport = ReportOf<typeof batchReport>;
export type BatchBody = Wire<BatchReport>;

export const cancelledTriggers = report('CancelledTriggers', {
  triggers: z.int(),
  cards: z.int().describe('Cards of these triggers without a result; those that run are still finished'),
});
export type CancelledTriggers = ReportOf<typeof cancelledTriggers>;
export type CancelledTriggersBody = Wire<CancelledTriggers>;

export const selectionCount = report('SelectionCount', {
  matching: z.int(),
  estimated: z
    .boolean()
    .describe("True where counting takes too long and matching is the database's own estimate"),
});
export type SelectionCount = ReportOf<typeof selectionCount>;

/** Selects cards with these attributes. */
export type Selection = Open<Wire<CardSelection>>;
