// Cards that an operator names: one by its id or iccid, in a path or on a command line, or a list of ids. Used by everything
// that names cards.

import { CARD_ID_BOUNDS } from '../../domain/manual-trigger.ts';
import { MAX_ORDERED_CARDS } from '../../domain/stops/stop.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';
import { requireWithin } from '../requirements.ts';

/** @param cardIdOrIccid digits; 18 or more are an iccid. @throws CardpollError `not_found`. */
export async function findCard(cards: Pick<CardRecords, 'find'>, cardIdOrIccid: string) {
  const card = /^\d{1,22}$/.test(cardIdOrIccid) ? await cards.find(cardIdOrIccid) : null;
  if (card === null) {
    throw new CardpollError('not_found', 'card_not_found', `there is no card ${cardIdOrIccid}`);
  }
  return card;
}

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
