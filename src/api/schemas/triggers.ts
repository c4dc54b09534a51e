// What requests about manual triggers may say. Used by routes/polling-manual-trigger.ts.
import { z } from 'zod';
import { CARD_ID_BOUNDS, MAX_BATCH_CARDS } from '../../domain/manual-trigger.ts';
import { wholeNumberWithin } from '../../operations/bounds.ts';
import { requiredOr } from './fields.ts';

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
