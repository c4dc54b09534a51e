// What lists of cards may be filtered by. Used by routes/cards.ts and routes/card-export.ts.
import { z } from 'zod';
import { SELECTION_BOUNDS } from '../../domain/manual-trigger.ts';
import { LIST_LIMIT_BOUNDS } from '../../domain/page.ts';
import type { CardFilter } from '../../operations/cards/cards.ts';
import { queryNumber } from './fields.ts';

export const cardFilter = z.object({
  carrier_id: queryNumber(SELECTION_BOUNDS).optional(),
  status: queryNumber(SELECTION_BOUNDS).optional(),
  stopped: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((value) => value === 'true')
    .optional(),
});

export function cardFilterOf(query: z.output<typeof cardFilter>): CardFilter {
  return {
    carrierId: query.carrier_id ?? null,
    status: query.status ?? null,
    stopped: query.stopped ?? null,
  };
}

export const cardListQuery = cardFilter.extend({
  after_id: queryNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }).default(0),
  limit: queryNumber(LIST_LIMIT_BOUNDS).default(100),
});
