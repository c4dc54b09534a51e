// Manual triggers as JSON (contract, "Fields"). Used by routes/polling-manual-trigger.ts.
import { z } from 'zod';
import {
  CARD_ID_BOUNDS,
  MAX_BATCH_CARDS,
  TRIGGER_KINDS,
  TRIGGER_STATUSES,
} from '../../domain/manual-trigger.ts';
import { wholeNumberWithin } from '../../operations/bounds.ts';
import { instant, requiredOr, taskType } from './fields.ts';

export const trigger = z
  .object({
    trigger_id: z.string(),
    kind: z.enum(TRIGGER_KINDS),
    task_type: taskType,
    status: z.enum(TRIGGER_STATUSES),
    selection: z.object({ carrier_id: z.int().nullable(), status: z.int().nullable() }).nullable(),
    total: z.int(),
    total_estimated: z.boolean(),
    waiting: z.int(),
    running: z.int(),
    succeeded: z.int(),
    failed: z.int(),
    created_at: instant,
    finished_at: instant.nullable(),
  })
  .meta({ id: 'Trigger' });

export const batchTrigger = trigger
  .extend({ unknown_card_ids: z.array(z.int()) })
  .meta({ id: 'BatchTrigger' });

export const selectionCount = z
  .object({ matching: z.int(), estimated: z.boolean() })
  .meta({ id: 'SelectionCount' });

/** One problem for the whole list: ten thousand wrong ids are one mistake. */
export const cardIds = z
  .custom<number[]>(isListOfCards, {
    error: requiredOr(`must hold 1 to ${MAX_BATCH_CARDS} card ids, each ${cardIdRule()}`),
  })
  .meta({
    type: 'array',
    items: { type: 'integer', minimum: CARD_ID_BOUNDS.min, maximum: CARD_ID_BOUNDS.max },
    minItems: 1,
    maxItems: MAX_BATCH_CARDS,
  });

function isListOfCards(value: unknown): boolean {
  const isCardId = (one: unknown) => Number.isSafeInteger(one) && (one as number) >= CARD_ID_BOUNDS.min;
  return Array.isArray(value) && value.length > 0 && value.length <= MAX_BATCH_CARDS && value.every(isCardId);
}

function cardIdRule(): string {
  return wholeNumberWithin(CARD_ID_BOUNDS).replace(/^must be /, '');
}
