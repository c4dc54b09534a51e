// Finds a card by its id or iccid, for everything that names one card in a path or on a command line.

import { CardpollError } from '../../platform/errors.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';

/** @param cardIdOrIccid digits; 18 or more are an iccid. @throws CardpollError `not_found`. */
export async function findCard(cards: Pick<CardRecords, 'find'>, cardIdOrIccid: string) {
  const card = /^\d{1,22}$/.test(cardIdOrIccid) ? await cards.find(cardIdOrIccid) : null;
  if (card === null) {
    throw new CardpollError('not_found', 'card_not_found', `there is no card ${cardIdOrIccid}`);
  }
  return card;
}
