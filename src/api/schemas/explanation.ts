// Why a card is or is not polled, as JSON. Used by routes/cards.ts; what it means stands in operations/explain/explain.ts.
import { z } from 'zod';
import { TRIGGER_KINDS } from '../../domain/manual-trigger.ts';
import { card } from './card.ts';
import { instant, taskType } from './fields.ts';

const task = z.object({
  task_type: taskType,
  state: z.enum([
    'scheduled',
    'due',
    'running',
    'backoff',
    'paused',
    'held',
    'disabled',
    'unmatched',
    'not_loaded',
  ]),
  text: z.string(),
  command: z.string().nullable(),
  config: z.object({ id: z.int(), name: z.string(), interval_seconds: z.int() }).nullable(),
  other_configs: z.array(z.object({ id: z.int(), name: z.string(), reason: z.string() })),
  ring: z.object({ bucket: z.int(), buckets: z.int(), member: z.boolean() }).nullable(),
  next_due_at: instant.nullable(),
  overdue_seconds: z.number().nullable(),
  cards_before: z.int().nullable(),
  expected_in_seconds: z.number().nullable(),
  last_succeeded_at: instant.nullable(),
  last_failure: z
    .object({
      at: instant,
      reason: z.string(),
      message: z.string(),
      duration_ms: z.number(),
      attempts: z.int(),
      next_try_at: instant.nullable(),
    })
    .nullable(),
});

export const cardExplanation = z
  .object({
    generated_at: instant,
    card,
    tasks: z.array(task),
    usage: z.array(z.object({ month: z.string(), used_mb: z.number() })),
    stops: z.array(z.object({ at: instant, action: z.string(), detail: z.string() })),
    open_triggers: z.array(
      z.object({
        trigger_id: z.string(),
        kind: z.enum(TRIGGER_KINDS),
        task_type: taskType,
        created_at: instant,
      }),
    ),
    logs_command: z.string(),
  })
  .meta({ id: 'CardExplanation' });
