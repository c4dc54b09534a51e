// The report of why a card is or is not polled. Made by operations/explain, served by api/routes/cards.ts; `cardpoll explain` and
// the dashboard show it. The sentences are made where the report is.
import { z } from 'zod';
import { TRIGGER_KINDS } from '../domain/manual-trigger.ts';
import type { Wire } from '../platform/snake-keys.ts';
import { cardReport } from './cards.ts';
import { type ReportOf, report, taskType } from './schema.ts';
import { failingCard } from './stats.ts';

const pollingState = z.enum([
  'scheduled', // in its ring, not due yet
  'due', // queued, or overdue in its ring
  'running',
  'backoff', // failed, waits for its next attempt
  'paused', // the task type is paused
  'held', // a breaker holds its interface back
  'not_offered', // the gateway does not offer what the task type calls
  'disabled', // its config is disabled
  'unmatched', // no config matches it
  'not_loaded', // a config matches it, but its ring does not contain it yet
]);

const taskExplanation = z.object({
  taskType,
  state: pollingState,
  text: z.string().describe('One sentence without a full stop: what happens to the card, and why'),
  command: z.string().nullable().describe('The command that helps or shows more; null: none is needed'),
  config: z
    .object({ id: z.int(), name: z.string(), intervalSeconds: z.int() })
    .nullable()
    .describe('The config that polls the card; null: none matches it'),
  otherConfigs: z.array(z.object({ id: z.int(), name: z.string(), reason: z.string() })),
  ring: z
    .object({
      bucket: z
        .int()
        .describe("The card's bucket, counted from 0 in the order in which the ring reaches the buckets"),
      buckets: z.int(),
      member: z.boolean(),
    })
    .nullable(),
  nextDueAt: z.date().nullable(),
  overdueSeconds: z.number().nullable(),
  cardsBefore: z.int().nullable().describe('Cards that are polled before it'),
  expectedInSeconds: z.number().nullable().describe('Seconds until it is polled, at the present rate'),
  lastSucceededAt: z.date().nullable(),
  lastFailure: failingCard.omit({ cardId: true }).extend({ nextTryAt: z.date().nullable() }).nullable(),
});
export type TaskExplanation = ReportOf<typeof taskExplanation>;

export const cardExplanation = report('CardExplanation', {
  generatedAt: z.date(),
  card: cardReport,
  tasks: z.array(taskExplanation),
  allowance: z
    .object({
      at: z.date().describe('When the allowance became what it is; with the card, if it never changed'),
      importedBy: z
        .array(z.string())
        .describe('Who imported cards then; several where imports overlapped; empty: not known'),
      auditId: z.int().nullable().describe('The audit entry of that import; null: not known, or several'),
    })
    .nullable()
    .describe('Who made the allowance what it is; null: the card is gone'),
  usage: z
    .array(z.object({ month: z.string(), usedMb: z.number() }))
    .describe('One entry per month, the latest first'),
  stops: z
    .array(z.object({ at: z.date(), action: z.string(), detail: z.string() }))
    .describe('The latest first'),
  openTriggers: z.array(
    z.object({ triggerId: z.string(), kind: z.enum(TRIGGER_KINDS), taskType, createdAt: z.date() }),
  ),
  logsCommand: z.string().describe('The first command of logsCommands, or that of the instance that answers'),
  logsCommands: z
    .array(z.object({ command: z.string(), hosts: z.array(z.string()) }))
    .describe("The commands that show all of the card's log lines, and the hosts to run each of them on"),
  logsOn: z.array(z.string()).describe('Hosts of the instances that poll; each has its own log'),
  logsDirectory: z.string().nullable().describe('null: the instance that answers logs to standard output'),
});
export type CardExplanation = ReportOf<typeof cardExplanation>;
export type ExplanationBody = Wire<CardExplanation>;
