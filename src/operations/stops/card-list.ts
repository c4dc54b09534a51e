// Lists of cards that an operator names: their bounds, each card once. Used by the operations of this folder.
import { CARD_ID_BOUNDS } from '../../domain/manual-trigger.ts';
import { MAX_ORDERED_CARDS } from '../../domain/stops/stop.ts';
import { CardpollError } from '../../platform/errors.ts';
import { requireWithin } from '../bounds.ts';

export type CardList = readonly number[];

/** @returns each card once. @throws CardpollError `invalid` for an empty list, one that is too long, or a wrong id. */
export function distinctCards(cardIds: CardList): CardList {
  if (cardIds.length < 1 || cardIds.length > MAX_ORDERED_CARDS) {
    throw wrongCards('cardIds', `must hold 1 to ${MAX_ORDERED_CARDS} card ids`);
  }
  requireWithin(CARD_ID_BOUNDS, Object.fromEntries(cardIds.map((cardId, i) => [`cardIds.${i}`, cardId])));
  return [...new Set(cardIds)];
}

export function wrongCards(field: string, message: string): CardpollError {
  return new CardpollError('invalid', 'invalid_field', `${field} ${message}`, {
    fields: [{ field, message }],
  });
}
